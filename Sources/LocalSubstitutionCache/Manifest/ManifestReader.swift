import Foundation

/// The first stage: from JSON values to entries, with everything that is wrong with names and values.
struct ManifestReader {
    private(set) var entries: [ManifestEntry] = []
    private(set) var findings: [Finding] = []

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

    private mutating func readAnnotation(_ member: JSONMember) -> ManifestEntry? {
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

    private mutating func readEntry(_ member: JSONMember) -> ManifestEntry {
        var entry = ManifestEntry(key: Located(value: member.name, offset: member.nameOffset))
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

    /// Checks the rules that apply only to folders.
    private mutating func checkFolder(_ entry: ManifestEntry) {
        guard entry.namesFolder, let file = entry.file, let pattern = entry.pattern else { return }
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

    // MARK: - Findings

    mutating func string(_ field: JSONMember) -> String? {
        if case .string(let text) = field.value.kind { return text }
        error(.wrongKind, field.value.offset, "\(quoted(field.name)) is a string, not \(field.value.article)")
        return nil
    }

    mutating func reportDuplicates(_ members: [JSONMember], by key: (String) -> String) {
        var names: Set<String> = []
        for member in members where !names.insert(key(member.name)).inserted {
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
