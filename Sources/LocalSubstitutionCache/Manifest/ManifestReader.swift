import Foundation

/// The first stage of reading a manifest: converts JSON values to entries.
///
/// Every error in names and values is recorded with its cause. A value of the kind `unreadable` is skipped, because the
/// JSON parser has reported it.
package struct ManifestReader {
    private(set) var entries: [ManifestEntry] = []
    private(set) var findings: [Finding] = []
    /// The value of `$version`.
    private(set) var version: Int64 = 0

    mutating func read(_ document: JSONDocument, source: SourceText) {
        findings = document.errors.map(Finding.init)
        let members = object(document.value, "a manifest must be an object, { \"https://…\": \"file\" }")
        read(members ?? [], source)
    }

    private mutating func read(_ members: [JSONMember], _ source: SourceText) {
        entries.reserveCapacity(members.count)
        var firstPlaces: [String: Int] = [:]
        firstPlaces.reserveCapacity(members.count)
        for member in members where !member.isUnreadable {
            let entry = member.name.hasPrefix("$") ? readAnnotation(member) : readEntry(member)
            // Comments may occur anywhere and any number of times, so they are not duplicates.
            guard entry != nil || ["$schema", "$version"].contains(member.name) else { continue }
            let key = entry?.pattern?.identityKey ?? member.name
            if let first = firstPlaces[key] {
                let line = source.position(of: first).line
                let cause = entry == nil ? "is also" : "is the same URL as"
                error(.duplicateKey, member.nameOffset, "\(quoted(member.name)) \(cause) in line \(line)")
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
                        + "in \"ignoreQuery\""
                )
                break
            }
        }
    }

    private mutating func readAnnotation(_ member: JSONMember) -> ManifestEntry? {
        switch member.name {
        case "$comment": break
        case "$schema": _ = text(member.value, "\"$schema\" must be a file or URL in quotation marks")
        case "$version": readVersion(member.value)
        default:
            let cause = "\(quoted(member.name)) is not known, only \"$schema\", \"$version\" and \"$comment\" are"
            error(.unknownField, member.nameOffset, cause)
        }
        return nil
    }

    private mutating func readVersion(_ value: JSONValue) {
        guard let digits = value.digits else { return reportKind(of: value, "\"$version\" must be a whole number") }
        // Every JSON reader knows these integers exactly (RFC 8259 §6).
        if let number = value.wholeNumber, 0..<(1 << 53) ~= number { return version = number }
        error(.badVersion, value.offset, "\(shortened(digits)) is not a whole number from 0 to 9007199254740991")
    }

    private mutating func readEntry(_ member: JSONMember) -> ManifestEntry {
        var entry = ManifestEntry(key: Located(value: member.name, offset: member.nameOffset))
        do {
            entry.pattern = try URLPattern(member.name)
        } catch {
            self.error(.badURL, member.nameOffset, error.cause(in: member.name))
        }
        switch member.value.kind {
        case .string: entry.file = readFile(member.value)
        case .object(let fields): readFields(fields, at: member.value.offset, into: &entry)
        case .unreadable: break
        default: error(.wrongKind, member.value.offset, "the value of an entry cannot be \(member.value.article)")
        }
        checkFolder(entry)
        return entry
    }

    /// Checks the rules that apply only to folders.
    private mutating func checkFolder(_ entry: ManifestEntry) {
        guard entry.namesFolder, let file = entry.file, let pattern = entry.pattern else { return }
        if pattern.query != nil {
            error(.badURL, entry.key.offset, "a folder's URL has no query")
        } else if !pattern.isFolder {
            let name = quoted(file.value)
            let cause = "\(name) ends in \"/\" and so names a folder, whose URL must end in \"/\" too"
            error(.badURL, entry.key.offset, cause)
        }
    }

    // MARK: - Kinds of values

    /// Returns the text of a string; nil for any other value, which breaks `rule`.
    mutating func text(_ value: JSONValue, _ rule: @autoclosure () -> String) -> String? {
        if case .string(let text) = value.kind { return text }
        reportKind(of: value, rule())
        return nil
    }

    /// Returns the members of an object; nil for any other value, which breaks `rule`.
    mutating func object(_ value: JSONValue, _ rule: @autoclosure () -> String) -> [JSONMember]? {
        if case .object(let members) = value.kind { return members }
        reportKind(of: value, rule())
        return nil
    }

    /// Records that a value is not of the kind that `rule` demands.
    mutating func reportKind(of value: JSONValue, _ rule: String) {
        if case .unreadable = value.kind { return }
        error(.wrongKind, value.offset, "\(rule), not \(value.article)")
    }

    // MARK: - Findings

    mutating func reportDuplicates(_ members: [JSONMember], by key: (String) -> String) {
        var names: Set<String> = []
        for member in members
        where !member.isUnreadable && member.name != "$comment" && !names.insert(key(member.name)).inserted {
            error(.duplicateKey, member.nameOffset, "\(quoted(member.name)) appears twice in this object")
        }
    }

    mutating func error(_ code: ManifestIssue.Code, _ offset: Int, _ cause: String) {
        findings.append(Finding(offset: offset, severity: .error, code: code, message: cause))
    }
}
