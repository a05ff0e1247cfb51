import Foundation

/// The part of the reader that reads an entry's fields, such as `type` and `when`.
///
/// Each mistake is recorded as an error, and reading usually continues without the faulty value. A value of the kind
/// `unreadable` is skipped, since the JSON parser has reported it. `advice` guesses what the designer meant, and is nil
/// in an app. The `error` method with the parameter `otherwise` ends its message with the advice's remedy, if there is
/// one, and with `otherwise` if there is none.
extension ManifestReader {
    /// The names of an entry's fields, except `$comment`, which has no meaning.
    package static let fieldNames = ["file", "type", "headers", "ignoreQuery", "when", "until"]

    /// Reads the fields of the object at `offset` into `entry`.
    mutating func readFields(_ fields: [JSONMember], at offset: Int, into entry: inout ManifestEntry) {
        reportDuplicates(fields) { $0 }
        // A field whose name could not be read may have been any field, even `file`.
        var hasFile = fields.contains(where: \.isUnreadable)
        // The offset of the name `type`, if there is one; `entry.typeOffset` is the offset of the value.
        var typeOffset = offset
        // If the object looks like the content of a JSON file, its author should have written that file's name here.
        if advice?.isFileContent(fields) == true {
            error(
                .missingField,
                offset,
                "an entry names a file; if this is the content itself, save it in a file, and name that file"
            )
            return
        }
        for field in fields where !field.isUnreadable {
            switch field.name {
            case "file":
                hasFile = true
                guard let path = string(field, as: "the file's name in quotation marks") else { continue }
                entry.file = readFile(path, field.value.offset)
            case "type":
                typeOffset = field.nameOffset
                guard let text = string(field, as: "a media type in quotation marks, such as \"image/png\"") else {
                    continue
                }
                entry.type = readType(text, field.value.offset)
                entry.typeOffset = field.value.offset
            case "headers":
                entry.headers = readHeaders(field)
                entry.headersOffset = field.value.offset
            case "ignoreQuery":
                entry.query = readQueryRule(field)
                entry.queryOffset = field.value.offset
            case "when":
                entry.conditions = readConditions(field)
            case "until":
                entry.until = readUntil(field)
            case "$comment":
                break
            default:
                let diagnosis = advice?.diagnosis(of: field, among: fields, of: entry.key.value)
                let names = Self.fieldNames.map { "\"\($0)\"" }.joined(separator: ", ")
                error(
                    .unknownField,
                    field.nameOffset,
                    diagnosis?.message ?? "\(quoted(field.name)) is not a field of an entry; the fields are \(names)"
                )
                switch diagnosis?.kind {
                case .other, nil: break
                case .file: hasFile = true
                case .nextEntry:
                    hasNestedKey = true
                    // The entry's closing bracket is missing, so all that follows are entries, not fields.
                    return
                }
            }
        }
        if !hasFile {
            error(
                .missingField,
                offset,
                "this entry has no \"file\"; add the file that answers, such as \"file\": \"img/logo.png\""
            )
        }
        if entry.type != nil, entry.namesFolder {
            error(
                .badType,
                typeOffset,
                "\"type\" cannot apply to a whole folder; remove it, and give single files their own entries"
            )
        }
    }

    private mutating func readType(_ text: String, _ offset: Int) -> MediaType? {
        if let type = MediaType(text), type.isConcrete { return type }
        error(
            .badType,
            offset,
            "\(quoted(text)) is not a media type",
            .type(text),
            otherwise: "write one, such as \"image/png\", or remove \"type\" to go by the file's extension"
        )
        return nil
    }

    private mutating func readDay(_ text: String, _ offset: Int) -> Located<CalendarDay>? {
        if let day = CalendarDay(text) { return Located(value: day, offset: offset) }
        if CalendarDay.isWritten(as: text) {
            error(.badDate, offset, "there is no such day as \(quoted(text)) (YYYY-MM-DD)")
        } else {
            error(
                .badDate,
                offset,
                "\(quoted(text)) is not a day in the form YYYY-MM-DD",
                .day(text),
                otherwise: "write one, such as \"2027-03-31\""
            )
        }
        return nil
    }

    private mutating func readUntil(_ field: JSONMember) -> Located<CalendarDay>? {
        // A number is not a day. But from a number such as 20270331, the advice can guess the day that was meant.
        if case .number(let digits) = field.value.kind { return readDay(digits, field.value.offset) }
        guard let text = string(field, as: "a day in quotation marks, such as \"2027-03-31\"") else { return nil }
        return readDay(text, field.value.offset)
    }

