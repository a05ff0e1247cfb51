/// One key of a manifest and its value, before any file is looked up.
///
/// A field that could not be read is nil, and a finding reports it.
package struct ManifestEntry: Sendable {
    package let key: Located<String>
    package var pattern: URLPattern?
    package var file: Located<String>?
    package var type: MediaType?
    /// The offset of the type's text.
    package var typeOffset: Int?
    /// Name → value, as the manifest gives them; a nil value removes the header field.
    package var headers: [String: String?] = [:]
    /// The offset of the headers.
    package var headersOffset: Int?
    package var query = QueryRule.exact
    package var conditions: [Located<Substitution.Condition>] = []
    package var until: Located<CalendarDay>?

    /// True if `file` ends in "/", and so names a folder.
    package var namesFolder: Bool { file?.value.utf8.last == UInt8(ascii: "/") }

    init(key: Located<String>) {
        self.key = key
    }
}
