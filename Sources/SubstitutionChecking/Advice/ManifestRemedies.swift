import LocalSubstitutionCache

/// The remedies for the errors in the text of a manifest.
///
/// A finding of ``SubstitutionManifest`` has a code, an offset and the cause. What was read at this offset shows what
/// the designer meant. Errors that only follow from another mistake are dropped.
struct ManifestRemedies {
    /// The part of a manifest at an offset.
    private enum Part {
        case key
        /// A member whose name begins with "$".
        case annotation(JSONMember)
        /// The value of an entry.
        case value(JSONValue)
        case field(JSONMember, among: [JSONMember])
        case fieldValue(JSONMember)
        case headerName(String)
        case headerValue(JSONMember)
        case parameter(JSONValue, index: Int)
        case condition(JSONValue)
    }

    private let document: JSONDocument
    private var members: [JSONMember] = []
    /// The parts by their offsets, each with the index of its member in the manifest.
    private var parts: [Int: (part: Part, member: Int)] = [:]

    // What the errors have shown.

    private var comments: Set<Int> = []
    private var commentNames: Set<String> = []
    /// The entries in the format of another tool.
    private var foreignEntries: Set<Int> = []
    /// The member from which on the manifest is a single entry without its URL.
    private var onlyEntry = Int.max
    /// The members whose file is named in another way, or not at all.
    private var withFile: Set<Int> = []
    /// The offsets in members after which nothing belongs to the member.
    private var ends: [Int: Int] = [:]
    /// True if an entry was found inside another entry whose closing bracket is missing.
    private var hasNestedKey = false

    init(_ document: JSONDocument) {
        self.document = document
        guard case .object(let members) = document.value.kind else { return }
        self.members = members
        for index in members.indices { addParts(of: index) }
    }

    private mutating func addParts(of index: Int) {
        let member = members[index]
        let isAnnotation = member.name.hasPrefix("$")
        parts[member.value.offset] = (isAnnotation ? .annotation(member) : .value(member.value), index)
        parts[member.nameOffset] = (.key, index)
        guard case .object(let fields) = member.value.kind else { return }
        for field in fields {
            parts[field.value.offset] = (.fieldValue(field), index)
            parts[field.nameOffset] = (.field(field, among: fields), index)
            switch (field.name, field.value.kind) {
            case ("headers", .object(let headers)):
                for header in headers {
                    parts[header.value.offset] = (.headerValue(header), index)
                    parts[header.nameOffset] = (.headerName(header.name), index)
                }
            case ("ignoreQuery", .array(let names)):
                for (number, name) in names.enumerated() {
                    parts[name.offset] = (.parameter(name, index: number), index)
                }
            case ("when", .array(let conditions)):
                for condition in conditions { parts[condition.offset] = (.condition(condition), index) }
            default: break
            }
        }
    }

    /// Adds the remedies to the errors of a manifest that was read from the document.
    mutating func add(to manifest: inout SubstitutionManifest) {
        var findings = manifest.findings
        // The parser has already added the remedies to its own errors, which come first.
        for index in findings.indices.dropFirst(document.errors.count) {
            guard let (part, member) = parts[findings[index].offset], member < onlyEntry else { continue }
            findings[index].message = message(of: findings[index], part, member)
        }
        let isDropped = findings.indices.map { index in
            // The error of the nested entry already says which bracket is missing.
            index < document.errors.count
                ? hasNestedKey && document.errors[index].kind == .end : follows(findings[index])
        }
        manifest.findings = zip(findings, isDropped).filter { !$0.1 }.map(\.0)
        manifest.entries = manifest.entries.compactMap { entry in
            guard let index = parts[entry.key.offset]?.member else { return entry }
            if index >= onlyEntry || comments.contains(index) { return nil }
            var entry = foreignEntries.contains(index) ? ManifestEntry(key: entry.key) : entry
            if let file = entry.file, file.offset > ends[index, default: .max] { entry.file = nil }
            return entry
        }
    }

    /// True if an error only follows from another mistake.
    private func follows(_ finding: Finding) -> Bool {
        guard let (part, member) = parts[finding.offset] else { return false }
        if member > onlyEntry { return true }
        if member == onlyEntry || comments.contains(member) || foreignEntries.contains(member) {
            let isKept = finding.code == .badURL || finding.code == .duplicateKey && foreignEntries.contains(member)
            if case .key = part { return !isKept }
            return true
        }
        if finding.code == .missingField { return withFile.contains(member) }
        // Comments may have the same name.
        if finding.code == .duplicateKey, case .key = part, commentNames.contains(members[member].name) { return true }
        return finding.code != .duplicateKey && finding.offset > ends[member, default: .max]
    }

    // MARK: - Messages

