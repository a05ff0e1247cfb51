import Foundation
package import LocalSubstitutionCache

/// A manifest compiled to the redirect rules of a web extension.
///
/// Web pages need such rules, because an engine does not consult the app's `URLCache` for their requests.
///
/// The rules have the format of declarativeNetRequest, which Chromium, Firefox and WebKit implement. A *candidate* is
/// one URL of one substitution (``MatchOrder``). A candidate also says which part of the query its entry ignores.
///
/// A rule redirects only URLs that `explain(_:)` reports as substituted, and only to the file
/// that `explain` names. No two rules match the same URL. So the order in which an engine tries them does not matter.
/// (That order has changed between versions of WebKit.) If rules cannot express a URL of the manifest, the URL stays on
/// the network, and ``omissions`` lists it.
package struct Ruleset: Sendable {
    /// A filter, and the substitution that answers its URLs.
    package struct Rule: Hashable, Sendable {
        package let filter: URLFilter
        /// The index of the substitution in ``Ruleset/substitutions``.
        package let substitution: Int
    }

    /// URLs of one entry that an app substitutes, but that the rules leave to the network.
    package struct Omission: Hashable, Sendable {
        /// The position of the entry in the manifest.
        package let line: Int, column: Int
        /// The entry's URL, as the manifest writes it.
        package let url: String
        /// A text that says which requests for the entry's URLs stay on the network, or why, or both.
        ///
        /// The text has no full stop at its end.
        package let reason: String
    }

    package let substitutions: [Substitution]
    package private(set) var rules: [Rule] = []
    /// The number of rules that the manifest needs at least.
    ///
    /// It is larger than the number of ``rules`` if no engine accepts so many.
    package var count: Int { rules.count + missing }
    /// The number of rules that were not made, because there were ``most`` already.
    private var missing = 0
    /// The number of rules after which a list of ignored parameters adds no more.
    private let most: Int
    /// The indices of the candidates that each omission covers.
    private var omittedCandidates: [Omission: Set<Int>] = [:]

    /// The number of the manifest's URLs for each omission.
    var omissionCounts: [Omission: Int] { omittedCandidates.mapValues(\.count) }

    /// The omissions in manifest order.
    ///
    /// If an omission covers several URLs, its reason ends with their number.
    package var omissions: [Omission] {
        omissionCounts.sorted {
            ($0.key.line, $0.key.column, $0.key.reason) < ($1.key.line, $1.key.column, $1.key.reason)
        }
        .map { omission, count in
            let urls = count > 1 ? " (\(count) URLs)" : ""
            return Omission(
                line: omission.line,
                column: omission.column,
                url: omission.url,
                reason: omission.reason + urls
            )
        }
    }

    /// The substitutions that have rules and a last day (`until`).
    ///
    /// Rules do not expire: they still answer after that day, until the manifest is compiled again.
    package var dated: [Substitution] {
        Set(rules.map(\.substitution)).sorted().map { substitutions[$0] }.filter { $0.lastDay != nil }
    }

    /// Returns the entries of these rules and each entry's number of rules, the highest number first.
    ///
    /// A folder's entry may have several substitutions, all with the entry's position. `entry` is one of them.
    package func costliest(_ rules: [Rule]) -> [(entry: Substitution, count: Int)] {
        Dictionary(grouping: rules) { [substitutions[$0.substitution].line, substitutions[$0.substitution].column] }
            .sorted { ($1.value.count, $0.key[0], $0.key[1]) < ($0.value.count, $1.key[0], $1.key[1]) }
            .map { (substitutions[$0.value[0].substitution], $0.value.count) }
    }

    private let order: MatchOrder
    /// The indices of the candidates, keyed by URL without query, in normal form.
    private let spelled: [String: [Int]]
    /// The same indices, keyed by the normal form with some characters decoded (``URLIdentity/decodedBase``).
    ///
    /// Requests for files of a folder entry may percent-encode these characters.
    private let decoded: [String: [Int]]
    /// The candidates with one URL, in `spelled` (false) and `decoded` (true), for ``competitor(of:at:_:_:)``.
    private var siblings: [Bool: [String: Siblings]] = [:]

    /// Compiles the substitutions to rules.
    ///
    /// Cost: a few lookups for each URL; no file is read.
    ///
    /// - Parameters:
    ///   - substitutions: The manifest's substitutions, without those that have expired.
    ///   - most: The number of rules after which a list of ignored parameters adds no more. No engine accepts as many
    ///     as by default.
    ///   - refusal: Returns the reason why the target of a redirect cannot answer like the substitution; nil if it can.
    package init(
        _ substitutions: [Substitution],
        atMost most: Int = 200_000,
        unless refusal: (Substitution) -> String?
    ) {
        self.most = most
        let order = MatchOrder(substitutions)
        (self.substitutions, self.order) = (substitutions, order)
        let candidates = order.candidates
        spelled = Dictionary(grouping: candidates.indices) { candidates[$0].target.identity.base }
        decoded = Dictionary(grouping: candidates.indices) { candidates[$0].target.identity.decodedBase }
        for (index, candidate) in candidates.enumerated() {
            let substitution = substitutions[candidate.substitution]
            if !substitution.conditions.isEmpty {
                omit(index, "the network is asked first, as its \"when\" says")
            } else if let reason = refusal(substitution) {
                omit(index, reason)
            } else {
                addRules(of: index, substitution)
                if substitution.type.isHTML {
                    omit(index, "as a page or in a frame, where it would lose its address")
                }
            }
        }
        rules = Self.inOrderOfManifest(rules, substitutions)
    }

    /// Returns the rules in the order of the manifest, which is easier to read than the order of precedence.
    ///
    /// For each entry, the rules for https come first.
    private static func inOrderOfManifest(_ rules: [Rule], _ substitutions: [Substitution]) -> [Rule] {
        let keyed = rules.enumerated().map { index, rule in
            let substitution = substitutions[rule.substitution]
            return (key: (substitution.line, substitution.column, rule.filter.isSecure ? 0 : 1, index), rule: rule)
        }
        return keyed.sorted { $0.key < $1.key }.map(\.rule)
    }

    private mutating func addRules(of index: Int, _ substitution: Substitution) {
        let candidate = order.candidates[index]
        let written = Spelling.written(candidate.target)
        for base in Spelling.bases(of: candidate.target.identity, written.base, inFolder: substitution.folderLength) {
            switch candidate.rule {
            case .exact where candidate.target.identity.query?.contains("'") == true:
                omit(index, Self.apostrophe)
            case .exact:
                for query in Spelling.queries(candidate.target.identity.query, written.query) {
                    addRule(for: query.map { "\(base)?\($0)" } ?? base, index, substitution)
                }
            case .any:
                addRule(for: base, index, substitution)
                addOpenRule(for: base, index, substitution)
            case .ignoring(let names):
                addRules(for: base, ignoring: names, index, substitution)
            }
        }
    }

    /// The reason to omit a URL with this character in its query (URL Standard §1.3).
    private static let apostrophe = "because browsers write ' as %27 in a query, which makes another URL"

    /// Adds a rule for one URL, unless a different candidate answers the URL.
    private mutating func addRule(for url: String, _ index: Int, _ substitution: Substitution) {
        guard let identity = try? URLIdentity(url), order.first(matching: identity) == index else { return }
        add(URLFilter(url), index, substitution)
    }

    /// Adds a rule for a URL with any query, unless a candidate with precedence answers some of these URLs.
    private mutating func addOpenRule(for base: String, _ index: Int, _ substitution: Substitution) {
        if let better = competitor(of: index, at: base, where: { $0.rule != .exact || $0.target.identity.query != nil })
        {
            omit(index, "its URL with a query, because line \(better.line) answers it with some queries")
        } else {
            add(URLFilter(base + "?", isOpen: true), index, substitution)
        }
    }

    /// Adds rules for a URL without the ignored parameters, and for the URL with one of them.
    ///
    /// In the second case, the ignored parameter may be at any position in the query.
    private mutating func addRules(
        for base: String,
        ignoring names: [ParameterName],
        _ index: Int,
        _ substitution: Substitution
    ) {
        guard rules.count < most else { return missing += names.count + 1 }
        let candidate = order.candidates[index]
        let (rule, key) = (candidate.rule, candidate.target.identity.query)
        // The query that is left without the ignored parameters.
        let remainder = rule.remainder(of: key)
        if remainder?.contains("'") == true { return omit(index, Self.apostrophe) }
        for query in Spelling.queries(remainder) {
            addRule(for: query.map { "\(base)?\($0)" } ?? base, index, substitution)
        }
        if let better = competitor(of: index, at: base, rule, remainder) {
            omit(index, "its URL with a parameter, because line \(better.line) answers it with some queries")
            return
        }
        if let name = names.first { omit(index, "only URLs such as \"?\(name)=1&\(name)=2\" and \"?\(name)\"") }
        let parameters = remainder?.split(separator: "&").map(String.init) ?? []
        var filters: Set<URLFilter> = []
        for (number, name) in names.enumerated() {
            guard rules.count < most else { return missing += names.count - number }
            for place in 0...parameters.count {
                let before = parameters[..<place].map { $0 + "&" }.joined()
                let after = parameters[place...].map { "&" + $0 }.joined()
                // After a prefix (`utm_*`), any text may follow, so the filter's value includes the rest of the name.
                let start = "\(before)\(name.text)\(name.isPrefix ? "" : "=")"
                for (start, after) in Spelling.parts(start, after) {
                    if after.utf8.count > URLFilter.longestRest {
                        omit(index, "its URL with \(quoted(name.description)) before a long query")
                    } else if filters.insert(URLFilter("\(base)?\(start)", rest: after)).inserted {
                        add(URLFilter("\(base)?\(start)", rest: after), index, substitution)
                    }
                }
            }
        }
    }

    private mutating func add(_ filter: URLFilter, _ index: Int, _ substitution: Substitution) {
        let number = order.candidates[index].substitution
        rules.append(Rule(filter: filter, substitution: number))
        // Pages add fragments to the URLs of fonts, audio and video, so these URLs get a second rule. For other types,
        // a second rule would double the number of rules for nothing. SVG images get no second rule, either: a fragment
        // selects a part of an image, and Chromium allows that only for files of the page's own origin.
        if !filter.isOpen, ["font", "audio", "video"].contains(substitution.type.canonical.kind) {
            rules.append(Rule(filter: filter.withFragment, substitution: number))
        }
    }

    /// Returns a substitution that takes precedence over the candidate at `index`; nil if there is none.
    ///
    /// The substitution answers at least one URL that consists of `base` and a query. A candidate that is spelled
    /// exactly like `base` takes precedence over a candidate that equals `base` only after decoding. Among candidates
    /// of the same kind, the lower index takes precedence. `overlaps` decides whether a candidate answers any of the
    /// queries in question.
    private func competitor(
        of index: Int,
        at base: String,
        where overlaps: (MatchOrder.Candidate) -> Bool
    ) -> Substitution? {
        guard let identity = try? URLIdentity(base) else { return nil }
        let isSpelledSo = order.candidates[index].target.identity.base == identity.base
        let spelled = spelled[identity.base, default: []].filter { !isSpelledSo || $0 < index }
        let decoded = isSpelledSo ? [] : decoded[identity.decodedBase, default: []].filter { $0 < index }
        return (spelled + decoded).first { $0 != index && overlaps(order.candidates[$0]) }.map {
            substitutions[order.candidates[$0].substitution]
        }
    }

    /// Returns a substitution that takes precedence over a candidate with a list of ignored parameters.
    ///
    /// A candidate that ignores the same names answers some of this candidate's URLs only if the two queries are equal
    /// without the ignored parameters. The same holds for an exact candidate. Any other candidate is assumed to answer
    /// some of these URLs.
    private mutating func competitor(
        of index: Int,
        at base: String,
        _ rule: QueryRule,
        _ remainder: String?
    ) -> Substitution? {
        guard let identity = try? URLIdentity(base) else { return nil }
        let isSpelledSo = order.candidates[index].target.identity.base == identity.base
        for isDecoded in isSpelledSo ? [false] : [false, true] {
            let key = isDecoded ? identity.decodedBase : identity.base
            let indices = (isDecoded ? decoded : spelled)[key, default: []]
            var known = siblings[isDecoded]?[key] ?? Siblings(indices, order)
            defer { siblings[isDecoded, default: [:]][key] = known }
            func isBetter(_ other: Int) -> Bool {
                other != index && (other < index || !isSpelledSo && !isDecoded)
            }
            let open = known.open.first { $0.rule != rule }?.index
            let better =
                open.flatMap { isBetter($0) ? $0 : nil } ?? known.first(with: remainder, rule, among: indices, order)
            if let better, isBetter(better) { return substitutions[order.candidates[better].substitution] }
        }
        return nil
    }

    /// The candidates with one URL; each is looked at once for each list of ignored parameters.
    private struct Siblings {
        /// The first candidate that ignores something, and the first one that ignores something else.
        private(set) var open: [(rule: QueryRule, index: Int)] = []
        /// The first candidates, keyed by the rest of their queries without the parameters that a rule ignores.
        private var remainders: [QueryRule: [String?: Int]] = [:]

        init(_ indices: [Int], _ order: MatchOrder) {
            for index in indices where open.count < 2 {
                let rule = order.candidates[index].rule
                if rule != .exact, open.first?.rule != rule { open.append((rule, index)) }
            }
        }

        mutating func first(with remainder: String?, _ rule: QueryRule, among indices: [Int], _ order: MatchOrder)
            -> Int?
        {
            if let known = remainders[rule] { return known[remainder] }
            var firsts: [String?: Int] = [:]
            for index in indices {
                let candidate = order.candidates[index]
                let query = candidate.target.identity.query
                guard candidate.rule == rule || candidate.rule == .exact && query != nil else { continue }
                let rest = rule.remainder(of: query)
                if firsts[rest] == nil { firsts[rest] = index }
            }
            remainders[rule] = firsts
            return firsts[remainder]
        }
    }

    private mutating func omit(_ index: Int, _ reason: String) {
        let entry = substitutions[order.candidates[index].substitution]
        let omission = Omission(line: entry.line, column: entry.column, url: entry.namedURL, reason: reason)
        omittedCandidates[omission, default: []].insert(index)
    }
}