    /// Returns the header fields that the response gets; a nil value removes a header field.
    private mutating func readHeaders(_ field: JSONMember) -> [String: String?] {
        if case .unreadable = field.value.kind { return [:] }
        guard case .object(let members) = field.value.kind else {
            error(
                .wrongKind,
                field.value.offset,
                "\"headers\" must be an object, not \(field.value.article)",
                .headers(field.value),
                otherwise: "write { \"Name\": \"value\" }"
            )
            return [:]
        }
        // Names of header fields are case-insensitive.
        reportDuplicates(members) { $0.lowercased() }
        var headers: [String: String?] = [:]
        for member in members where !member.isUnreadable && member.name != "$comment" {
            // A name may hold all characters of a token (RFC 9110 §5.6.2); the message lists only the usual ones.
            guard !member.name.isEmpty, member.name.utf8.allSatisfy(\.isTokenCharacter) else {
                error(
                    .badHeader,
                    member.nameOffset,
                    "\(quoted(member.name)) is not a header name, which is letters, digits and hyphens",
                    .headerName(member.name)
                )
                continue
            }
            if let reason = ReservedHeader.reason(for: member.name) {
                error(
                    .reservedHeader,
                    member.nameOffset,
                    "\(quoted(member.name)) cannot be set here, because \(reason); remove it"
                )
                continue
            }
            switch member.value.kind {
            case .string(let value):
                guard Self.isFieldValue(value) else {
                    error(
                        .badHeader,
                        member.value.offset,
                        "\(quoted(value)) is not a header value; "
                            + "it must not contain control characters, or begin or end with a space"
                    )
                    continue
                }
                headers[member.name] = .some(value)
            case .null where member.name.lowercased() == "access-control-allow-origin":
                headers[member.name] = .some(nil)
            case .null:
                error(
                    .wrongKind,
                    member.value.offset,
                    "only \"Access-Control-Allow-Origin\" can be null, which removes it; remove \(quoted(member.name))"
                )
            case .unreadable:
                continue
            default:
                error(
                    .wrongKind,
                    member.value.offset,
                    "the value of a header must be text in quotation marks, not \(member.value.article)"
                        + (member.value.digits.map { "; write \"\($0)\"" } ?? "")
                )
            }
        }
        return headers
    }

    /// Returns whether the value is a `field-value` (RFC 9110 §5.5).
    private static func isFieldValue(_ value: String) -> Bool {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let bytes = value.utf8
        return bytes.allSatisfy { !$0.isControl || $0 == UInt8(ascii: "\t") }
            && !(bytes.first.map(isSpace) ?? false) && !(bytes.last.map(isSpace) ?? false)
    }

    private mutating func readQueryRule(_ field: JSONMember) -> QueryRule {
        switch field.value.kind {
        case .bool(let ignored):
            return ignored ? .any : .exact
        case .array(let elements):
            if elements.count > QueryRule.maximumNames {
                error(
                    .badQueryRule,
                    elements[QueryRule.maximumNames].offset,
                    "\"ignoreQuery\" lists more than \(QueryRule.maximumNames) names; write names that begin alike as one, "
                        + "such as \"utm_*\", or write true to ignore the whole query"
                )
            }
            var names: [ParameterName] = []
            for element in elements.prefix(QueryRule.maximumNames) {
                if case .unreadable = element.kind { continue }
                guard case .string(let written) = element.kind else {
                    error(
                        .wrongKind,
                        element.offset,
                        "the name of a parameter must be text in quotation marks, not \(element.article)"
                    )
                    continue
                }
                guard !written.isEmpty, written.utf8.first != UInt8(ascii: "?"),
                    !written.utf8.contains(where: { "&=#".utf8.contains($0) }),
                    let name = try? ParameterName(written)
                else {
                    error(
                        .badQueryRule,
                        element.offset,
                        "\(quoted(written)) cannot be the name of a parameter",
                        .parameterName(written),
                        otherwise: "write it as in the URL, without \"=\""
                    )
                    continue
                }
                names.append(name)
            }
            return .ignoring(anyOf: names)
        case .unreadable:
            return .exact
        default:
            error(
                .wrongKind,
                field.value.offset,
                "\"ignoreQuery\" must be true, false or a list of parameter names, not \(field.value.article)",
                .queryRule(field.value)
            )
            return .exact
        }
    }

    private mutating func readConditions(_ field: JSONMember) -> [Located<Substitution.Condition>] {
        let values: [JSONValue]
        if case .array(let elements) = field.value.kind {
            values = elements
            if elements.isEmpty {
                error(
                    .badCondition,
                    field.value.offset,
                    "\"when\" is empty; name a condition, such as \"offline\", or leave \"when\" out"
                )
            }
        } else {
            values = [field.value]
        }
        // A condition that is repeated adds nothing, so there are at most 203.
        var known: Set<Substitution.Condition> = []
        return values.compactMap { value in
            switch value.kind {
            case .number(let digits):
                // In JSON, 404, 404.0 and 4.04e2 are the same number.
                if let status = Double(digits).flatMap(Int.init(exactly:)), (400...599).contains(status) {
                    return Located(value: .status(status), offset: value.offset)
                }
                error(
                    .badCondition,
                    value.offset,
                    "\(shortened(digits)) cannot be a condition, only 400 to 599 can; for a file that always answers, leave \"when\" out"
                )
            case .string(let word):
                if let condition = Substitution.Condition.words[word] {
                    return Located(value: condition, offset: value.offset)
                }
                error(
                    .badCondition,
                    value.offset,
                    "\(quoted(word)) is not a condition",
                    .condition(word),
                    otherwise: "write \"offline\", a status as a number, \"4xx\" or \"5xx\""
                )
            case .unreadable:
                break
            default:
                error(
                    .wrongKind,
                    value.offset,
                    "a condition must be \"offline\", a status, \"4xx\" or \"5xx\", not \(value.article)"
                )
            }
            return nil
        }
        .filter { known.insert($0.value).inserted }
    }
}
