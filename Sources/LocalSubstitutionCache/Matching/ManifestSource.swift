package import Foundation

/// Where a table comes from: a manifest file with the files beside it, or a manifest's text with a folder.
package struct ManifestSource: Sendable {
    /// Nil for a manifest's text.
    package let file: URL?
    private let text: Data
    /// The folder of the files.
    package let folder: URL
    package let reading: ReadingMode

    init(file: URL, reading: ReadingMode) {
        (self.file, text, folder, self.reading) = (file, Data(), file.deletingLastPathComponent(), reading)
    }

    init(text: Data, folder: URL, reading: ReadingMode) {
        (file, self.text, self.folder, self.reading) = (nil, text, folder, reading)
    }

    /// Reads the manifest and its files as they are now.
    func load(with advice: (any ManifestAdvice)? = nil) throws(ManifestError) -> SubstitutionTable {
        let text = try file.map { url throws(ManifestError) in try SubstitutionManifest.text(of: url, name: name) }
        let manifest = SubstitutionManifest(text ?? self.text, name: name, url: file, advice: advice)
        return try SubstitutionTable(manifest, folder: folder, reading: reading)
    }

    /// What messages call the manifest.
    package var name: String { file?.path ?? "manifest.json" }
}
