import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// One copy of an ``OfflineArchive``; its file is a line of ASCII text, a head in JSON, and the body.
struct ArchivedCopy: Codable {
    /// The requested URL, normalised by ``URLIdentity``.
    let url: String
    /// The URL of the response, after redirects.
    let responseURL: String
    /// The header fields of the response, without `Set-Cookie`.
    let fields: [String: String]
    var date = Date()
    /// The `$version` of the manifest when the load began.
    let version: Int64
    /// The body as URL loading delivered it.
    var body = Data()

    private enum CodingKeys: CodingKey {
        case url, responseURL, fields, date, version
    }
}

extension ArchivedCopy {
    /// Returns the content of the copy's file.
    func encoded() throws -> Data {
        let head = try JSONEncoder().encode(self)
        return Self.line(head, body) + head + Data("\n".utf8) + body
    }

    /// Reads the content of a file; nil if any byte of it is damaged.
    init?(decoding data: Data) {
        let parts = data.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // These values are copies and not slices, so their indices begin at 0.
        let (head, body) = (Data(parts[1]), Data(parts[2]))
        guard Self.line(head, body).dropLast() == parts[0], Self.isReadable(head),
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

    /// Returns the line before a head and a body, with their checksum.
    static func line(_ head: Data, _ body: Data) -> Data {
        var checksum = FNV1a()
        checksum.combine(head)
        checksum.combine(body)
        return Data("LocalSubstitutionCache copy 3 \(checksum)\n".utf8)
    }
}
