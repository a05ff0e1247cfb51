/// A JSON value and the place where it begins.
///
/// Foundation's JSON readers report no positions and keep one of two duplicate keys in silence, so the manifest is read
/// with ``JSONParser`` into this.
struct JSONValue: Sendable {
    enum Kind: Sendable {
        case null
        case bool(Bool)
        /// The digits as written: the manifest knows no arithmetic, and a message quotes what was typed.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// Members in the order of the file, duplicates included.
        case object([JSONMember])
    }

    let kind: Kind
    /// Offset of the value's first byte.
    let offset: Int

    /// The kind with its article, for messages.
    var article: String {
        switch kind {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// One `"name": value` of a JSON object.
struct JSONMember: Sendable {
    let name: String
    /// Offset of the name's opening quotation mark.
    let nameOffset: Int
    let value: JSONValue
}
