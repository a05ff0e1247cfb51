import Foundation

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

    /// Returns the object with the members of another one.
    package func with(_ more: JSONObject) -> JSONObject {
        var result = self
        result.members.merge(more.members) { $1 }
        return result
    }

    /// Returns the object as a line of JSON.
    package func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
