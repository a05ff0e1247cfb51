/// One key of a manifest and its value, before any file is looked up.
///
/// A value that could not be read counts as missing; a finding reports the mistake.
@dynamicMemberLookup
package struct ManifestEntry: Sendable {
    package let key: Located<String>
    package var pattern: URLPattern?
    package var file: Located<String>?
    /// The other fields; empty if there are none, so that most entries hold no memory for them.
    private var fields: [Fields] = []

    /// The fields that few entries have.
    package struct Fields: Sendable {
        package var type: MediaType?
        /// The offset of the value of `type`.
        package var typeOffset: Int?
        /// The header fields' values by name, as the manifest gives them; a nil value removes the field.
        package var headers: [String: String?] = [:]
        /// The offset of the value of `headers`.
        package var headersOffset: Int?
        package var query = QueryRule.exact
        /// The offset of the value of `ignoreQuery`.
        package var queryOffset: Int?
        package var conditions: [Located<Substitution.Condition>] = []
        package var until: Located<CalendarDay>?

        fileprivate static let none = Fields()
    }

    /// The length of the header fields in each response, with 64 bytes for the place of each field in memory.
    var headerLength: Int { self.headers.reduce(0) { $0 + 64 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) } }

    /// True if `file` names a folder: it ends in "/".
    package var namesFolder: Bool { file?.value.utf8.last == UInt8(ascii: "/") }

    /// True if the entry has no field but `file`.
    package var isPlain: Bool {
        self.type == nil && self.headers.isEmpty && self.query == .exact && self.conditions.isEmpty
            && self.until == nil
    }

    package init(key: Located<String>) {
        self.key = key
    }

    package subscript<Value>(dynamicMember field: WritableKeyPath<Fields, Value>) -> Value {
        get { fields.isEmpty ? Fields.none[keyPath: field] : fields[0][keyPath: field] }
        set {
            if fields.isEmpty { fields = [.none] }
            fields[0][keyPath: field] = newValue
        }
    }
}

/// A value from a manifest, with the offset of its first byte.
package struct Located<Value: Sendable>: Sendable {
    package let value: Value
    package let offset: Int
}
