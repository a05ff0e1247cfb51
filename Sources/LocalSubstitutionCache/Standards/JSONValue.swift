/// A JSON value and the place where it begins.
///
/// Foundation's JSON readers report no positions and keep one of two duplicate keys in silence, so the manifest is read
/// with ``JSONParser`` into this.
package struct JSONValue: Sendable {
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        /// The digits as written: the manifest knows no arithmetic, and a message quotes what was typed.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// Members in the order of the file, duplicates included.
        case object([JSONMember])
        /// Something that could not be read; an error tells what is wrong with it, so nobody else has to.
        case unreadable
    }

    package let kind: Kind
    /// Offset of the value's first byte.
    package let offset: Int

    package init(kind: Kind, offset: Int) {
        (self.kind, self.offset) = (kind, offset)
    }

    /// The digits of a number; nil for anything else.
    var digits: String? {
        if case .number(let digits) = kind { return digits }
        return nil
    }

    /// The kind with its article, for messages.
    var article: String {
        switch kind {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        case .unreadable: "unreadable"
        }
    }
}

/// One `"name": value` of a JSON object.
package struct JSONMember: Sendable {
    package let name: String
    /// Offset of the name's opening quotation mark.
    package let nameOffset: Int
    package let value: JSONValue

    package init(name: String, nameOffset: Int, value: JSONValue) {
        (self.name, self.nameOffset, self.value) = (name, nameOffset, value)
    }

    /// Whether even the name could not be read.
    package var isLost: Bool {
        guard name.isEmpty, case .unreadable = value.kind else { return false }
        return true
    }
}

/// A JSON text as far as it could be read, with everything that is wrong with it.
package struct JSONDocument: Sendable {
    /// What is unreadable in it is marked so; without errors nothing is.
    package let value: JSONValue
    /// In the order in which they were met.
    package let errors: [JSONSyntaxError]
    /// Whether the text begins with U+FEFF, which RFC 8259 §8.1 allows to skip and forbids to write.
    let hasByteOrderMark: Bool

    package init(value: JSONValue, errors: [JSONSyntaxError], hasByteOrderMark: Bool) {
        (self.value, self.errors, self.hasByteOrderMark) = (value, errors, hasByteOrderMark)
    }

    /// Whether the text is JSON (RFC 8259).
    package var isValid: Bool { errors.isEmpty }
}

/// What is wrong with the text of a JSON file, and where.
package struct JSONSyntaxError: Error, Equatable {
    package enum Kind {
        case syntax
        /// A number goes on as a word.
        case word
        case encoding
        case nesting
        /// Brackets are open at the end.
        case end
    }

    package let offset: Int
    package let kind: Kind
    package let message: String

    package init(offset: Int, kind: Kind, message: String) {
        (self.offset, self.kind, self.message) = (offset, kind, message)
    }
}
