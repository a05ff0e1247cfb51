package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking

/// The result of checking a manifest, which may have mistakes.
package struct ManifestCheck {
    /// The name of the manifest in messages.
    package let name: String
    /// The text of the manifest; empty if it could not be read.
    package let text: Data
    /// The part of the manifest that was understood; empty if the file could not be read.
    package let manifest: SubstitutionManifest
    /// All errors and warnings, usually in the order of the file.
    package let issues: [ManifestIssue]
    /// The positions of the entries' keys, in the order of the file.
    package let entries: [Position]
    /// The substitutions whose files were found, including those that have expired.
    package let substitutions: [Substitution]
    /// The messages about the content of files, keyed by the file's path below the manifest's folder.
    package let contentProblems: [String: String]
    /// The files that are something else entirely, so that a browser's findings would be consequences.
    package let otherFiles: Set<String>
    /// The folder of the manifest's files.
    package let folder: URL
    /// The date of the check; entries that have expired by this date do not ship their files.
    package let date: Date

    /// A line and a column in the manifest's text, counted as in a `ManifestIssue`.
    package struct Position: Hashable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            (self.line, self.column) = (line, column)
        }
    }

    /// Checks a manifest file.
    ///
    /// Unused files and missing URLs are usually reported one by one if `listsAll` is true. If it is false, unused
    /// files are reported by folder, and missing URLs by entry. If `judgesFiles` is false, only errors are reported,
    /// and no file is read.
    package init(_ manifest: ManifestFile, on date: Date, listsAll: Bool = false, judgesFiles: Bool = true) {
        var (text, unreadable) = (Data(), nil as [ManifestIssue]?)
        do {
            text = try SubstitutionManifest.text(of: manifest.url, name: manifest.name)
        } catch {
            let hint = manifest.hint.map { "; \($0)" } ?? ""
            unreadable = error.issues.map { $0.with(message: $0.message + hint) }
        }
        self.init(
            text,
            name: manifest.name,
            url: manifest.url,
            folder: manifest.folder,
            on: date,
            listsAll: listsAll,
            judgesFiles: judgesFiles,
            unreadable: unreadable
        )
    }

    /// Checks the text of a manifest whose files lie in `folder`.
    ///
    /// `unreadable` are the issues of a file without text; nil if it was read.
    package init(
        _ text: Data,
        name: String,
        url: URL? = nil,
        folder: URL,
        on date: Date,
        listsAll: Bool = false,
        judgesFiles: Bool = true,
        unreadable: [ManifestIssue]? = nil
    ) {
        (self.name, self.text, self.folder, self.date) = (name, text, folder, date)
        manifest = SubstitutionManifest(checking: text, name: name, url: url)
        let (read, substitutions) = manifest.check(in: folder, on: date, listsUnused: listsAll, warns: judgesFiles)
        let found = unreadable ?? read
        let isUsed = found.allSatisfy { $0.severity == .warning }
        let needs = isUsed && judgesFiles ? NeedsCheck(manifest, name: name, substitutions, in: folder, on: date) : nil
        let issues = found + (needs?.issues(each: listsAll) ?? [])
        var contents = ContentCheck(manifest, name: name, in: folder)
        for substitution in substitutions where judgesFiles && !substitution.isExpired(on: date) {
            contents.check(substitution)
        }
        // Files that an entry with an error means are not checked.
        let wrongIgnores = isUsed && judgesFiles ? contents.wrongIgnores(ofBrowser: false) : []
        self.issues = (issues + contents.issues + wrongIgnores).sorted {
            ($0.line, $0.column) < ($1.line, $1.column)
        }
        entries = manifest.places.map { Position(line: $0.line, column: $0.column) }
        self.substitutions = substitutions
        (contentProblems, otherFiles) = (contents.sentences, contents.others)
    }

    /// The errors, for which an app refuses the manifest.
    package var errors: [ManifestIssue] { issues.filter { $0.severity == .error } }

    /// The substitutions that have not expired.
    package var shipped: [Substitution] { substitutions.filter { !$0.isExpired(on: date) } }

    /// The inventory of the files that ship on `date`.
    package var inventory: Inventory { Inventory(shipped, version: manifest.version) }
}

extension ManifestIssue {
    /// Creates an issue at a place in a manifest; an issue about the whole file is at the beginning.
    package init(
        _ severity: Severity,
        _ code: Code,
        _ message: String,
        in file: String,
        at place: ManifestCheck.Position = ManifestCheck.Position(line: 1, column: 1)
    ) {
        let (line, column) = (place.line, place.column)
        self.init(severity: severity, code: code, message: message, file: file, line: line, column: column)
    }

    /// True if the issue is about the whole file; the issue's position, line 1 and column 1, is a placeholder.
    package var isAboutTheWhole: Bool {
        [.unusedFile, .unreadableManifest, .overBudget, .sameVersion, .wrongIgnore].contains(code)
    }
}

/// The kinds of issues that the tool reports but an app does not look for.
extension ManifestIssue.Code {
    /// The files have more bytes than the budget allows.
    package static let overBudget = Self(rawValue: "over-budget")
    /// The files have changed, and `$version` has not.
    package static let sameVersion = Self(rawValue: "same-version")
    /// A URL that a file of the manifest loads, and that no entry answers.
    static let missingReference = Self(rawValue: "missing-reference")
}
