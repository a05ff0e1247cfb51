import Foundation

/// The first stage of reading a manifest: converts JSON values to entries.
///
/// Every error in names and values is recorded.
package struct ManifestReader {
    /// The source of guesses at what the designer meant; nil in an app.
    let advice: (any ManifestAdvice)?
    private(set) var entries: [ManifestEntry] = []
    private(set) var findings: [Finding] = []
    /// True once an entry has been found inside another entry whose closing bracket is missing.
    var hasNestedKey = false
    /// True once the manifest has turned out to be a single entry without its URL.
    private var isOneEntry = false

    init(advice: (any ManifestAdvice)?) {
        self.advice = advice
    }

    mutating func read(_ document: JSONDocument, source: SourceText) {
        if document.hasByteOrderMark {
            let message = "the file begins with an invisible byte-order mark; save it as UTF-8 without one"
            findings.append(Finding(offset: 0, severity: .warning, code: .encoding, message: message))
        }
        switch document.value.kind {
        case .object(let members): read(members, source)
        case .unreadable: break
        default:
            error(
                .wrongKind,
                document.value.offset,
                "a manifest must be an object, { \"https://…\": \"file\" }, not \(document.value.article)",
                .manifest(document.value)
            )
        }
        // The error of the nested entry already says which bracket is missing, so drop the error at the text's end.
        let errors = document.errors.filter { !hasNestedKey || $0.kind != .end }
        findings = errors.map(Finding.init) + findings
    }

    private mutating func read(_ members: [JSONMember], _ source: SourceText) {
        entries.reserveCapacity(members.count)
        var firstPlaces: [String: Int] = [:]
        firstPlaces.reserveCapacity(members.count)
        for member in members where !member.isUnreadable && !isOneEntry {
            let entry = member.name.hasPrefix("$") ? readAnnotation(member) : readEntry(member, among: members)
            // Comments may occur anywhere and any number of times, so they are not duplicates.
            guard entry != nil || member.name == "$schema" else { continue }
            let key = entry?.pattern?.identityKey ?? member.name
            if let first = firstPlaces[key] {
                let line = source.position(of: first).line
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

    /// The maximum number of different `ignoreQuery` lists for one URL.
    ///
    /// Each request for the URL costs a lookup for each list.
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
                advice?.remedy(for: .annotation(member))
                    ?? "\(quoted(member.name)) is not known, only \"$schema\" and \"$comment\" are; remove it"
            )
        }
        return nil
    }

    /// Reads an entry; nil if the member is not an entry.
    private mutating func readEntry(_ member: JSONMember, among members: [JSONMember]) -> ManifestEntry? {
        var entry = ManifestEntry(key: Located(value: member.name, offset: member.nameOffset))
        do {
            entry.pattern = try URLPattern(member.name)
        } catch {
            let diagnosis = advice?.diagnosis(of: member, among: members)
            let message =
                diagnosis?.message ?? error.message(for: member.name, meant: advice?.url(meantBy: member.name))
            self.error(.badURL, member.nameOffset, message)
            switch diagnosis?.kind {
            case .entry, nil: break
            case .foreignEntry: return entry
            case .comment: return nil
            case .fieldOfOnlyEntry:
                isOneEntry = true
                return nil
            }
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
                "the value of an entry cannot be \(member.value.article)",
                .entry(member.value),
                otherwise: "write the file's name in quotation marks"
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
            let name = entry.key.value.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
            // A "*" was meant as a wildcard; in a manifest, the URL ends in "/" instead.
            let folder = name.contains("*") ? String(entry.key.value.dropLast(name.count)) : entry.key.value + "/"
            error(
                .badURL,
                entry.key.offset,
                "\(quoted(file.value)) ends in \"/\" and so names a folder, whose URL must end in \"/\" too; "
                    + "write \(quoted(folder))"
            )
        }
    }

    // MARK: - Findings

    /// Returns the text of a field; nil if the field's value is not a string.
    ///
    /// A wrong value is reported, unless the JSON parser has already reported it. In the message, `kind` describes the
    /// expected value.
    mutating func string(_ field: JSONMember, as kind: String) -> String? {
        switch field.value.kind {
        case .string(let text): return text
        case .unreadable: return nil
        default:
            error(.wrongKind, field.value.offset, "\(quoted(field.name)) must be \(kind), not \(field.value.article)")
            return nil
        }
    }

    mutating func reportDuplicates(_ members: [JSONMember], by key: (String) -> String) {
        var names: Set<String> = []
        for member in members
        where !member.isUnreadable && member.name != "$comment" && !names.insert(key(member.name)).inserted {
            error(
                .duplicateKey,
                member.nameOffset,
                "\(quoted(member.name)) appears twice in this object; remove one of the two"
            )
        }
    }

    mutating func error(_ code: ManifestIssue.Code, _ offset: Int, _ message: String) {
        findings.append(Finding(offset: offset, severity: .error, code: code, message: message))
    }

    /// Records an error whose message ends with a remedy.
    ///
    /// The remedy comes from the advice. If the advice has none, the remedy is `otherwise`, which suits every mistake
    /// of this kind.
    mutating func error(
        _ code: ManifestIssue.Code,
        _ offset: Int,
        _ cause: String,
        _ mistake: ManifestMistake,
        otherwise: String? = nil
    ) {
        let remedy = advice?.remedy(for: mistake) ?? otherwise
        error(code, offset, cause + (remedy.map { "; \($0)" } ?? ""))
    }
}
