import Foundation

/// A JSON value and the offset at which it begins.
///
/// Foundation's JSON readers report no positions and silently keep one of two duplicate keys. So ``JSONParser`` reads
/// the manifest into this type.
package struct JSONValue: Sendable {
    package enum Kind: Sendable {
        case null
        case bool(Bool)
        /// The digits as written: a manifest needs no arithmetic, and messages quote what the designer typed.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// The members in the order of the file, duplicates included.
        case object([JSONMember])
        /// A value that could not be read; the document already has an error for it, so other code reports none.
        case unreadable
    }

    package let kind: Kind
    /// The offset of the value's first byte.
    package let offset: Int

    package init(kind: Kind, offset: Int) {
        (self.kind, self.offset) = (kind, offset)
    }

    /// The digits of a number; nil for anything else.
    package var digits: String? {
        if case .number(let digits) = kind { return digits }
        return nil
    }

    /// The number if it is whole; nil for anything else.
    ///
    /// In JSON, 12, 12.0 and 1.2e1 are one number.
    var wholeNumber: Int64? {
        guard let digits, let number = Double(digits).flatMap(Int64.init(exactly:)) else { return nil }
        // `Double` rounds, so the significant digits must be equal, too.
        let written = digits.prefix { !"eE".contains($0) }.filter(\.isNumber).trimmingCharacters(in: ["0"])
        return written == String(number.magnitude).trimmingCharacters(in: ["0"]) ? number : nil
    }

    /// The kind in words for messages, such as "a list" (with the article) or "null".
    package var article: String {
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
    /// The offset of the name's opening quotation mark.
    package let nameOffset: Int
    package let value: JSONValue

    package init(name: String, nameOffset: Int, value: JSONValue) {
        (self.name, self.nameOffset, self.value) = (name, nameOffset, value)
    }

    /// True if not even the member's name could be read.
    package var isUnreadable: Bool {
        guard name.isEmpty, case .unreadable = value.kind else { return false }
        return true
    }
}

/// A parsed JSON text: everything that could be read, and every error found.
package struct JSONDocument: Sendable {
    /// The root value; if there are errors, parts of it may be of the kind ``JSONValue/Kind/unreadable``.
    package let value: JSONValue
    /// The errors in the order in which the parser found them.
    package let errors: [JSONSyntaxError]

    package init(value: JSONValue, errors: [JSONSyntaxError]) {
        (self.value, self.errors) = (value, errors)
    }

    /// True if the text is JSON (RFC 8259).
    package var isValid: Bool { errors.isEmpty }
}

/// An error in the text of a JSON file, and its offset.
package struct JSONSyntaxError: Error, Equatable {
    package enum Kind {
        case syntax
        /// Letters follow a number directly, as in `12px`.
        case word
        case encoding
        case nesting
        /// The text ends while brackets are still open.
        case end
    }

    package let offset: Int
    package let kind: Kind
    package let message: String

    package init(offset: Int, kind: Kind, message: String) {
        (self.offset, self.kind, self.message) = (offset, kind, message)
    }
}
