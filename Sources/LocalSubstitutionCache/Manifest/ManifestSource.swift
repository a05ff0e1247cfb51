package import Foundation

/// The source of a ``SubstitutionTable``.
///
/// It is either a manifest file with the files in its folder, or a manifest's text and a folder.
package struct ManifestSource: Sendable {
    /// The manifest file; nil if the source is a text.
    package var file: URL?
    var text = Data()
    /// The folder to which the paths in the manifest are relative.
    package let folder: URL
    package let reading: ReadingMode
    /// The folder that answers instead if the `$version` of its manifest is higher; nil for none.
    var newer: (folder: URL, reading: ReadingMode)?

    /// Reads the manifest in its current state.
    package func manifest(maximumSize: Int = .max) throws(ManifestError) -> SubstitutionManifest {
        let text = try file.map { url throws(ManifestError) in
            try SubstitutionManifest.text(of: url, name: name, maximumSize: maximumSize)
        }
        return SubstitutionManifest(text ?? self.text, name: name, url: file)
    }

    /// The name of the manifest in messages.
    package var name: String { file?.path ?? "manifest.json" }
}

extension ManifestSource {
    /// Creates the source of a folder that may answer instead of the bundle's.
    init(candidate folder: URL, reading: ReadingMode) {
        self.init(file: folder.appendingPathComponent("manifest.json"), folder: folder, reading: reading)
    }
}
