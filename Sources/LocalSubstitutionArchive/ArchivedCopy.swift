import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One copy of an ``OfflineArchive``; its file is a line of ASCII text, a head in JSON, and the body.
struct ArchivedCopy: Codable {
    /// The requested URL, normalised by ``URLIdentity``.
    let url: String
    /// The URL of the response, after redirects.
    let responseURL: String
    /// The header fields of the response, without `Set-Cookie`.
    let fields: [String: String]
    let date: Date
    /// The `$version` of the manifest when the load began.
    let version: Int64
    /// The body as URL loading delivered it.
    private(set) var body = Data()

    private enum CodingKeys: CodingKey {
        case url, responseURL, fields, date, version
    }

    /// Returns the content of the copy's file.
    func encoded() throws -> Data {
        let head = try JSONEncoder().encode(self)
        return Self.line(head, body) + head + body
    }

    /// Reads the content of a file; nil if any byte of it is damaged.
    init?(decoding data: Data) {
        guard let end = data.prefix(100).firstIndex(of: UInt8(ascii: "\n")),
            let length = Int(String(decoding: data[..<end], as: UTF8.self).split(separator: " ").last ?? "")
        else { return nil }
        let rest = data[(end + 1)...]
        guard (0...rest.count).contains(length) else { return nil }
        // These values are copies and not slices, so their indices begin at 0.
        let (head, body) = (Data(rest.prefix(length)), Data(rest.dropFirst(length)))
        guard Self.line(head, body) == data[...end], Self.isReadable(head),
            var copy = try? JSONDecoder().decode(Self.self, from: head)
        else { return nil }
        copy.body = body
        self = copy
    }

    /// Returns false if Foundation would take quadratic time, as for a name of combining marks.
    ///
    /// ``encoded()`` escapes only control characters.
    private static func isReadable(_ head: Data) -> Bool {
        let text = String(decoding: head, as: UTF8.self)
        return text.isStreamSafe && text.components(separatedBy: "\\u").count <= 30
    }

    init(url: String, responseURL: String, fields: [String: String], version: Int64, body: Data) {
        (self.url, self.responseURL, self.fields, self.version, self.body) = (url, responseURL, fields, version, body)
        date = Date()
    }

    /// Returns the line before a head and a body, with their checksum and the length of the head.
    static func line(_ head: Data, _ body: Data) -> Data {
        var checksum = FNV1a()
        checksum.combine(head)
        checksum.combine(body)
        return Data("LocalSubstitutionCache copy 2 \(checksum) \(head.count)\n".utf8)
    }

    /// Returns the copy with the response to replay.
    func answer(after outcome: NetworkOutcome) -> LastGoodCopy? {
        var fields = fields
        let detail = "copy of \(date.formatted(.iso8601))"
        let own = CacheStatus.forwarded(outcome, detail: detail)
        // RFC 9211 §2: each cache that handles a response appends its own member to the field.
        let name = fields.keys.first { $0.lowercased() == "cache-status" } ?? "Cache-Status"
        fields[name] = fields[name].map { "\($0), \(own)" } ?? own
        guard let url = URL(string: responseURL),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return nil }
        return (CachedURLResponse(response: response, data: body), date, version)
    }
}
