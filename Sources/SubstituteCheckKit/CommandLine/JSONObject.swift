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
