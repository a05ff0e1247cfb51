package import Foundation

/// One request and its response, in the format of HAR 1.2.
///
/// http://www.softwareishard.com/blog/har-12-spec/
package struct HAREntry: Sendable {
    package typealias Field = (name: String, value: String)

    private let date: Date
    package let method: String
    package let url: String
    /// The status; 0 if there was no response.
    package let status: Int
    /// The time from the request to the end of the response.
    package var seconds: TimeInterval = 0
    /// The fields of the request; the writer decides which values are recorded.
    package var requestFields: [Field] = []
    /// The fields of the response; only a few values are recorded.
    package var responseFields: [Field] = []
    /// The value of `Content-Type`; nil if there is none.
    package var type: String?
    /// The length of the body, in bytes; 0 if it is not known.
    package var size = 0
    /// The body in base64; nil if it is not known, or was left out.
    package var base64: String?
    /// The reason why the body is left out.
    package var comment: String?
    /// The target of a redirect.
    package var redirectURL = ""
    /// Chromium's name for the kind of resource, in lower case; nil if it is not known.
    package var resourceType: String?
    /// The facts about the response that only this library knows.
    var substitution: RecordedAnswer?

    package init(_ date: Date, _ method: String, _ url: String, status: Int) {
        (self.date, self.method, self.url, self.status) = (date, method, url, status)
    }

    /// The fields of a response whose values are recorded.
    private static let kept: Set = [
        "access-control-allow-credentials", "access-control-allow-origin", "age", "cache-control", "content-encoding",
        "content-security-policy", "content-type", "cross-origin-embedder-policy", "cross-origin-opener-policy",
        "cross-origin-resource-policy", "date", "etag", "vary",
    ]

    /// The entry as JSON.
    package var json: Data {
        get throws {
            var content: [String: Any] = ["size": size, "mimeType": type ?? "x-unknown"]
            if let base64 { content.merge(["text": base64, "encoding": "base64"]) { $1 } }
            content["comment"] = comment
            let common: [String: Any] = [
                "httpVersion": "HTTP/1.1", "cookies": [String](), "headersSize": -1, "bodySize": -1,
            ]
            let fields = responseFields.map { ($0.name, Self.kept.contains($0.name.lowercased()) ? $0.value : "") }
            let (request, response): ([String: Any], [String: Any]) = (
                ["method": method, "url": url, "headers": Self.list(requestFields), "queryString": [String]()],
                [
                    "status": status, "statusText": "", "headers": Self.list(fields), "content": content,
                    "redirectURL": redirectURL,
                ]
            )
            let milliseconds = max(0, Int(seconds * 1000))
            var entry: [String: Any] = [
                "startedDateTime": date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
                "time": milliseconds, "timings": ["send": 0, "wait": milliseconds, "receive": 0],
                "cache": [String: String](), "request": request.merging(common) { $1 },
                "response": response.merging(common) { $1 },
            ]
            entry["_resourceType"] = resourceType
            entry["_substitution"] = substitution?.object
            return try JSONSerialization.data(withJSONObject: entry, options: [.sortedKeys, .withoutEscapingSlashes])
        }
    }

    private static func list(_ fields: [Field]) -> [[String: String]] {
        fields.sorted { $0.name < $1.name }.map { ["name": $0.name, "value": $0.value] }
    }

    /// The name of the program in the recordings of an app.
    package static let creator = "LocalSubstitutionDevelopment"

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
