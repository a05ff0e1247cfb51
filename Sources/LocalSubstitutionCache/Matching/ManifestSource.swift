import Foundation

/// Where a table comes from: a manifest file with the files beside it, or a manifest's text with a folder.
struct ManifestSource: Sendable {
    private let file: URL?
    private let text: Data
    private let folder: URL
    private let reading: ReadingMode

    init(file: URL, reading: ReadingMode) {
        (self.file, text, folder, self.reading) = (file, Data(), file.deletingLastPathComponent(), reading)
    }

    init(text: Data, folder: URL, reading: ReadingMode) {
        (file, self.text, self.folder, self.reading) = (nil, text, folder, reading)
    }

    /// Reads the manifest and its files as they are now.
    func load() throws(ManifestError) -> SubstitutionTable {
        let manifest = try file.map(SubstitutionManifest.init(contentsOf:)) ?? SubstitutionManifest(text, name: name)
        return try SubstitutionTable(manifest, folder: folder, reading: reading)
    }

    private var name: String { file?.path ?? "manifest.json" }

    /// Tells when the manifest or one of its files changes.
    func watch(_ changed: @escaping @Sendable ([String]) -> Void) throws(ManifestError) -> FolderWatcher {
        guard reading == .copied else {
            throw ManifestError(
                unwatched: name,
                because:
                    "the cache maps its files, and a mapped file that is written in place ends the process; make the cache with "
                    + "reading: .copied"
            )
        }
        do {
            return try FolderWatcher(folder, manifest: file, changed)
        } catch {
            throw ManifestError(
                unwatched: name,
                because: "\(quoted(folder.path)) cannot be watched: \(error.localizedDescription)"
            )
        }
    }
}
