package import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards

/// One request and its response, in the format of HAR 1.2.
///
/// http://www.softwareishard.com/blog/har-12-spec/
package struct HAREntry: Encodable, Sendable {
    package struct Field: Codable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }

        /// True if this field of a request identifies its user.
        package var isCredential: Bool {
            // `Referer` is the URL of another request, and `:path` that of this one.
            !name.hasPrefix(":") && name.lowercased() != "referer"
                && SecretScanner.isCredential(field: name, value: value)
        }

        /// The names of the fields whose values are recorded.
        ///
        /// A value is recorded if it identifies no user, or if `substitute add` needs it. All other fields are
        /// recorded without their values.
        private static let kept: Set = [
            "accept", "accept-encoding", "accept-language", "accept-ranges", "access-control-allow-origin", "age",
            "cache-control",
            "cache-status",
            "content-encoding", "content-language", "content-length", "content-type", "date", "etag", "expires",
            "last-modified", "server", "user-agent", "vary",
        ]

        /// The field without secrets, and with an empty value unless `kept` holds its name.
        package var withoutSecret: Field {
            let isKept = Self.kept.contains(name.lowercased()) && value.isStreamSafe
            return Field(name: name, value: isKept ? SecretMask.masked(text: value) : "")
        }
    }

    package struct Request: Encodable, Sendable {
        package let method: String
        package let url: String
        let httpVersion = "HTTP/1.1"
        let cookies: [Field] = []
        let headers: [Field]
        let queryString: [Field] = []
        let headersSize = -1
        let bodySize = -1

        /// - Parameters:
        ///   - method: The method.
        ///   - url: The URL, without secrets.
        ///   - headers: All header fields; the values of those that may hold secrets are left out.
        package init(method: String, url: String, headers: [Field]) {
            (self.method, self.url, self.headers) = (method, url, headers.map(\.withoutSecret))
        }
    }

    package struct Content: Encodable, Sendable {
        package var size: Int
        let mimeType: String
        /// The body in base64; nil if it is not known, or was left out.
        package private(set) var text: String?
        private(set) var encoding: String?
        package var comment: String?

        /// - Parameters:
        ///   - size: The length of the body, in bytes; 0 if it is not known.
        ///   - type: The value of `Content-Type`; nil if there is none.
        ///   - base64: The body in base64; nil to leave it out.
        ///   - comment: The reason why the body is left out; nil for none.
        package init(size: Int, type: String?, base64: String? = nil, comment: String? = nil) {
            (self.size, text, self.comment) = (size, base64, comment)
            mimeType = type.map(SecretMask.masked(text:)) ?? "x-unknown"
            encoding = base64 == nil ? nil : "base64"
        }

        /// Removes the body, and makes `reason` the comment.
        mutating func remove(because reason: String) { (text, encoding, comment) = (nil, nil, reason) }
    }

    package struct Response: Encodable, Sendable {
        package let status: Int
        let statusText = ""
        let httpVersion = "HTTP/1.1"
        let cookies: [Field] = []
        let headers: [Field]
        package var content: Content
        let redirectURL: String
        let headersSize = -1
        let bodySize = -1

        /// - Parameters:
        ///   - status: The status; 0 if there was no response.
        ///   - headers: All header fields; the values of those that may hold secrets are left out.
        ///   - content: The body, or facts about it.
        ///   - redirectURL: The target of a redirect, without secrets; empty for none.
        package init(status: Int, headers: [Field], content: Content, redirectURL: String = "") {
            (self.status, self.headers, self.content) = (status, headers.map(\.withoutSecret), content)
            self.redirectURL = redirectURL
        }
    }

    private struct Timings: Encodable {
        let send = 0
        let wait: Int
        let receive = 0
    }

    private struct Cache: Encodable {}

    let startedDateTime: String
    let time: Int
    package let request: Request
    package var response: Response
    private let cache = Cache()
    private let timings: Timings
    /// The facts about the response that only this library knows.
    var substitution: RecordedAnswer?

    private enum CodingKeys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings
        case substitution = "_substitution"
    }

    /// - Parameters:
    ///   - date: The time of the request.
    ///   - seconds: The time from the request to the end of the response.
    ///   - request: The request.
    ///   - response: The response.
    ///   - substitution: The facts about the response that only this library knows.
    package init(
        _ date: Date,
        lasting seconds: TimeInterval = 0,
        _ request: Request,
        _ response: Response,
        _ substitution: RecordedAnswer? = nil
    ) {
        startedDateTime = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        time = max(0, Int(seconds * 1000))
        timings = Timings(wait: time)
        (self.request, self.response, self.substitution) = (request, response, substitution)
    }

    /// The name of the program in the recordings of an app.
    package static let creator = "LocalSubstitutionDevelopment"

    /// The entry as JSON.
    package var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self)
        }
    }

    /// Returns the text of a HAR file before the first entry.
    package static func beginning(creator: String, version: String, comment: String? = nil) -> Data {
        let comment = comment.map { ",\"comment\":\"\($0)\"" } ?? ""
        let creator = "{\"name\":\"\(creator)\",\"version\":\"\(version)\"}"
        // Firefox imports only files with `pages`, although HAR 1.2 does not require them.
        return Data("{\"log\":{\"version\":\"1.2\",\"creator\":\(creator)\(comment),\"pages\":[],\"entries\":[".utf8)
    }

    /// The text of a HAR file after the last entry.
    package static let end = Data("]}}\n".utf8)
}
