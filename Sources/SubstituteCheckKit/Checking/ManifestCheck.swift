package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking

/// What there is to tell about a manifest, whether it is right or wrong.
package struct ManifestCheck {
    /// What the messages call the manifest.
    package let name: String
    /// The text, as far as it could be read.
    package let text: Data
    /// What was understood of it; empty where it could not be read.
    package let manifest: SubstitutionManifest
    /// Everything that is wrong, warnings included, in the order of the file.
    package let issues: [ManifestIssue]
    /// The places of the entries' keys, in the order of the file.
    package let entries: [Place]
    /// What is mapped, as far as it could be found out; also what has expired.
    package let substitutions: [Substitution]
    /// What is wrong with the content of a file, by its path below the manifest's folder.
    package let contentProblems: [String: String]
    /// Whether an entry is ignored from some day on that is still to come.
    let hasDayToCome: Bool
    /// When it was checked: what ships depends on the day.
    package let date: Date

    /// A place in the text, as issues name it.
    package struct Place: Hashable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            (self.line, self.column) = (line, column)
        }
    }

    /// Checks a manifest file.
    ///
    /// Unused files are told by folder, or, with `listsUnused`, one by one.
    package init(_ manifest: ManifestFile, on date: Date, listsUnused: Bool = false) {
        let (url, name) = (manifest.url, manifest.name)
        do {
            let text = try SubstitutionManifest.text(of: url, name: name)
            self.init(text, name: name, url: url, folder: manifest.folder, on: date, listsUnused: listsUnused)
        } catch {
            self.init(unreadable: manifest, error, on: date)
        }
    }

    private init(unreadable manifest: ManifestFile, _ error: ManifestError, on date: Date) {
        (name, self.date) = (manifest.name, date)
        issues = error.issues.map { issue in
            manifest.hint.map { issue.with(message: "\(issue.message); \($0)") } ?? issue
        }
        (text, entries, substitutions, contentProblems, hasDayToCome) = (Data(), [], [], [:], false)
        self.manifest = SubstitutionManifest(Data(), name: manifest.name)
    }

    /// Checks the text of a manifest whose files lie in `folder`.
    package init(_ text: Data, name: String, url: URL? = nil, folder: URL, on date: Date, listsUnused: Bool = false) {
        (self.name, self.text, self.date) = (name, text, date)
        manifest = SubstitutionManifest(text, name: name, url: url, advice: Advice())
        let (issues, substitutions) = manifest.check(in: folder, on: date, listsUnused: listsUnused)
        var contents = ContentCheck(manifest, name: name)
        for substitution in substitutions where !substitution.isExpired(on: date) { contents.look(into: substitution) }
        let own = [url.flatMap { Self.misnamedFolder(of: $0, name: name) }].compactMap(\.self)
        let isRefused = issues.contains { $0.severity == .error }
        self.issues = (own + issues + contents.issues).enumerated().sorted { first, second in
            // Beside errors the files that no entry uses come last.
            let isLast = [first, second].map { isRefused && $0.element.code == .unusedFile ? 1 : 0 }
            return (isLast[0], first.element.line, first.element.column, first.offset)
                < (isLast[1], second.element.line, second.element.column, second.offset)
        }.map(\.element)
        entries = manifest.places.map { Place(line: $0.line, column: $0.column) }
        self.substitutions = substitutions
        contentProblems = contents.sentences
        hasDayToCome = substitutions.contains { $0.lastDay != nil && !$0.isExpired(on: date) }
    }

    /// For what an app refuses the manifest.
    package var errors: [ManifestIssue] { issues.filter { $0.severity == .error } }

    /// What has not expired.
    package var shipped: [Substitution] { substitutions.filter { !$0.isExpired(on: date) } }

    /// What ships of it today.
    package var inventory: Inventory { Inventory(shipped) }

    /// The folder's name is what an app looks for.
    private static func misnamedFolder(of manifest: URL, name: String) -> ManifestIssue? {
        let folder = manifest.absoluteURL.standardizedFileURL.deletingLastPathComponent().lastPathComponent
        guard folder != "Substitutions", suggestion(for: folder, among: ["Substitutions"]) != nil else { return nil }
        return ManifestIssue(
            severity: .warning,
            code: .misnamedFolder,
            message:
                "the folder is called \(quoted(folder)), and an app looks for \"Substitutions\"; rename the folder, "
                + "unless the app names it",
            file: name,
            line: 1,
            column: 1
        )
    }
}

extension ManifestIssue {
    /// Whether the issue has no place in the text, and 1:1 only stands for the whole.
    package var isAboutTheWhole: Bool {
        [.unusedFile, .unreadableManifest, .overBudget, .misnamedFolder].contains(code)
    }

    /// The same issue with another sentence.
    func with(message: String) -> ManifestIssue {
        ManifestIssue(severity: severity, code: code, message: message, file: file, line: line, column: column)
    }
}

/// The kinds that only the tool tells.
extension ManifestIssue.Code {
    /// The files have more bytes than they may have.
    package static let overBudget = Self(rawValue: "over-budget")
    /// The manifest's folder is nearly called as an app expects it.
    static let misnamedFolder = Self(rawValue: "misnamed-folder")
    /// What an extension in a browser leaves to the network.
    package static let leftToNetwork = Self(rawValue: "left-to-network")
    /// An address in a file that leads nowhere in an extension.
    package static let lostReference = Self(rawValue: "lost-reference")
    /// A file whose content is not what its type says, or that is empty.
    static let wrongContent = Self(rawValue: "wrong-content")
}
