import Foundation

/// The first stage: from JSON values to entries, with everything that is wrong with names and values.
struct ManifestReader {
    private(set) var entries: [SubstitutionManifest.Entry] = []
    private(set) var findings: [Finding] = []

    typealias Entry = SubstitutionManifest.Entry
    typealias Located = SubstitutionManifest.Located

    mutating func read(_ manifest: JSONValue, source: SourceText) {
        guard case .object(let members) = manifest.kind else {
            error(.wrongKind, manifest.offset, "a manifest is an object, { … }, not \(manifest.article)")
            return
        }
        entries.reserveCapacity(members.count)
        var firstPlaces: [String: Int] = [:]
        firstPlaces.reserveCapacity(members.count)
        for member in members {
            let entry = member.name.hasPrefix("$") ? readAnnotation(member) : readEntry(member)
            let key = entry?.pattern?.identityKey ?? member.name
            if let first = firstPlaces[key] {
                let line = source.place(of: first).line
                error(
                    .duplicateKey,
                    member.nameOffset,
                    "\(quoted(member.name)) is the same key as in line \(line); remove one of the two"
                )
            } else {
                firstPlaces[key] = member.nameOffset
            }
            if let entry { entries.append(entry) }
        }
        boundQueryRules()
    }

    /// For how many different lists in `ignoreQuery` one URL is looked up; each request for it pays for all of them.
    private static let maximumRules = 16

    private mutating func boundQueryRules() {
        var rules: [String: Set<QueryRule>] = [:]
        for entry in entries {
            guard case .ignoring = entry.query, let pattern = entry.pattern else { continue }
            for target in pattern.targets {
                let isNew = rules[target.identity.base, default: []].insert(entry.query).inserted
                guard isNew, rules[target.identity.base]?.count == Self.maximumRules + 1 else { continue }
                error(
                    .badQueryRule,
                    entry.key.offset,
                    "more than \(Self.maximumRules) entries for \(quoted(target.identity.base)) have a list of their own "
                        + "in \"ignoreQuery\"; give them one list"
                )
                break
            }
        }
    }

    private mutating func readAnnotation(_ member: JSONMember) -> Entry? {
        switch member.name {
        case "$comment":
            break
        case "$schema":
            guard case .string = member.value.kind else {
                error(.wrongKind, member.value.offset, "\"$schema\" is a string, not \(member.value.article)")
                break
            }
        default:
            error(
                .unknownField,
                member.nameOffset,
                "\(quoted(member.name)) is not known; a key that begins with \"$\" is \"$schema\" or \"$comment\""
            )
        }
        return nil
    }

    private mutating func readEntry(_ member: JSONMember) -> Entry {
        var entry = Entry(key: Located(value: member.name, offset: member.nameOffset))
        do {
            entry.pattern = try URLPattern(member.name)
        } catch {
            self.error(.badURL, member.nameOffset, error.message(for: member.name))
        }
        switch member.value.kind {
        case .string(let path):
            entry.file = readFile(path, member.value.offset)
        case .object(let fields):
            readFields(fields, at: member.value.offset, into: &entry)
        default:
            error(
                .wrongKind,
                member.value.offset,
                "an entry is the name of a file in quotation marks, or an object, { … }, not \(member.value.article)"
            )
        }
        checkFolder(entry)
        return entry
    }

    /// What only folders may not, or must.
    private mutating func checkFolder(_ entry: Entry) {
        guard let file = entry.file, file.value.hasSuffix("/"), let pattern = entry.pattern else { return }
        if pattern.query != nil {
            error(.badURL, entry.key.offset, "a folder's URL has no query; remove the \"?\" and what follows")
        } else if !pattern.isFolder {
            error(
                .badURL,
                entry.key.offset,
                "\(quoted(file.value)) names a folder by its \"/\", so its URL ends in \"/\" too; "
                    + "write \(quoted(entry.key.value + "/"))"
            )
        }
    }

    // MARK: - Fields

    private mutating func readFields(_ fields: [JSONMember], at offset: Int, into entry: inout Entry) {
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
        if entry.type != nil, entry.file?.value.hasSuffix("/") == true {
            error(
                .badType,
                typeOffset,
                "a folder holds files of many types, so it has no \"type\"; give single files entries of their own"
            )
        }
    }

    private mutating func readFile(_ path: String, _ offset: Int) -> Located<String>? {
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

    private mutating func readConditions(_ field: JSONMember) -> [Condition] {
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
                    return .status(status)
                }
                error(
                    .badCondition,
                    value.offset,
                    "\(shortened(digits)) is not a condition; a status is a number from 400 to 599"
                )
            case .string(let word):
                if let condition = Condition.words[word] { return condition }
                let meant = suggestion(for: word, among: Condition.words.keys).map { "; did you mean \"\($0)\"?" }
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

    // MARK: - Findings

    private mutating func string(_ field: JSONMember) -> String? {
        if case .string(let text) = field.value.kind { return text }
        error(.wrongKind, field.value.offset, "\(quoted(field.name)) is a string, not \(field.value.article)")
        return nil
    }

    private mutating func reportDuplicates(_ members: [JSONMember], by key: (String) -> String) {
        var names: Set<String> = []
        for member in members where !names.insert(key(member.name)).inserted {
            error(
                .duplicateKey,
                member.nameOffset,
                "\(quoted(member.name)) stands twice in this object; remove one of the two"
            )
        }
    }

    private mutating func error(_ code: ManifestIssue.Code, _ offset: Int, _ message: String) {
        findings.append(Finding(offset: offset, severity: .error, code: code, message: message))
    }
}
