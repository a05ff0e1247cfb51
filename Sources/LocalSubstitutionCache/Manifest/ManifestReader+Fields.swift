import Foundation

/// The fields of an entry, each read by a function of its own.
extension ManifestReader {
    mutating func readFields(_ fields: [JSONMember], at offset: Int, into entry: inout ManifestEntry) {
        let known = ["file", "type", "headers", "ignoreQuery", "when", "until"]
        // What people call them elsewhere.
        let synonyms = [
            "path": "file", "src": "file", "source": "file", "url": "file", "href": "file", "name": "file",
            "filename": "file", "mime": "type", "mimetype": "type", "contenttype": "type", "content-type": "type",
            "mediatype": "type", "query": "ignoreQuery", "ignoreparameters": "ignoreQuery", "expires": "until",
            "end": "until", "date": "until", "if": "when", "condition": "when", "status": "when",
        ]
        reportDuplicates(fields) { $0 }
        // A field whose name is lost may have been any.
        var hasFile = fields.contains(where: \.isLost)
        var typeOffset = offset
        let isAnswer = Self.isAnswer(fields) { synonyms[$0.lowercased()] ?? suggestion(for: $0, among: known) }
        if isAnswer {
            error(
                .missingField,
                offset,
                "an entry names a file; if this is the answer itself, write it into a file, and name that"
            )
            return
        }
        for field in fields where !field.isLost {
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
            case "when":
                entry.conditions = readConditions(field)
            case "until":
                entry.until = readUntil(field)
            case "$comment":
                break
            default:
                if let problem = CommentName.problem(of: field.name, field.value) {
                    error(.unknownField, field.nameOffset, problem)
                    continue
                }
                if Self.isKey(field.name) {
                    error(
                        .unknownField,
                        field.nameOffset,
                        "the entry before \(quoted(field.name)) is not closed; write \"}\" before the comma in front of it"
                    )
                    hasNestedKey = true
                    // What follows belongs to other entries, too.
                    return
                }
                if case .string(let url) = field.value.kind, Self.isKey(url),
                    fields.contains(where: { $0.name == "file" })
                {
                    error(
                        .unknownField,
                        field.nameOffset,
                        "the URL is the name of the entry; remove \(quoted(field.name))"
                            + (url == entry.key.value ? "" : ", or write \(quoted(url, limit: 1000)) before the \"{\"")
                    )
                    continue
                }
                if field.name.hasPrefix("/"), Self.isKey(entry.key.value) {
                    hasFile = true
                    let server = entry.key.value.reversed().drop { $0 == "/" }.reversed()
                    error(
                        .unknownField,
                        field.nameOffset,
                        "each URL is written whole, as an entry of its own; write "
                            + "\(quoted(String(server) + field.name, limit: 1000)) outside of these { }"
                    )
                    continue
                }
                let meant = synonyms[field.name.lowercased()] ?? suggestion(for: field.name, among: known)
                if meant == "file" { hasFile = true }
                error(
                    .unknownField,
                    field.nameOffset,
                    "\(quoted(field.name)) is not a field of an entry; "
                        + (meant.map { "did you mean \"\($0)\"?" }
                            ?? "the fields are " + known.map { "\"\($0)\"" }.joined(separator: ", "))
                )
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
                "remove \"type\": a folder holds files of many types; give single files entries of their own"
            )
        }
    }

    /// True for an object that is the content of a file.
    ///
    /// Its names resemble no field's name, and its values name no file.
    private static func isAnswer(_ fields: [JSONMember], _ field: (String) -> String?) -> Bool {
        fields.count > 1
            && fields.allSatisfy { member in
                if case .string(let text) = member.value.kind, text.contains(where: { "./".contains($0) }) {
                    return false
                }
                return !member.isLost && !member.name.contains("/") && !member.name.hasPrefix("$")
                    && CommentName.problem(of: member.name, member.value) == nil && field(member.name) == nil
            }
    }

    private mutating func readType(_ text: String, _ offset: Int) -> MediaType? {
        if let type = MediaType(text), type.isConcrete { return type }
        let word = text.split(separator: ".").last.map(String.init) ?? ""
        // A charset behind something else than a semicolon.
        let mended = text.replacing(/[, ]+charset/, with: "; charset")
        let meant =
            MediaType(fileName: "x.\(word)").map { "write \(quoted($0.essence))" }
            ?? (MediaType(mended)?.isConcrete == true ? "write \(quoted(mended))" : nil)
        error(
            .badType,
            offset,
            "\(quoted(text)) is not a media type; \(meant ?? "one looks like \"image/png\"; without \"type\", the file's extension decides")"
        )
        return nil
    }

    private mutating func readDay(_ text: String, _ offset: Int) -> Located<CalendarDay>? {
        if let day = CalendarDay(text) { return Located(value: day, offset: offset) }
        // A day with a time behind it, as programs write both.
        let day = text.dropFirst(10).first.map { "T ".contains($0) } ?? false ? String(text.prefix(10)) : text
        let meant = (CalendarDay(day).map { [$0] } ?? CalendarDay.days(meantBy: day)).map { "\"\($0)\"" }
        let isWritten = text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
        error(
            .badDate,
            offset,
            isWritten
                ? "there is no such day as \(quoted(text)) (YYYY-MM-DD)"
                : "\(quoted(text)) is not a day as a manifest writes it; write "
                    + (meant.isEmpty ? "YYYY-MM-DD, such as \"2027-03-31\"" : meant.joined(separator: " or "))
        )
        return nil
    }

    private mutating func readUntil(_ field: JSONMember) -> Located<CalendarDay>? {
        if case .number(let digits) = field.value.kind { return readDay(digits, field.value.offset) }
        guard let text = string(field, as: "a day in quotation marks, such as \"2027-03-31\"") else { return nil }
        return readDay(text, field.value.offset)
    }

    private mutating func readHeaders(_ field: JSONMember) -> [String: String?] {
        if case .unreadable = field.value.kind { return [:] }
        guard case .object(let members) = field.value.kind else {
            error(
                .wrongKind,
                field.value.offset,
                "\"headers\" is not \(field.value.article); write \(header(in: field.value) ?? "{ \"Name\": \"value\" }")"
            )
            return [:]
        }
        reportDuplicates(members) { $0.lowercased() }
        var headers: [String: String?] = [:]
        for member in members where !member.isLost && member.name != "$comment" {
            guard !member.name.isEmpty, member.name.utf8.allSatisfy(\.isTokenCharacter) else {
                error(
                    .badHeader,
                    member.nameOffset,
                    "\(quoted(member.name)) is not a header name, which is letters, digits and hyphens\(plainName(member.name))"
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
                            + "it may hold no control characters, and no space at its ends"
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
                    "null is only for \"Access-Control-Allow-Origin\", which it removes; remove \(quoted(member.name))"
                )
            case .unreadable:
                continue
            default:
                error(
                    .wrongKind,
                    member.value.offset,
                    "the value of a header is text in quotation marks, not \(member.value.article)"
                        + (member.value.digits.map { "; write \"\($0)\"" } ?? "")
                )
            }
        }
        return headers
    }

    /// What somebody means who writes a header as in HTTP: `Name: value`.
    private func header(in value: JSONValue) -> String? {
        guard case .string(let text) = value.kind, !UserInformation.isIn(text) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        return parts.count == 2 ? "{ \(quoted(String(parts[0]))): \(quoted(String(parts[1]))) }" : nil
    }

    /// The advice to write a header's name without what does not belong to it.
    private func plainName(_ name: String) -> String {
        let plain = name.prefix { $0.utf8.allSatisfy(\.isTokenCharacter) }
        return plain.isEmpty || plain.count + 2 < name.count ? "" : "; write \(quoted(String(plain)))"
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
                if case .unreadable = element.kind { continue }
                guard case .string(let written) = element.kind else {
                    error(
                        .wrongKind,
                        element.offset,
                        "the name of a parameter is text in quotation marks, not \(element.article)"
                    )
                    continue
                }
                guard !written.isEmpty, written.utf8.first != UInt8(ascii: "?"),
                    !written.utf8.contains(where: { "&=#".utf8.contains($0) }),
                    let name = try? ParameterNames.Name(written)
                else {
                    let name = UserInformation.hidden(in: written)
                    let plain = name.drop { "?&".contains($0) }.prefix { !"&=#".contains($0) }
                    let meant =
                        plain.isEmpty ? "write it as in the URL, without \"=\"" : "write \(quoted(String(plain)))"
                    error(
                        .badQueryRule,
                        element.offset,
                        "\(quoted(written)) cannot be the name of a parameter; \(meant)"
                    )
                    continue
                }
                names.append(name)
            }
            return .ignoring(ParameterNames(names))
        case .unreadable:
            return .exact
        default:
            var remedy = ""
            // A URL is no list, and cut in pieces it would show what quoting hides.
            if case .string(let word) = field.value.kind, !word.contains("/") {
                remedy =
                    ["true", "false"].contains(word)
                    ? "; write \(word) without quotation marks"
                    : "; write [\(word.split { ",&; ".contains($0) }.map { quoted(String($0)) }.joined(separator: ", "))]"
            }
            error(
                .wrongKind,
                field.value.offset,
                "\"ignoreQuery\" is true, false or a list of parameter names, not \(field.value.article)\(remedy)"
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
                    "\(shortened(digits)) cannot be a condition, only 400 to 599 can; for a file that always answers, leave \"when\" out"
                )
            case .string(let word):
                if let condition = Substitution.Condition.words[word] {
                    return Located(value: condition, offset: value.offset)
                }
                let meant =
                    Int(word).map { "; write \($0) without quotation marks" }
                    ?? (["always", "never", "online", "true"].contains(word.lowercased())
                        ? "; for a file that always answers, leave \"when\" out" : nil)
                    ?? suggestion(for: word, among: Substitution.Condition.words.keys).map {
                        "; did you mean \"\($0)\"?"
                    }
                error(
                    .badCondition,
                    value.offset,
                    "\(quoted(word)) is not a condition"
                        + (meant ?? "; write \"offline\", a status as a number, \"4xx\" or \"5xx\"")
                )
            case .unreadable:
                break
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
