package import Foundation

/// What there is to tell about a manifest, whether it is right or wrong: what the designers' tool knows.
package struct ManifestCheck: Sendable {
    /// What the messages call the manifest.
    package let name: String
    /// The text, as far as it could be read.
    package let text: Data
    /// Everything that is wrong, warnings included, in the order of the file.
    package let issues: [ManifestIssue]
    /// The places of the entries' keys, in the order of the file; nil when the manifest could not be read.
    package let entries: [Place]?
    /// What is mapped, as far as it could be found out.
    package let substitutions: [Substitution]

    /// A place in the text, as issues name it.
    package struct Place: Hashable, Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            (self.line, self.column) = (line, column)
        }
    }

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
                entries: manifest.entries.map { entry in
                    let place = manifest.source.place(of: entry.key.offset)
                    return Place(line: place.line, column: place.column)
                },
                substitutions: substitutions
            )
        } catch {
            self.init(name: name, text: text, issues: error.issues, entries: nil, substitutions: [])
        }
    }

    private init(name: String, text: Data, issues: [ManifestIssue], entries: [Place]?, substitutions: [Substitution]) {
        (self.name, self.text, self.issues) = (name, text, issues)
        (self.entries, self.substitutions) = (entries, substitutions)
    }

    /// How many files are mapped, and how many bytes they have together.
    package var fileCount: Int { files.count }
    package var byteCount: Int { files.values.reduce(0, +) }

    private var files: [FilePath: Int] {
        Dictionary(substitutions.map { ($0.reference.realPath, $0.size) }, uniquingKeysWith: { first, _ in first })
    }
}
