import Foundation

/// One line about an error that a script or the browser reports.
struct ReportedError: Sendable {
    let words: String
    /// The URL of a load that failed, if the browser reports such a load.
    let failedURL: String?

    /// The maximum number of characters that are kept.
    private static let limit = 1000

    init(words: String, failedURL: String?) { (self.words, self.failedURL) = (words, failedURL) }

    /// Reads an event (`exceptionThrown`, `entryAdded` or `consoleAPICalled`); nil if it does not report an error.
    init?(_ event: DevTools.Event) {
        let words: String
        let url: String? = event["entry", "url"]
        if let details: [String: Any] = event["exceptionDetails"] {
            let thrown = (details["exception"] as? [String: Any])?["description"] ?? details["text"]
            words = String((thrown as? String ?? "").prefix { $0 != "\n" })
        } else if event["entry", "level"] == "error", let text: String = event["entry", "text"] {
            words = text + (url.map { " (\($0))" } ?? "")
        } else if event["type"] == "error", let arguments: [[String: Any]] = event["args"] {
            words = arguments.compactMap { $0["value"] as? String ?? $0["description"] as? String }
                .joined(separator: " ")
        } else {
            return nil
        }
        self.init(words: String(words.prefix(Self.limit)), failedURL: event["entry", "source"] == "network" ? url : nil)
    }
}
