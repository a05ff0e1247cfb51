/// One file of the bundle and the URL it stands in for: an entry of the manifest, or a file of a folder entry, proved
/// to be right.
public struct Substitution: Sendable, CustomStringConvertible {
    /// The URL as the manifest spells it, with what cannot stand in a URL percent-encoded; `//host/path` for both
    /// schemes.
    public let url: String
    /// The file's path below the manifest's folder, as it is on disk.
    public let file: String
    /// The media type that is sent, with `charset=utf-8` where the type takes a charset and names none.
    public let mediaType: MediaType
    /// When the file answers instead of the network; empty when it always does, without asking the network.
    public let conditions: [Condition]
    /// The line of the entry in the manifest, from 1.
    public let line: Int
    /// The column of the entry in the manifest, from 1, in UTF-8 bytes.
    public let column: Int

    let pattern: URLPattern
    let reference: FileReference
    /// The entry's `type`, when it has one.
    let declaredType: MediaType?
    /// Name → value as the manifest gives them; a nil value removes the header.
    let headers: [String: String?]
    let query: QueryRule
    /// The length of the path in the URL of the folder entry this came from, in bytes; nil for an entry of its own.
    let folderLength: Int?
    let until: CalendarDay?
    /// Offset of the entry's key in the manifest.
    let keyOffset: Int
    /// Offset of the entry's `file` in the manifest.
    let fileOffset: Int

    /// The size of the file when the manifest was read, in bytes.
    package var size: Int { reference.size }

    /// The file's absolute path, without symbolic links.
    package var realPath: String { reference.realPath.text }

    /// The last day on which the entry is used, as `YYYY-MM-DD`.
    package var lastDay: String? { until?.description }

    /// What is ignored of a query, in words; nil when the query must be exact.
    package var ignoredQuery: String? {
        switch query {
        case .exact: nil
        case .ignoring(let names): names.sorted.map(\.description).joined(separator: ", ")
        case .any: "the whole query"
        }
    }

    /// The headers that the entry adds; a nil value removes one.
    package var addedHeaders: [String: String?] { headers }

    /// `url → file`.
    public var description: String { "\(url) → \(visible(file))" }
}