    private mutating func message(of finding: Finding, _ part: Part, _ index: Int) -> String {
        let remedy: String?
        switch (finding.code, part) {
        case (.badURL, .key): return message(ofURL: finding, index)
        case (.duplicateKey, _): remedy = "remove one of the two"
        case (.unknownField, .key):
            if let message = Advice.annotation(members[index]) { return message }
            remedy = "remove it"
        case (.unknownField, .field(let field, let fields)):
            if let message = message(ofField: field, among: fields, index) { return message }
            remedy = "the fields are " + ManifestReader.fieldNames.map { "\"\($0)\"" }.joined(separator: ", ")
        case (.missingField, _):
            if case .object(let fields) = members[index].value.kind, Advice.isFileContent(fields) {
                ends[index] = finding.offset
                return "an entry names a file; if this is the content itself, save it in a file, and name that file"
            }
            remedy = "add the file that answers, such as \"file\": \"img/logo.png\""
        case (.badPath, .value(let value)): return value.text.flatMap(WrongPath.problem) ?? finding.message
        case (.badPath, .fieldValue(let field)): return field.value.text.flatMap(WrongPath.problem) ?? finding.message
        case (.badDate, .fieldValue(let field)):
            return (field.value.digits ?? field.value.text).map(Advice.message(ofDay:)) ?? finding.message
        default: remedy = Self.remedy(for: finding.code, part)
        }
        return finding.message + (remedy.map { "; \($0)" } ?? "")
    }

    private mutating func message(ofURL finding: Finding, _ index: Int) -> String {
        let member = members[index]
        do throws(URLProblem) {
            let pattern = try URLPattern(member.name)
            if pattern.query != nil { return "\(finding.message); remove the \"?\" and what follows" }
            let name = member.name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            // A "*" was meant as a wildcard; in a manifest, the URL ends in "/" instead.
            let folder = name.contains("*") ? String(member.name.dropLast(name.count)) : member.name + "/"
            return "\(finding.message); write \(quoted(folder))"
        } catch {
            let diagnosis = Advice.diagnosis(of: member, among: members)
            switch diagnosis?.kind {
            case .entry, nil: break
            case .foreignEntry: foreignEntries.insert(index)
            case .comment:
                comments.insert(index)
                commentNames.insert(member.name)
            case .fieldOfOnlyEntry: onlyEntry = index
            }
            return diagnosis?.message ?? error.message(for: member.name, meant: Advice.url(meantBy: member.name))
        }
    }

    private mutating func message(ofField field: JSONMember, among fields: [JSONMember], _ index: Int) -> String? {
        let diagnosis = MisplacedField.diagnosis(of: field, among: fields, of: members[index].name)
        switch diagnosis?.kind {
        case .other, nil: break
        case .file: withFile.insert(index)
        case .nextEntry:
            withFile.insert(index)
            hasNestedKey = true
            // The entry's closing bracket is missing, so all that follows are entries, not fields.
            ends[index] = min(ends[index, default: .max], field.nameOffset)
        }
        return diagnosis?.message
    }

    private static func remedy(for code: ManifestIssue.Code, _ part: Part) -> String? {
        switch (code, part) {
        case (.badVersion, .annotation): "write one, such as 12"
        case (.wrongKind, _): remedy(forKindOf: part)
        case (.badType, .field): "remove it, and give single files their own entries"
        case (.badType, .fieldValue(let field)):
            field.value.text.flatMap(Advice.type).map { "write \(quoted($0))" }
                ?? "write one, such as \"image/png\", or remove \"type\" to go by the file's extension"
        case (.badHeader, .headerName(let name)): Advice.headerName(meantBy: name).map { "write \(quoted($0))" }
        case (.reservedHeader, _): "remove it"
        case (.badQueryRule, .key): "give them one list"
        case (.badQueryRule, .parameter(_, QueryRule.maximumNames)):
            "write names that begin alike as one, such as \"utm_*\", or write true to ignore the whole query"
        case (.badQueryRule, .parameter(let name, _)):
            name.text.flatMap(Advice.parameterName).map { "write \(quoted($0))" }
                ?? "write it as in the URL, without \"=\""
        case (.badCondition, .condition(let value)): remedy(forCondition: value)
        case (.badCondition, .fieldValue(let field)): remedy(forCondition: field.value)
        default: nil
        }
    }

    private static func remedy(forKindOf part: Part) -> String? {
        switch part {
        case .value(let value):
            "write " + (Advice.entry(meantBy: value) ?? "the file's name in quotation marks")
        case .annotation(let member) where member.name == "$version":
            "write "
                + (member.value.text.flatMap(Int.init).map { "\($0) without quotation marks" } ?? "one, such as 12")
        case .fieldValue(let field) where field.name == "headers":
            "write " + (Advice.header(meantBy: field.value) ?? "{ \"Name\": \"value\" }")
        case .fieldValue(let field) where field.name == "ignoreQuery":
            Advice.queryRule(meantBy: field.value).map { "write \($0)" }
        case .headerValue(let header):
            if case .null = header.value.kind {
                "remove \(quoted(header.name))"
            } else {
                header.value.digits.map { "write \"\($0)\"" }
            }
        default: nil
        }
    }

    private static func remedy(forCondition value: JSONValue) -> String? {
        switch value.kind {
        case .array: "name a condition, such as \"offline\", or leave \"when\" out"
        case .number(let digits) where (1...60).contains(Int(digits) ?? 0):
            "for a time, write \"\(digits)s\"; for a file that always answers, leave \"when\" out"
        case .number: "for a file that always answers, leave \"when\" out"
        case .string(let word):
            Advice.remedy(forCondition: word)
                ?? "write \"offline\", a status as a number, \"4xx\", \"5xx\" or a time such as \"3s\""
        default: nil
        }
    }
}

extension JSONValue {
    /// The text of a string; nil for anything else.
    fileprivate var text: String? { if case .string(let text) = kind { text } else { nil } }
}
