package import Foundation

/// A file of the bundle and the URL for which it answers.
///
/// A substitution is an entry of the manifest, or one file of an entry for a folder. The file was found on disk.
public struct Substitution: Sendable, CustomStringConvertible {
    /// The entry of this substitution.
    package let entry: ManifestEntry
    /// The entry's URL or, for a folder entry, the URL of one file in the folder.
    package let pattern: URLPattern
    package let foundFile: FoundFile
    /// The length in bytes of the path of the folder's URL; nil if the entry names a single file.
    package let folderLength: Int?

    /// The line of the entry in the manifest, from 1.
    package let line: Int
    /// The column of the entry in the manifest, from 1, in UTF-8 bytes.
    package let column: Int

    /// The URL as the manifest spells it.
    ///
    /// A URL that begins with `//` is for both http and https. Characters that a URL cannot hold are percent-encoded.
    public var url: String { pattern.spelling }

    /// The file's path below the manifest's folder, as it is on disk.
    public var path: String { foundFile.path }

    /// The response's `Content-Type`, such as `text/css; charset=utf-8`.
    ///
    /// Text and JavaScript have `charset=utf-8`, unless the entry names a charset.
    public var mediaType: String { type.description }

    package var type: MediaType { (entry.type ?? MediaType(fileName: path) ?? .octetStream).withCharset }

    /// The conditions under which the file answers instead of the network.
    ///
    /// If there are none, the file always answers, and no request is sent to the network.
    public var conditions: [Condition] { entry.conditions.map(\.value) }

    /// The offset of the entry's `file` in the manifest.
    package var fileOffset: Int { (entry.file ?? entry.key).offset }

    /// The size of the file when the manifest was read, in bytes.
    package var size: Int { foundFile.size }

    /// The file's absolute path, without symbolic links.
    package var realPath: String { foundFile.realPath.text }

    /// The path in the entry: this file's path, or the folder's path with a "/" at the end.
    package var namedFile: String { entry.file?.value ?? path }

    /// The URL in the entry: this file's URL, or the folder's URL.
    package var namedURL: String { entry.key.value }

    /// The last day on which the entry is used, as `YYYY-MM-DD`; nil if there is none.
    package var lastDay: String? { entry.until?.value.description }

    /// Returns whether the entry is ignored because its last day has passed in UTC.
    package func isExpired(on date: Date) -> Bool { entry.until.map { $0.value < CalendarDay(date) } ?? false }

    /// `url → file`.
    public var description: String { "\(visible(url)) → \(visible(path))" }
}

extension Substitution {
    /// A condition under which the file of an entry answers instead of the network: one value of `when`.
    public enum Condition: Hashable, Sendable, CustomStringConvertible {
        /// There is no connection to the server.
        case offline
        /// The server answered with this status, 400 to 599.
        case status(Int)
        /// The server answered with any status from 400 to 499.
        case clientError
        /// The server answered with any status from 500 to 599.
        case serverError
        /// The network has sent no head of a response within this time, 1 to 60 seconds.
        case silence(seconds: Int)

        /// The condition as the manifest writes it, in JSON.
        public var description: String {
            switch self {
            case .offline: "\"offline\""
            case .status(let status): String(status)
            case .clientError: "\"4xx\""
            case .serverError: "\"5xx\""
            case .silence(let seconds): "\"\(seconds)s\""
            }
        }

        func holds(after outcome: NetworkOutcome) -> Bool {
            switch (self, outcome) {
            case (.offline, .offline), (.silence, .silence): true
            case (.status(let expected), .status(let status)): status == expected
            case (.clientError, .status(let status)): (400..<500).contains(status)
            case (.serverError, .status(let status)): (500..<600).contains(status)
            default: false
            }
        }

        package static let words: [String: Condition] = ["offline": .offline, "4xx": .clientError, "5xx": .serverError]
            .merging((1...60).map { ("\($0)s", .silence(seconds: $0)) }) { first, _ in first }
    }
}
