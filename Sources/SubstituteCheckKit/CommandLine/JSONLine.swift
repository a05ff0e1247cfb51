import Foundation

/// One JSON text on a line.
enum JSONLine {
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// A JSON object for the output of a command; it has no member for a value that is nil.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private struct Member: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    private var members: [String: Member] = [:]

    package init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        for (name, value) in members { self.members[name] = value.map(Member.init) }
    }

    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
