import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One copy of an ``OfflineArchive``, as it stands in its file.
///
/// A line of ASCII with the lengths and the checksum of what follows, then what is known of the response as JSON, then
/// the body as it was received.
struct ArchivedCopy {
    struct Head: Codable {
        /// Normalised, as ``URLIdentity`` does it.
        let url: String
        /// Where redirects led.
        let responseURL: String
        /// Without `Set-Cookie`.
        let fields: [String: String]
        let date: Date
    }

    let head: Head
    let body: Data

    init(head: Head, body: Data) {
        self.head = head
        self.body = body
    }

    private static let format = "LocalSubstitutionCache copy 1"

    /// The file's content.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let head = try encoder.encode(self.head)
        var data = Self.firstLine(head, body)
        data.reserveCapacity(data.count + head.count + body.count)
        data.append(head)
        data.append(body)
        return data
    }

    /// Reads a file's content; nil when it is not exactly what ``encoded()`` makes.
    init?(decoding data: Data) {
        let bytes = [UInt8](data.prefix(128))
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        let rest = data.dropFirst(lineEnd + 1)
        guard words.count == 6, let headLength = Int(words[3]), (0...rest.count).contains(headLength) else {
            return nil
        }
        // Indices of their own, which begin at 0.
        let (head, body) = (Data(rest.prefix(headLength)), Data(rest.dropFirst(headLength)))
        // Any other damage would give a different first line.
        guard Self.firstLine(head, body) == data.prefix(lineEnd + 1),
            let decoded = try? JSONDecoder().decode(Head.self, from: head)
        else { return nil }
        self.init(head: decoded, body: body)
    }

    static func firstLine(_ head: Data, _ body: Data) -> Data {
        var checksum = FNV1a()
        checksum.combine(head)
        checksum.combine(body)
        return Data("\(format) \(head.count) \(body.count) \(checksum.description)\n".utf8)
    }

    /// The response that is replayed.
    var response: CachedURLResponse? {
        var fields = head.fields
        let detail = "copy of \(head.date.formatted(.iso8601))"
        let own = CacheStatus.forwarded(status: nil, detail: detail)
        // RFC 9211 §2: each cache on the way adds its own at the end.
        let name = fields.keys.first { $0.lowercased() == "cache-status" } ?? "Cache-Status"
        fields[name] = fields[name].map { "\($0), \(own)" } ?? own
        guard let url = URL(string: head.responseURL),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return nil }
        return CachedURLResponse(response: response, data: body)
    }
}
