import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One copy of an ``OfflineArchive``, in the format of its file.
///
/// The file begins with a line of ASCII text: the name of the format, the lengths of the two parts below, and their
/// checksum. The first part is JSON with the requested URL and the response's URL, header fields and date. The second
/// part is the body as URL loading delivered it.
struct ArchivedCopy {
    struct Head: Codable {
        /// The requested URL, normalised by ``URLIdentity``.
        let url: String
        /// The URL of the response, after redirects.
        let responseURL: String
        /// The header fields of the response, without `Set-Cookie`.
        let fields: [String: String]
        let date: Date
        /// The `$version` of the manifest when the load began; nil if it is not known.
        let version: Int64?
    }

    let head: Head
    let body: Data

    init(head: Head, body: Data) {
        self.head = head
        self.body = body
    }

    private static let format = "LocalSubstitutionCache copy 1"

    /// Returns the content of the copy's file.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let head = try encoder.encode(self.head)
        var data = Self.headerLine(head, body)
        data.reserveCapacity(data.count + head.count + body.count)
        data.append(head)
        data.append(body)
        return data
    }

    /// Reads the content of a file; nil if it is not exactly what ``encoded()`` writes.
    init?(decoding data: Data) {
        let bytes = [UInt8](data.prefix(128))
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        let rest = data.dropFirst(lineEnd + 1)
        guard words.count == 6, let headLength = Int(words[3]), (0...rest.count).contains(headLength) else {
            return nil
        }
        // These values are copies and not slices, so their indices begin at 0.
        let (head, body) = (Data(rest.prefix(headLength)), Data(rest.dropFirst(headLength)))
        // Foundation takes quadratic time for a name of combining marks. ``encoded()`` escapes only control characters.
        let escapes = head.reduce(into: (count: 0, isEscaped: false)) { escapes, byte in
            if escapes.isEscaped, byte == UInt8(ascii: "u") { escapes.count += 1 }
            escapes.isEscaped = !escapes.isEscaped && byte == UInt8(ascii: "\\")
        }
        guard head.isStreamSafe, escapes.count <= 30 else { return nil }
        // The line is computed again from both parts. If any byte of the file is damaged, the computed line differs
        // from the line in the file.
        guard Self.headerLine(head, body) == data.prefix(lineEnd + 1),
            let decoded = try? JSONDecoder().decode(Head.self, from: head)
        else { return nil }
        self.init(head: decoded, body: body)
    }

    static func headerLine(_ head: Data, _ body: Data) -> Data {
        var checksum = FNV1a()
        checksum.combine(head)
        checksum.combine(body)
        return Data("\(format) \(head.count) \(body.count) \(checksum.description)\n".utf8)
    }

    /// Returns the copy with the response to replay.
    func answer(after outcome: NetworkOutcome) -> LastGoodCopy? {
        var fields = head.fields
        let detail = "copy of \(head.date.formatted(.iso8601))"
        let own = CacheStatus.forwarded(outcome, detail: detail)
        // RFC 9211 §2: each cache that handles a response appends its own member to the field.
        let name = fields.keys.first { $0.lowercased() == "cache-status" } ?? "Cache-Status"
        fields[name] = fields[name].map { "\($0), \(own)" } ?? own
        guard let url = URL(string: head.responseURL),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { return nil }
        return (CachedURLResponse(response: response, data: body), head.date, head.version)
    }
}
