import Foundation

/// The part of the reader that reads an entry's fields, such as `type` and `when`.
///
/// After a mistake, reading continues without the faulty value.
extension ManifestReader {
    /// The names of an entry's fields, except `$comment`, which has no meaning.
    package static let fieldNames = ["file", "type", "headers", "ignoreQuery", "when", "until"]

    /// Reads the fields of the object at `offset` into `entry`.
    mutating func readFields(_ fields: [JSONMember], at offset: Int, into entry: inout ManifestEntry) {
        reportDuplicates(fields) { $0 }
        // A field whose name could not be read may have been any field, even `file`.
        var hasFile = fields.contains(where: \.isUnreadable)
        var typeOffset = offset
        for field in fields where !field.isUnreadable {
            switch field.name {
            case "file":
                hasFile = true
                entry.file = readFile(field.value)
            case "type":
                typeOffset = field.nameOffset
                entry.type = readType(field.value)
                entry.typeOffset = field.value.offset
            case "headers":
                entry.headers = readHeaders(field.value)
                entry.headersOffset = field.value.offset
            case "ignoreQuery":
                entry.query = readQueryRule(field.value)
                entry.queryOffset = field.value.offset
            case "when": entry.conditions = readConditions(field.value)
            case "until": entry.until = readUntil(field.value)
            case "$comment": break
            default: error(.unknownField, field.nameOffset, "\(quoted(field.name)) is not a field of an entry")
            }
        }
        if !hasFile { error(.missingField, offset, "this entry has no \"file\"") }
        if entry.type != nil, entry.namesFolder {
            error(.badType, typeOffset, "\"type\" cannot apply to a whole folder")
        }
    }

    mutating func readFile(_ value: JSONValue) -> Located<String>? {
        guard let path = text(value, "\"file\" must be the file's name in quotation marks") else { return nil }
        guard let cause = Self.cause(against: path) else { return Located(value: path, offset: value.offset) }
        error(.badPath, value.offset, cause)
        return nil
    }

    /// Returns the reason why `path` is not a plain path below the manifest's folder; nil if it is one.
    private static func cause(against path: String) -> String? {
        let bytes = path.utf8
        if bytes.isEmpty { return "the file's name is empty" }
        if path == "./" { return nil }
        if bytes.contains(where: \.isControl) { return "\(quoted(path)) has a control character" }
        if bytes.contains(UInt8(ascii: "\\")) { return "\(quoted(path)) has a backslash" }
        let hasDrive = bytes.first?.isASCIILetter == true && bytes.dropFirst().first == UInt8(ascii: ":")
        if hasDrive || path.hasPrefix("~/") || path.lowercased().hasPrefix("file:") {
            return "\(quoted(path)) is a path on one computer"
        }
        if bytes.first == UInt8(ascii: "/") { return "\(quoted(path)) begins with \"/\"" }
        var parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        if parts.last?.isEmpty == true { parts.removeLast() }
        if parts.count > ManifestFolder.maximumDepth + 1 { return FileProblem.tooDeep.cause(of: path) }
        let isPlain = !parts.contains { ["", ".", ".."].contains($0) }
        return isPlain ? nil : "\(quoted(path)) has a part that is empty, \".\" or \"..\""
    }

    private mutating func readType(_ value: JSONValue) -> MediaType? {
        let rule = "\"type\" must be a media type in quotation marks, such as \"image/png\""
        guard let text = text(value, rule) else { return nil }
        if let type = MediaType(text), type.isConcrete { return type }
        error(.badType, value.offset, "\(quoted(text)) is not a media type")
        return nil
    }

    private mutating func readUntil(_ value: JSONValue) -> Located<CalendarDay>? {
        let rule = "\"until\" must be a day in quotation marks, such as \"2027-03-31\""
        guard let text = value.digits ?? text(value, rule) else { return nil }
        if let day = CalendarDay(text) { return Located(value: day, offset: value.offset) }
        error(.badDate, value.offset, "\(quoted(text)) is not a day from 2000 to 9999, written as YYYY-MM-DD")
        return nil
    }

