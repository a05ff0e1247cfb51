/// The facts about a request and its response that HAR 1.2 does not cover.
///
/// In the HAR file, they are the entry's field `_substitution`.
package struct RecordedAnswer: Decodable, Sendable {
    /// The source of the response.
    package enum Answerer: String, Decodable, Sendable {
        /// A file of the app.
        case file
        /// The last good copy of an `OfflineArchive`.
        case archive
        /// `URLCache`, with a stored response; URL loading may have revalidated it with the server.
        case cache
        /// The network.
        case network
        /// No source: the load was cancelled, failed, or has not ended.
        case nobody
    }

    package var answeredBy: Answerer
    /// The file of the manifest's entry that names the URL; nil if no entry does.
    ///
    /// The path is relative to the manifest's folder.
    package var file: String?
    /// The line of the manifest's entry that names the URL; nil if no entry does.
    package var line: Int?
    /// The number of times that the request got this response.
    package var times = 1
    /// The total size in bytes of the responses that ``times`` counts; responses of unknown length count as 0.
    package var bytes = 0
    /// The end of the load: `cancelled`, the error, or `not yet`; nil if the load ended without an error.
    ///
    /// `not yet` is for a load that was in progress at the end of the recording. For a redirect whose status URL
    /// loading does not report, the text says so.
    package var ended: String?
    /// True if the entry's URL is not the one that was loaded: a part of it was left out, or the entry is for a host.
    package var isShortened: Bool?

    package init(_ answeredBy: Answerer) { self.answeredBy = answeredBy }

    /// The value of `_substitution`.
    var object: [String: Any] {
        let known: [String: Any?] = [
            "answeredBy": answeredBy.rawValue, "file": file, "line": line, "times": times, "bytes": bytes,
            "ended": ended, "isShortened": isShortened,
        ]
        return known.compactMapValues(\.self)
    }
}
