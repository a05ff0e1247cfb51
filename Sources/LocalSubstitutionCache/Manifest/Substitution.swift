package import Foundation

/// One file of the bundle and the URL it stands in for.
///
/// An entry of the manifest, or one file of an entry for a folder; the file was found on disk.
public struct Substitution: Sendable, CustomStringConvertible {
    /// The entry that it comes from.
    package let entry: ManifestEntry
    /// The entry's URL, or that of one file of its folder.
    package let pattern: URLPattern
    package let reference: FoundFile
    /// The length of the path in the URL of the folder's entry, in bytes; nil for an entry of its own.
    package let folderLength: Int?

    /// The media type that is sent, with `charset=utf-8` where the type takes a charset and names none.
    public let mediaType: MediaType
    /// The line of the entry in the manifest, from 1.
    public let line: Int
    /// The column of the entry in the manifest, from 1, in UTF-8 bytes.
    public let column: Int

    init(
        _ entry: ManifestEntry,
        _ pattern: URLPattern,
        _ reference: FoundFile,
        folderLength: Int?,
        at place: (line: Int, column: Int)
    ) {
        self.entry = entry
        self.pattern = pattern
        self.reference = reference
        self.folderLength = folderLength
        mediaType = (entry.type ?? MediaType(fileName: reference.path) ?? .octetStream).withCharset
        (line, column) = place
    }

    /// The URL as the manifest spells it, with what cannot stand in a URL percent-encoded; `//host/path` for both
    /// schemes.
    public var url: String { pattern.spelling }

    /// The file's path below the manifest's folder, as it is on disk.
    public var file: String { reference.path }

    /// When the file answers instead of the network; empty when it always does, without asking the network.
    public var conditions: [Condition] { entry.conditions.map(\.value) }

    /// Offset of the entry's `file` in the manifest.
    package var fileOffset: Int { (entry.file ?? entry.key).offset }

    /// The size of the file when the manifest was read, in bytes.
    package var size: Int { reference.size }

    /// The file's absolute path, without symbolic links.
    package var realPath: String { reference.realPath.text }

    /// The file that the entry names: this one, or its folder, which ends in "/".
    package var namedFile: String { entry.file?.value ?? file }

    /// The entry's own URL: this one, or that of its folder.
    package var namedURL: String { entry.key.value }

    /// The first bytes of the file as it is now; nil when it cannot be read, or is no file any more.
    package func bytes(upTo count: Int) -> Data? { try? OpenedFile(reference.realPath.text).head(count) }

    /// The file as it is now, or some bytes of it, opened without leaving `folder`.
    ///
    /// Nil when it cannot be read, or is no file any more.
    package func data(in folder: URL, _ range: Range<Int>? = nil) -> Data? {
        guard let opened = try? OpenedFolder(folder.path), let file = try? opened.file(reference) else { return nil }
        return try? file.part(range ?? 0..<file.size)
    }

    /// The last day on which the entry is used, as `YYYY-MM-DD`.
    package var lastDay: String? { entry.until?.value.description }

    /// Whether the last day has passed, in UTC, so that the entry is ignored.
    package func isExpired(on date: Date) -> Bool { entry.until.map { $0.value < CalendarDay(date) } ?? false }

    /// `url → file`.
    public var description: String { "\(visible(url)) → \(visible(file))" }
}