    /// Returns the header fields that the response gets; a nil value removes a header field.
    private mutating func readHeaders(_ value: JSONValue) -> [String: String?] {
        guard let members = object(value, "\"headers\" must be an object") else { return [:] }
        // Names of header fields are case-insensitive.
        reportDuplicates(members) { $0.lowercased() }
        var headers: [String: String?] = [:]
        for member in members where !member.isUnreadable && member.name != "$comment" {
            let offset = member.value.offset
            // A name may hold all characters of a token (RFC 9110 §5.6.2); the message lists only the usual ones.
            guard !member.name.isEmpty, member.name.utf8.allSatisfy(\.isTokenCharacter) else {
                let cause = "is not a header name, which is letters, digits and hyphens"
                error(.badHeader, member.nameOffset, "\(quoted(member.name)) \(cause)")
                continue
            }
            if let reason = ReservedHeader.reason(for: member.name) {
                let cause = "\(quoted(member.name)) cannot be set here, because \(reason)"
                error(.reservedHeader, member.nameOffset, cause)
            } else if case .null = member.value.kind {
                if member.name.lowercased() == "access-control-allow-origin" {
                    headers[member.name] = .some(nil)
                } else {
                    error(.wrongKind, offset, "only \"Access-Control-Allow-Origin\" can be null, which removes it")
                }
            } else if let text = text(member.value, "the value of a header must be text in quotation marks") {
                if Self.isFieldValue(text) {
                    headers[member.name] = .some(text)
                } else {
                    let rule = "contain control characters, begin or end with a space, or have more than 8000 bytes"
                    error(.badHeader, offset, "\(quoted(text)) is not a header value; it must not \(rule)")
                }
            }
        }
        return headers
    }

    /// Returns whether the value is a `field-value` (RFC 9110 §5.5) for which Foundation does not take seconds.
    private static func isFieldValue(_ value: String) -> Bool {
        let bytes = value.utf8
        return bytes.count <= 8000 && bytes.allSatisfy { !$0.isControl || $0.isBlank }
            && bytes.first?.isBlank != true && bytes.last?.isBlank != true
    }

    private mutating func readQueryRule(_ value: JSONValue) -> QueryRule {
        if case .bool(let ignored) = value.kind { return ignored ? .any : .exact }
        guard case .array(let elements) = value.kind else {
            reportKind(of: value, "\"ignoreQuery\" must be true, false or a list of parameter names")
            return .exact
        }
        let maximum = QueryRule.maximumNames
        if elements.count > maximum {
            error(.badQueryRule, elements[maximum].offset, "\"ignoreQuery\" lists more than \(maximum) names")
        }
        var names: [ParameterName] = []
        for element in elements.prefix(maximum) {
            guard let written = text(element, "the name of a parameter must be text in quotation marks") else {
                continue
            }
            if !written.isEmpty, written.utf8.first != UInt8(ascii: "?"),
                !written.utf8.contains(where: { "&=#".utf8.contains($0) }), let name = try? ParameterName(written)
            {
                names.append(name)
            } else {
                error(.badQueryRule, element.offset, "\(quoted(written)) cannot be the name of a parameter")
            }
        }
        return .ignoring(anyOf: names)
    }

    private mutating func readConditions(_ value: JSONValue) -> [Located<Substitution.Condition>] {
        let values = if case .array(let elements) = value.kind { elements } else { [value] }
        if values.isEmpty { error(.badCondition, value.offset, "\"when\" is empty") }
        // A condition that is repeated adds nothing, so there are at most 263.
        var known: Set<Substitution.Condition> = []
        return values.compactMap { value in
            let condition: Substitution.Condition
            if let digits = value.digits {
                guard let status = value.wholeNumber, (400...599).contains(status) else {
                    let cause = "\(shortened(digits)) cannot be a condition, only 400 to 599 can"
                    error(.badCondition, value.offset, cause)
                    return nil
                }
                condition = .status(Int(status))
            } else {
                let rule = "a condition must be \"offline\", a status, \"4xx\", \"5xx\" or a time such as \"3s\""
                guard let word = text(value, rule) else { return nil }
                guard let named = Substitution.Condition.words[word] else {
                    error(.badCondition, value.offset, "\(quoted(word)) is not a condition")
                    return nil
                }
                condition = named
            }
            return known.insert(condition).inserted ? Located(value: condition, offset: value.offset) : nil
        }
    }
}

/// The header fields that a manifest may not set.
package enum ReservedHeader {
    /// Returns the reason why a manifest may not set the header field; nil if it may.
    ///
    /// Names are case-insensitive.
    static func reason(for name: String) -> String? { reasons[name.lowercased()] }

    /// The names of all these header fields, in lower case.
    package static var names: [String] { reasons.keys.sorted() }

    private static let reasons = [
        "the library computes it": "content-length content-range accept-ranges etag cache-control cache-status",
        "URL loading would refuse the response, now or later":
            "expires pragma age date vary www-authenticate proxy-authenticate",
        "it describes a connection, and a file has none":
            "transfer-encoding connection trailer keep-alive upgrade te proxy-connection",
        "the field \"type\" sets it": "content-type",
        "a client would send it to the real server": "last-modified",
        "the bytes are delivered as they are, and nothing would decode them": "content-encoding",
        "a file has no session, and the cookie would replace the server's": "set-cookie",
        "a file does not redirect": "location",
    ].reduce(into: [String: String]()) { reasons, group in
        for name in group.value.split(separator: " ") { reasons[String(name)] = group.key }
    }
}
