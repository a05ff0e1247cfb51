import Foundation

/// The fields of an entry, each read by a function of its own.
extension ManifestReader {
    mutating func readFields(_ fields: [JSONMember], at offset: Int, into entry: inout ManifestEntry) {
        let known = ["file", "type", "headers", "ignoreQuery", "when", "until"]
        reportDuplicates(fields) { $0 }
        var hasFile = false
        var typeOffset = offset
        for field in fields {
            switch field.name {
            case "file":
                hasFile = true
                guard let path = string(field) else { continue }
                entry.file = readFile(path, field.value.offset)
            case "type":
                typeOffset = field.nameOffset
                guard let text = string(field) else { continue }
                entry.type = readType(text, field.value.offset)
            case "headers":
                entry.headers = readHeaders(field)
            case "ignoreQuery":
                entry.query = readQueryRule(field)
            case "when":
                entry.conditions = readConditions(field)
            case "until":
                guard let text = string(field) else { continue }
                guard let day = CalendarDay(text) else {
                    error(
                        .badDate,
                        field.value.offset,
                        "\(quoted(text)) is not a day; write it as YYYY-MM-DD, such as \"2027-03-31\""
                    )
                    continue
                }
                entry.until = Located(value: day, offset: field.value.offset)
            default:
                let meant = suggestion(for: field.name, among: known).map { "did you mean \"\($0)\"?" }
                error(
                    .unknownField,
                    field.nameOffset,
                    "\(quoted(field.name)) is not a field of an entry; "
                        + (meant ?? "the fields are " + known.map { "\"\($0)\"" }.joined(separator: ", "))
                )
            }
        }
        if !hasFile {
            error(.missingField, offset, "this entry has no \"file\"; name the file that answers")
        }
        if entry.type != nil, entry.namesFolder {
            error(
                .badType,
                typeOffset,
                "a folder holds files of many types, so it has no \"type\"; give single files entries of their own"
            )
        }
    }

    mutating func readFile(_ path: String, _ offset: Int) -> Located<String>? {
        if let problem = Self.problem(inPath: path) {
            error(.badPath, offset, problem)
            return nil
        }
        return Located(value: path, offset: offset)
    }

    /// Why `path` is not a plain path below the manifest's folder; nil when it is.
    private static func problem(inPath path: String) -> String? {
        let bytes = path.utf8
        if bytes.isEmpty { return "the name of the file is empty" }
        if path == "./" { return nil }
        if bytes.contains(where: \.isControl) { return "\(quoted(path)) holds a control character" }
        if bytes.contains(UInt8(ascii: "\\")) {
            return "\(quoted(path)) holds a backslash; write \"/\" between folders"
        }
        if bytes.first == UInt8(ascii: "/") {
            return "\(quoted(path)) is absolute; name the file as it is reached from the manifest's folder"
        }
        var segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        if segments.last?.isEmpty == true { segments.removeLast() }
        if segments.count > ManifestFolder.maximumDepth { return FileProblem.tooDeep.reason(for: path) }
        if segments.contains("..") {
            return "\(quoted(path)) leaves the manifest's folder by \"..\"; put the file below the folder"
        }
        if segments.contains(".") { return "\(quoted(path)) holds a \".\" segment; leave it out" }
        if segments.contains("") { return "\(quoted(path)) holds \"//\"; write a single \"/\"" }
        return nil
    }

    private mutating func readType(_ text: String, _ offset: Int) -> MediaType? {
        guard let type = MediaType(text) else {
            error(.badType, offset, "\(quoted(text)) is not a media type; one looks like \"image/png\"")
            return nil
        }
        return type
    }

    private mutating func readHeaders(_ field: JSONMember) -> [String: String?] {
        guard case .object(let members) = field.value.kind else {
            error(
                .wrongKind,
                field.value.offset,
                "\"headers\" is an object of names and values, not \(field.value.article)"
            )
            return [:]
        }
        reportDuplicates(members) { $0.lowercased() }
        var headers: [String: String?] = [:]
        for member in members {
            guard !member.name.isEmpty, member.name.utf8.allSatisfy(\.isTokenCharacter) else {
                error(.badHeader, member.nameOffset, "\(quoted(member.name)) is not a header name (RFC 9110 §5.1)")
                continue
            }
            if let reason = ReservedHeader.reason(for: member.name) {
                error(.reservedHeader, member.nameOffset, "\(quoted(member.name)) cannot be set here: \(reason)")
                continue
            }
            switch member.value.kind {
            case .string(let value):
                guard Self.isFieldValue(value) else {
                    error(
                        .badHeader,
                        member.value.offset,
                        "\(quoted(value)) is not a header value; "
                            + "it may hold no control characters, and no space at its ends (RFC 9110 §5.5)"
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
                    "null removes a header, and only \"Access-Control-Allow-Origin\" can be removed"
                )
            default:
                error(
                    .wrongKind,
                    member.value.offset,
                    "the value of a header is a string, not \(member.value.article)"
                )
            }
        }
        return headers
    }

    /// `field-value` of RFC 9110 §5.5.
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
            var names: [ParameterNames.Name] = []
            for element in elements {
                guard case .string(let written) = element.kind else {
                    error(.wrongKind, element.offset, "the name of a parameter is a string, not \(element.article)")
                    continue
                }
                guard !written.isEmpty, !written.utf8.contains(where: { "&=#".utf8.contains($0) }),
                    let name = try? ParameterNames.Name(written)
                else {
                    error(
                        .badQueryRule,
                        element.offset,
                        "\(quoted(written)) cannot be the name of a parameter; write it as in the URL, without \"=\""
                    )
                    continue
                }
                names.append(name)
            }
            return .ignoring(ParameterNames(names))
        default:
            error(
                .wrongKind,
                field.value.offset,
                "\"ignoreQuery\" is true, false or a list of parameter names, not \(field.value.article)"
            )
            return .exact
        }
    }

    private mutating func readConditions(_ field: JSONMember) -> [Located<Substitution.Condition>] {
        let values: [JSONValue]
        if case .array(let elements) = field.value.kind {
            values = elements
            if elements.isEmpty {
                error(.badCondition, field.value.offset, "\"when\" is empty; name a condition, or leave it out")
            }
        } else {
            values = [field.value]
        }
        return values.compactMap { value in
            switch value.kind {
            case .number(let digits):
                // JSON does not tell 404 from 404.0 or 4.04e2.
                if let status = Double(digits).flatMap(Int.init(exactly:)), (400...599).contains(status) {
                    return Located(value: .status(status), offset: value.offset)
                }
                error(
                    .badCondition,
                    value.offset,
                    "\(shortened(digits)) is not a condition; a status is a number from 400 to 599"
                )
            case .string(let word):
                if let condition = Substitution.Condition.words[word] {
                    return Located(value: condition, offset: value.offset)
                }
                let meant = suggestion(for: word, among: Substitution.Condition.words.keys).map {
                    "; did you mean \"\($0)\"?"
                }
                error(
                    .badCondition,
                    value.offset,
                    "\(quoted(word)) is not a condition"
                        + (meant ?? "; write \"offline\", a status as a number, \"4xx\" or \"5xx\"")
                )
            default:
                error(
                    .wrongKind,
                    value.offset,
                    "a condition is \"offline\", a status, \"4xx\" or \"5xx\", not \(value.article)"
                )
            }
            return nil
        }
    }
}
