import LocalSubstitutionCache

/// The remedies for the errors in the text of a manifest.
///
/// A finding of ``SubstitutionManifest`` has a code, an offset and the cause. What was read at this offset shows what
/// the designer meant. Errors that only follow from another mistake are dropped.
struct ManifestRemedies {
    /// A part of a manifest at an offset.
    private struct Part {
        enum Kind: String {
            case key, value, field, fieldValue, headerName, headerValue, parameter, condition
            /// The value of a member whose name begins with "$".
            case annotation
        }

        let kind: Kind
        let name: String
        let value: JSONValue
        /// The index of the member in the manifest.
        let member: Int
    }

    private let document: JSONDocument
    private var members: [JSONMember] = []
    /// The parts by their offsets.
    private var parts: [Int: Part] = [:]

    // What the errors have shown.

    /// The members that are no entries, so that their other errors only follow.
    private var foreign: Set<Int> = []
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
        for (index, member) in members.enumerated() {
            add(member, .key, member.name.hasPrefix("$") ? .annotation : .value, index)
            for field in member.value.members {
                add(field, .field, .fieldValue, index)
                switch (field.name, field.value.kind) {
                case ("headers", .object(let headers)):
                    for header in headers { add(header, .headerName, .headerValue, index) }
                case ("ignoreQuery", .array(let elements)): add(elements, .parameter, index)
                case ("when", .array(let elements)): add(elements, .condition, index)
                default: break
                }
            }
        }
    }

    private mutating func add(_ member: JSONMember, _ name: Part.Kind, _ value: Part.Kind, _ index: Int) {
        parts[member.value.offset] = Part(kind: value, name: member.name, value: member.value, member: index)
        parts[member.nameOffset] = Part(kind: name, name: member.name, value: member.value, member: index)
    }

    private mutating func add(_ elements: [JSONValue], _ kind: Part.Kind, _ index: Int) {
        for (place, element) in elements.enumerated() {
            parts[element.offset] = Part(kind: kind, name: "\(place)", value: element, member: index)
        }
    }

    /// Adds the remedies to the errors of a manifest that was read from the document.
    mutating func add(to manifest: inout SubstitutionManifest) {
        var findings = manifest.findings
        // The parser has already added the remedies to its own errors, which come first.
        let own = document.errors.count
        for index in findings.indices.dropFirst(own) {
            guard let part = parts[findings[index].offset] else { continue }
            findings[index].message = message(of: findings[index], part)
        }
        let isDropped = findings.indices.map { index in
            // The error of the nested entry already says which bracket is missing.
            index < own ? hasNestedKey && document.errors[index].kind == .end : follows(findings[index])
        }
        manifest.findings = zip(findings, isDropped).filter { !$0.1 }.map(\.0)
        manifest.entries = manifest.entries.compactMap { entry in
            guard let index = parts[entry.key.offset]?.member else { return entry }
            if foreign.contains(index) { return nil }
            var entry = entry
            if let file = entry.file, file.offset > ends[index, default: .max] { entry.file = nil }
            return entry
        }
    }

    /// True if an error only follows from another mistake.
    private func follows(_ finding: Finding) -> Bool {
        guard let part = parts[finding.offset] else { return false }
        if foreign.contains(part.member) { return part.kind != .key || finding.code != .badURL }
        if finding.code == .missingField { return withFile.contains(part.member) }
        // An object without any field is something else entirely, such as the content of a file.
        if finding.code == .unknownField, part.kind == .field, !withFile.contains(part.member) {
            let fields = members[part.member].value.members.map(\.name)
            if fields.allSatisfy({ !ManifestReader.fieldNames.contains($0) }) { return true }
        }
        return finding.code != .duplicateKey && finding.offset > ends[part.member, default: .max]
    }

    // MARK: - Messages

    private mutating func message(of finding: Finding, _ part: Part) -> String {
        let text = part.value.text
        switch (finding.code, part.kind) {
        case (.badURL, .key): return message(ofURL: finding, part)
        case (.unknownField, .field): return message(ofField: part)
        case (.badPath, _):
            if let sentence = text.flatMap(AdviceTable.current.paths.sentence) { return sentence }
        default: break
        }
        let remedy =
            switch (finding.code, part.kind) {
            case (.unknownField, .key): Self.question(part.name, Self.annotations)
            case (.badType, .fieldValue):
                MediaType(fileName: "x.\(text ?? "")").map { "write \(quoted($0.essence))" }
            case (.badCondition, _): text.flatMap { Self.question($0, ["offline", "4xx", "5xx"]) }
            default: nil as String?
            }
        let row = AdviceTable.current.remedies.first { row in
            row.code == finding.code.rawValue && row.part ?? part.kind.rawValue == part.kind.rawValue
                && row.name ?? part.name == part.name
                && row.value ?? part.value.article == part.value.article
        }
        return finding.message + ((remedy ?? row?.says).map { "; \($0)" } ?? "")
    }

    private static let annotations = ["$schema", "$version", "$comment"]

    private static func question(_ name: String, _ candidates: [String]) -> String? {
        suggestion(for: name, among: candidates).map { "did you mean \"\($0)\"?" }
    }

    private mutating func message(ofURL finding: Finding, _ part: Part) -> String {
        let name = part.name
        do throws(URLProblem) {
            let pattern = try URLPattern(name)
            if pattern.query != nil { return "\(finding.message); remove the \"?\" and what follows" }
            let last = name.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            // A "*" was meant as a wildcard; in a manifest, the URL ends in "/" instead.
            let folder = last.contains("*") ? String(name.dropLast(last.count)) : name + "/"
            return "\(finding.message); write \(quoted(folder))"
        } catch {
            let sentence = diagnosis(of: name, part.value)
            if sentence != nil { foreign.insert(part.member) }
            return sentence ?? error.message(for: name)
        }
    }

    /// Returns a sentence about a member that is no entry, or one in another form; nil if only its URL is wrong.
    private func diagnosis(of name: String, _ value: JSONValue) -> String? {
        if let question = Self.question(name, Self.annotations) { return "\(quoted(name)) is no URL; \(question)" }
        if let sentence = AdviceTable.current.comments.sentence(about: name) { return sentence }
        if value.members.contains(where: { ManifestReader.isKey($0.name) }) {
            return
                "entries belong directly in the file's outer { }; remove \(quoted(name)): { and the } that belongs to it"
        }
        guard let url = value.text, name.contains("."), ManifestReader.isKey(url), (try? URLPattern(url)) != nil else {
            return nil
        }
        return "the URL comes first, then the file; write \(quoted(url)): \(quoted(name))"
    }

    private mutating func message(ofField part: Part) -> String {
        let (name, index) = (part.name, part.member)
        let fields = members[index].value.members.map(\.name)
        if let meant = Self.field(meantBy: name), !fields.contains(meant) {
            if meant == "file" { withFile.insert(index) }
            return "\(quoted(name)) is not a field of an entry; did you mean \"\(meant)\"?"
        }
        if let sentence = AdviceTable.current.comments.sentence(about: name) { return sentence }
        if ManifestReader.isKey(name) {
            // The entry's closing bracket is missing, so all that follows are entries, not fields.
            let offset = members[index].value.members.first { $0.name == name }?.nameOffset ?? .max
            ends[index] = min(ends[index, default: .max], offset)
            withFile.insert(index)
            hasNestedKey = true
            return "the entry before \(quoted(name)) is not closed; write \"}\" before the comma in front of it"
        }
        let known = ManifestReader.fieldNames.map { "\"\($0)\"" }.joined(separator: ", ")
        return "\(quoted(name)) is not a field of an entry; the fields are \(known)"
    }

    /// Returns the name of the field that was meant by `name`; nil if none is similar.
    private static func field(meantBy name: String) -> String? {
        AdviceTable.current.fields[name.lowercased()] ?? suggestion(for: name, among: ManifestReader.fieldNames)
    }
}

extension ManifestReader {
    /// True for a name that can only be the URL of an entry.
    fileprivate static func isKey(_ name: String) -> Bool {
        ["http://", "https://", "//"].contains { name.lowercased().hasPrefix($0) }
    }
}

extension JSONValue {
    /// The text of a string; nil for anything else.
    fileprivate var text: String? { if case .string(let text) = kind { text } else { nil } }

    /// The members of an object; empty for anything else.
    fileprivate var members: [JSONMember] { if case .object(let members) = kind { members } else { [] } }
}