/// The spellings of a URL that pages and browsers use.
///
/// A rule compares text, so two spellings of the same URL need two rules.
private enum Spelling {
    /// Returns a URL in the manifest's spelling, but with the origin as browsers send it.
    ///
    /// The manifest's author has probably copied the URL from a page, so the page has the same spelling. Browsers keep
    /// a page's unnecessary escapes, but remove dot segments (URL Standard §4.4).
    static func written(_ target: URLPattern.Target) -> (base: String, query: String?) {
        let identity = target.identity
        let text = target.spelling.prefix { $0 != "#" }
        let start = text.range(of: "://")?.upperBound ?? text.startIndex
        let rest = text[start...].drop { !"/?".contains($0) }
        let path = rest.prefix { $0 != "?" }
        let query = rest.count > path.count ? String(rest.dropFirst(path.count + 1)) : nil
        let hasDots = path.split(separator: "/").contains { [".", ".."].contains($0.percentDecoded) }
        if path.isEmpty || hasDots { return (identity.base, query) }
        return ("\(identity.base.dropLast(identity.path.count))\(path)", query)
    }

    /// Returns the spellings of a URL without its query.
    ///
    /// These are the normal form and the manifest's spelling. Each of the two is also returned with `[`, `]` and `|`
    /// unescaped, as browsers leave them.
    ///
    /// For a file in a folder, there are more spellings, because requests may percent-encode the path below the
    /// folder's URL. In one of them, the path is escaped as by `encodeURIComponent`. In another, `!'()*` are escaped,
    /// too. A name outside ASCII is also spelled in NFD. `folderLength` is the length in bytes of the path of the
    /// folder's URL.
    static func bases(of identity: URLIdentity, _ written: String, inFolder folderLength: Int?) -> [String] {
        let base = identity.base
        var spellings = [base, raw(base, "[]|"), written, raw(written, "[]|")]
        if let folderLength {
            let start = base.utf8.count - identity.path.utf8.count + folderLength
            let folder = String(decoding: base.utf8.prefix(start), as: UTF8.self)
            for kept in ["!'()*", ""] {
                var encoded: [UInt8] = []
                for byte in base.utf8.dropFirst(start) {
                    if byte.isOftenEncoded, !kept.utf8.contains(byte) {
                        URLIdentity.appendEncoded(byte, to: &encoded)
                    } else {
                        encoded.append(byte)
                    }
                }
                spellings.append(folder + String(decoding: encoded, as: UTF8.self))
            }
            spellings.append(folder + decomposed(String(decoding: base.utf8.dropFirst(start), as: UTF8.self)))
        }
        return unique(spellings)
    }

