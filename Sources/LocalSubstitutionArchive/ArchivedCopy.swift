import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One copy of an ``OfflineArchive``; its file is a property list behind a line with the list's checksum.
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
    let body: Data

    /// Returns the content of the copy's file.
    func encoded() throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let list = try encoder.encode(self)
        return Self.line(list) + list
    }

    /// Reads the content of a file; nil if any byte of it is damaged.
    init?(decoding data: Data) {
        let list = data.dropFirst(Self.line(Data()).count)
        guard Self.line(list) + list == data, let copy = try? PropertyListDecoder().decode(Self.self, from: list)
        else { return nil }
        self = copy
    }

    init(url: String, responseURL: String, fields: [String: String], version: Int64, body: Data) {
        (self.url, self.responseURL, self.fields, self.version, self.body) = (url, responseURL, fields, version, body)
        date = Date()
    }

    private static func line(_ list: Data) -> Data {
        var checksum = FNV1a()
        checksum.combine(list)
        return Data("LocalSubstitutionCache copy 2 \(checksum)\n".utf8)
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
