/// One key of a manifest and its value, before any file is looked up.
///
/// A value that could not be read counts as missing; a finding reports the mistake.
package struct ManifestEntry: Sendable {
    package let key: Located<String>
    package var pattern: URLPattern?
    package var file: Located<String>?
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

    /// The length of the header fields in each response, with 64 bytes for the place of each field in memory.
    var headerLength: Int { headers.reduce(0) { $0 + 64 + $1.key.utf8.count + ($1.value?.utf8.count ?? 0) } }

    /// True if `file` names a folder: it ends in "/".
    package var namesFolder: Bool { file?.value.utf8.last == UInt8(ascii: "/") }

    /// True if the entry has no field but `file`.
    package var isPlain: Bool {
        type == nil && headers.isEmpty && query == .exact && conditions.isEmpty && until == nil
    }

    init(key: Located<String>) {
        self.key = key
    }
}

/// A value from a manifest, with the offset of its first byte.
package struct Located<Value: Sendable>: Sendable {
    package let value: Value
    package let offset: Int
}
