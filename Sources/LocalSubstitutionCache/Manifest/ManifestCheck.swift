package import Foundation

/// What there is to tell about a manifest, whether it is right or wrong: what the designers' tool knows.
package struct ManifestCheck: Sendable {
    /// What the messages call the manifest.
    package let name: String
    /// The text, as far as it could be read.
    package let text: Data
    /// Everything that is wrong, warnings included, in the order of the file.
    package let issues: [ManifestIssue]
    /// How many entries the manifest has; nil when it could not be read.
    package let entries: Int?
    /// What is mapped, as far as it could be found out.
    package let substitutions: [Substitution]

    /// Checks a manifest file.
    package init(_ url: URL, name: String, on date: Date = Date()) {
        do {
            let text = try SubstitutionManifest.text(of: url, name: name)
            self.init(text, name: name, url: url, folder: url.deletingLastPathComponent(), on: date)
        } catch {
            self.init(name: name, text: Data(), issues: error.issues, entries: nil, substitutions: [])
        }
    }

    /// Checks the text of a manifest whose files lie in `folder`.
    package init(_ text: Data, name: String, url: URL? = nil, folder: URL, on date: Date = Date()) {
        do {
            let manifest = try SubstitutionManifest(text, name: name, url: url)
            let (issues, substitutions) = manifest.check(in: folder, on: date)
            self.init(
                name: name,
                text: text,
                issues: issues,
                entries: manifest.entries.count,
                substitutions: substitutions
            )
        } catch {
            self.init(name: name, text: text, issues: error.issues, entries: nil, substitutions: [])
        }
    }

    private init(name: String, text: Data, issues: [ManifestIssue], entries: Int?, substitutions: [Substitution]) {
        (self.name, self.text, self.issues) = (name, text, issues)
        (self.entries, self.substitutions) = (entries, substitutions)
    }

    /// The files that are mapped, each once: path → size in bytes.
    package var files: [String: Int] {
        Dictionary(substitutions.map { ($0.file, $0.size) }, uniquingKeysWith: { first, _ in first })
    }
}
