import Foundation
import LocalSubstitutionDevelopment

/// An entry of a recording, as a reader of the HAR format decodes it.
struct RecordedEntry: Decodable {
    struct Field: Decodable {
        let name, value: String
    }

    struct Request: Decodable {
        let method, url: String
        let headers: [Field]
    }

    struct Content: Decodable {
        let size: Int
        let text, comment: String?
    }

    struct Response: Decodable {
        let status: Int
        let headers: [Field]
        let content: Content
        let redirectURL: String
    }

    private struct Archive: Decodable {
        struct Log: Decodable {
            /// Firefox requires this member.
            let pages: [String]
            let entries: [RecordedEntry]
        }
        let log: Log
    }

    let request: Request
    let response: Response
    let answer: RecordedAnswer

    private enum CodingKeys: String, CodingKey {
        case request, response
        case answer = "_substitution"
    }

    /// Returns all entries of a recording.
    static func all(in file: URL) throws -> [RecordedEntry] {
        try JSONDecoder().decode(Archive.self, from: Data(contentsOf: file)).log.entries
    }

    /// The body; nil if it was not recorded.
    var body: String? {
        response.content.text.flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The entry in one line.
    ///
    /// The line contains the method, path, answerer, file, number of times that the request got this response, status,
    /// size, and how the load ended.
    var line: String {
        let path = URL(string: request.url)?.path ?? request.url
        let file = answer.answeredBy == .file ? " \(answer.file ?? "")" : ""
        let times = answer.times == 1 ? "" : " ×\(answer.times)"
        let ended = answer.ended.map { ", \($0)" } ?? ""
        let answerer = "\(answer.answeredBy.rawValue)\(file)\(times)"
        return "\(request.method) \(path): \(answerer) \(response.status) \(response.content.size)\(ended)"
    }
}
