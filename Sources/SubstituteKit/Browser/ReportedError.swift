import Foundation

/// One line about an error that a script or the browser reports.
struct ReportedError: Sendable {
    let words: String
    /// The URL of a load that failed, if the browser reports such a load.
    let failedURL: String?

    private struct Exception: Decodable {
        struct Details: Decodable {
            struct Object: Decodable { let description: String? }
            let text: String
            let exception: Object?
        }
        let exceptionDetails: Details
    }

    private struct Entry: Decodable {
        struct Entry: Decodable {
            let source: String
            let level: String
            let text: String
            let url: String?
        }
        let entry: Entry
    }

    private struct Call: Decodable {
        struct Argument: Decodable {
            let value: JSONText?
            let description: String?
        }
        let type: String
        let args: [Argument]
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
        guard let words = Self.words(event) else { return nil }
        let entry = event.parameters(Entry.self)?.entry
        let failedURL = entry?.source == "network" ? entry?.url : nil
        self.init(words: String(words.prefix(Self.limit)), failedURL: failedURL)
    }

    private static func words(_ event: DevTools.Event) -> String? {
        if let details = event.parameters(Exception.self)?.exceptionDetails {
            let description = details.exception?.description ?? details.text
            return String(description.prefix { $0 != "\n" })
        } else if let entry = event.parameters(Entry.self)?.entry, entry.level == "error" {
            return entry.text + (entry.url.map { " (\($0))" } ?? "")
        } else if let call = event.parameters(Call.self), call.type == "error" {
            return call.args.compactMap { $0.value?.text ?? $0.description }.joined(separator: " ")
        }
        return nil
    }
}