    /// Returns a path with its characters in NFD, as in the names of files that come from a Mac.
    private static func decomposed(_ path: String) -> String {
        guard let text = path.percentDecoded?.decomposedStringWithCanonicalMapping,
            text.utf8.contains(where: { $0 >= 0x80 })
        else { return path }
        var result: [UInt8] = []
        for byte in text.utf8 {
            if byte.isPathCharacter { result.append(byte) } else { URLIdentity.appendEncoded(byte, to: &result) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the spellings of a query.
    ///
    /// These are the normal form and the manifest's spelling. Each of the two is also returned with some characters,
    /// such as `[` and `{`, unescaped, as browsers leave them.
    static func queries(_ query: String?, _ written: String? = nil) -> [String?] {
        query.map { query in
            let written = written ?? query
            return unique([query, raw(query), written, raw(written)])
        } ?? [nil]
    }

    /// Returns the spellings of the text before and after a parameter's value: the normal form, and the form that
    /// browsers send.
    static func parts(_ start: String, _ after: String) -> [(start: String, after: String)] {
        [(start, after), (raw(start), raw(after))]
    }

    /// Returns the text with these characters instead of their escapes (URL Standard §1.3).
    ///
    /// The default characters are those that browsers leave in a query. Browsers also leave a "%" that begins no escape
    /// (§4.4, query state).
    private static func raw(_ text: String, _ characters: String = "[\\]^`{|}%") -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return text }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[(index + 1)...].prefix(2)
            let isEscape = bytes[index] == UInt8(ascii: "%") && digits.count == 2
            let value = isEscape ? digits.reduce(0) { $0 << 4 | $1.hexValue } : 0
            let next = bytes.dropFirst(index + 3).prefix(2)
            let wouldEscape = value == UInt8(ascii: "%") && next.count == 2 && next.allSatisfy(\.isHexDigit)
            if isEscape, characters.utf8.contains(value), !wouldEscape {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func unique(_ spellings: [String]) -> [String] {
        var seen: Set<String> = []
        return spellings.filter { seen.insert($0).inserted }
    }
}
