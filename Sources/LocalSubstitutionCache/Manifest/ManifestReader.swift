import Foundation

/// The first stage: from JSON values to entries, with everything that is wrong with names and values.
struct ManifestReader {
    private(set) var entries: [ManifestEntry] = []
    private(set) var findings: [Finding] = []
    /// Whether an entry was found inside another, which lacks its closing bracket.
    var hasNestedKey = false
    /// True once the manifest turned out to be a single entry without its URL before it.
    private var isOneEntry = false

    mutating func read(_ document: JSONDocument, source: SourceText) {
        if document.hasByteOrderMark {
            let message = "the file begins with an invisible byte-order mark; save it as UTF-8 without one"
            findings.append(Finding(offset: 0, severity: .warning, code: .encoding, message: message))
        }
        switch document.value.kind {
        case .object(let members): read(members, source)
        case .unreadable: break
        default:
            let meant = ForeignEntry.entries(meantBy: document.value).map { "; write { \($0) }" }
            error(
                .wrongKind,
                document.value.offset,
                "a manifest is an object, { \"https://…\": \"file\" }, not \(document.value.article)\(meant ?? "")"
            )
        }
        // The bracket that is open at the end is the one that is missing there.
        let errors = document.errors.filter { !hasNestedKey || $0.kind != .end }
        findings = errors.map(Finding.init) + findings
    }

    private mutating func read(_ members: [JSONMember], _ source: SourceText) {
        entries.reserveCapacity(members.count)
        var firstPlaces: [String: Int] = [:]
        firstPlaces.reserveCapacity(members.count)
        for member in members where !member.isLost && !isOneEntry {
            let entry = member.name.hasPrefix("$") ? readAnnotation(member) : readEntry(member, among: members)
            // Comments may stand everywhere, and as often as it takes.
            guard entry != nil || member.name == "$schema" else { continue }
            let key = entry?.pattern?.identityKey ?? member.name
            if let first = firstPlaces[key] {
                let line = source.place(of: first).line
                error(
                    .duplicateKey,
                    member.nameOffset,
                    "\(quoted(member.name)) is the same URL as in line \(line); remove one of the two"
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

    private mutating func readAnnotation(_ member: JSONMember) -> ManifestEntry? {
        switch member.name {
        case "$comment":
            break
        case "$schema":
            _ = string(member, as: "a file or URL in quotation marks")
        default:
            error(
                .unknownField,
                member.nameOffset,
                CommentName.problem(of: member.name, member.value)
                    ?? suggestion(for: member.name, among: ["$schema", "$comment"]).map {
                        "\(quoted(member.name)) is not known; did you mean \"\($0)\"?"
                    } ?? "remove \(quoted(member.name)): only \"$schema\" and \"$comment\" begin with \"$\""
            )
        }
        return nil
    }

    /// Reads an entry; nil when its name cannot be that of one.
    private mutating func readEntry(_ member: JSONMember, among members: [JSONMember]) -> ManifestEntry? {
        var entry = ManifestEntry(key: Located(value: member.name, offset: member.nameOffset))
        do {
            entry.pattern = try URLPattern(member.name)
        } catch {
            if let misplaced = MisplacedMember(member, among: members) {
                self.error(.badURL, member.nameOffset, misplaced.message)
                isOneEntry = misplaced.kind == .fieldOfOnlyEntry
                return misplaced.kind == .entry ? entry : nil
            }
            let pattern = Wildcard.problem(ofPattern: member.name, member.value)
            self.error(.badURL, member.nameOffset, pattern ?? error.message(for: member.name))
        }
        switch member.value.kind {
        case .string(let path):
            entry.file = readFile(path, member.value.offset)
        case .object(let fields):
            readFields(fields, at: member.value.offset, into: &entry)
        case .unreadable:
            break
        default:
            error(
                .wrongKind,
                member.value.offset,
                "\(member.value.article) cannot answer; write \(answer(meantBy: member.value) ?? "the file's name in quotation marks")"
            )
        }
        checkFolder(entry)
        return entry
    }

    /// The value that was meant by a list of one file, or by nothing.
    private func answer(meantBy value: JSONValue) -> String? {
        switch value.kind {
        case .null: return "the file's name in quotation marks, or remove the entry"
        case .array(let elements):
            guard elements.count == 1 else { return "one file's name in quotation marks, since one answers" }
            switch elements[0].kind {
            case .string(let file): return "\(quoted(file)) without [ ]"
            case .object: return "the { } without the [ ] around it"
            default: return nil
            }
        default: return nil
        }
    }

    /// True for a name that can only be the URL of an entry.
    static func isKey(_ name: String) -> Bool {
        ["http://", "https://", "//"].contains { name.lowercased().hasPrefix($0) }
    }

    /// Checks the rules that apply only to folders.
    private mutating func checkFolder(_ entry: ManifestEntry) {
        guard entry.namesFolder, let file = entry.file, let pattern = entry.pattern else { return }
        if pattern.query != nil {
            error(.badURL, entry.key.offset, "a folder's URL has no query; remove the \"?\" and what follows")
        } else if !pattern.isFolder {
            let name = entry.key.value.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            // What was meant as a wildcard is what the "/" stands for.
            let folder = name.contains("*") ? String(entry.key.value.dropLast(name.count)) : entry.key.value + "/"
            error(
                .badURL,
                entry.key.offset,
                "\(quoted(file.value)) names a folder by its \"/\", so its URL ends in \"/\" too; "
                    + "write \(quoted(folder))"
            )
        }
    }

    // MARK: - Findings

    /// The text of a field, which is `kind` in words.
    mutating func string(_ field: JSONMember, as kind: String) -> String? {
        switch field.value.kind {
        case .string(let text): return text
        case .unreadable: return nil
        default:
            error(.wrongKind, field.value.offset, "\(quoted(field.name)) is \(kind), not \(field.value.article)")
            return nil
        }
    }

    mutating func reportDuplicates(_ members: [JSONMember], by key: (String) -> String) {
        var names: Set<String> = []
        for member in members
        where !member.isLost && member.name != "$comment" && !names.insert(key(member.name)).inserted {
            error(
                .duplicateKey,
                member.nameOffset,
                "\(quoted(member.name)) stands twice in this object; remove one of the two"
            )
        }
    }

    mutating func error(_ code: ManifestIssue.Code, _ offset: Int, _ message: String) {
        findings.append(Finding(offset: offset, severity: .error, code: code, message: message))
    }
}
