/// One key of a manifest and its value, before any file has been looked at.
///
/// A field that could not be read is nil, and a finding reports it.
struct ManifestEntry: Sendable {
    let key: Located<String>
    var pattern: URLPattern?
    var file: Located<String>?
    var type: MediaType?
    /// Offset of the type's text.
    var typeOffset: Int?
    /// Name → value as the manifest gives them; a nil value removes the header.
    var headers: [String: String?] = [:]
    /// Offset of the headers.
    var headersOffset: Int?
    var query = QueryRule.exact
    var conditions: [Located<Substitution.Condition>] = []
    var until: Located<CalendarDay>?

    /// Whether `file` names a folder, by the "/" at its end.
    var namesFolder: Bool { file?.value.utf8.last == UInt8(ascii: "/") }

    init(key: Located<String>) {
        self.key = key
    }
}
