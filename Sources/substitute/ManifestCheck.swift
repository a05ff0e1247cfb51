import Foundation
import LocalSubstitutionCache

/// What there is to tell about a manifest, whether it is right or wrong.
struct ManifestCheck {
    /// What the messages call the manifest.
    let name: String
    /// The text, as far as it could be read.
    let text: Data
    /// Everything that is wrong, warnings included, in the order of the file.
    let issues: [ManifestIssue]
    /// The places of the entries' keys, in the order of the file; nil when the manifest could not be read.
    let entries: [Place]?
    /// What is mapped, as far as it could be found out.
    let substitutions: [Substitution]

    /// A place in the text, as issues name it.
    struct Place: Hashable {
        let line: Int
        let column: Int
    }

    /// Checks a manifest file.
    init(_ url: URL, name: String) {
        do {
            let text = try SubstitutionManifest.text(of: url, name: name)
            self.init(text, name: name, url: url, folder: url.deletingLastPathComponent())
        } catch {
            self.init(name: name, text: Data(), issues: error.issues, entries: nil, substitutions: [])
        }
    }

    /// Checks the text of a manifest whose files lie in `folder`.
    init(_ text: Data, name: String, url: URL? = nil, folder: URL) {
        do {
            let manifest = try SubstitutionManifest(text, name: name, url: url)
            let (issues, substitutions) = manifest.check(in: folder, on: Date())
            let entries = manifest.places.map { Place(line: $0.line, column: $0.column) }
            self.init(name: name, text: text, issues: issues, entries: entries, substitutions: substitutions)
        } catch {
            self.init(name: name, text: text, issues: error.issues, entries: nil, substitutions: [])
        }
    }

    private init(name: String, text: Data, issues: [ManifestIssue], entries: [Place]?, substitutions: [Substitution]) {
        (self.name, self.text, self.issues) = (name, text, issues)
        (self.entries, self.substitutions) = (entries, substitutions)
    }

    /// How many files are mapped, and how many bytes they have together.
    var fileCount: Int { files.count }
    var byteCount: Int { files.values.reduce(0, +) }

    /// The size of each file by its path, byte for byte: Swift's strings are equal in any Unicode form.
    private var files: [Data: Int] {
        Dictionary(substitutions.map { (Data($0.realPath.utf8), $0.size) }, uniquingKeysWith: { first, _ in first })
    }
}
