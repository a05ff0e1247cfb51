import Foundation

/// One line about an error that a script or the browser reports.
struct ReportedError: Sendable {
    let words: String
    /// The URL of a load that failed, if the browser reports such a load.
    let failedURL: String?

    /// The parameters of the events `exceptionThrown`, `entryAdded` and `consoleAPICalled`.
    private struct Parameters: Decodable {
        struct Exception: Decodable {
            struct Object: Decodable { let description: String? }
            let text: String
            let exception: Object?
        }

        struct Entry: Decodable {
            let source: String
            let level: String
            let text: String
            let url: String?
        }

        struct Argument: Decodable {
            let value: JSONText?
            let description: String?
        }

        let exceptionDetails: Exception?
        let entry: Entry?
        let type: String?
        let args: [Argument]?
    }

    /// A JSON string; nil for any other kind of value.
    private struct JSONText: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    /// The maximum number of characters that are kept.
    private static let limit = 1000

    init(words: String, failedURL: String?) { (self.words, self.failedURL) = (words, failedURL) }

    /// Reads an event; nil if it does not report an error.
    init?(_ event: DevTools.Event) {
        guard let parameters = event.parameters(Parameters.self) else { return nil }
        let entry = parameters.entry
        let words: String
        if let details = parameters.exceptionDetails {
            words = String((details.exception?.description ?? details.text).prefix { $0 != "\n" })
        } else if let entry, entry.level == "error" {
            words = entry.text + (entry.url.map { " (\($0))" } ?? "")
        } else if let arguments = parameters.args, parameters.type == "error" {
            words = arguments.compactMap { $0.value?.text ?? $0.description }.joined(separator: " ")
        } else {
            return nil
        }
        let failedURL = entry?.source == "network" ? entry?.url : nil
        self.init(words: String(words.prefix(Self.limit)), failedURL: failedURL)
    }
}
