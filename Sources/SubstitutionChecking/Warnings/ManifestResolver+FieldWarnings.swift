import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Warnings about URLs, types and header fields that are valid but probably wrong.
///
/// Browsers do not give such a URL, type or field the meaning that the designer probably intended.
extension ManifestResolver {
    mutating func warnOfFields() {
        for entry in manifest.entries {
            if entry.pattern != nil, let (cause, meant) = URLRepair.suspicion(of: entry.key.value) {
                let sentence = "\(quoted(entry.key.value)) \(cause); did you mean \(quoted(meant, limit: 1000))?"
                report(.warning, .unlikelyURL, entry.key.offset, sentence)
            } else if entry.pattern != nil, let sentence = UnlikelyURL.problem(of: entry) {
                report(.warning, .unlikelyURL, entry.key.offset, sentence)
            }
            if case .ignoring(let names) = entry.query, let sentence = Self.problem(ofParameters: names) {
                report(.warning, .unlikelyURL, entry.queryOffset ?? entry.key.offset, sentence)
            }
            if let type = entry.type, let meant = Self.type(meantBy: type, of: entry.file?.value ?? "") {
                let sentence = "browsers do not know the type \(quoted(type.essence)); write \(quoted(meant.essence))"
                report(.warning, .unlikelyType, entry.typeOffset ?? entry.key.offset, sentence)
            }
            for (name, value) in entry.headers.sorted(by: { $0.key < $1.key }) {
                guard let sentence = Self.problem(ofHeader: name, value, of: entry) else { continue }
                report(.warning, .unlikelyHeader, entry.headersOffset ?? entry.key.offset, sentence)
            }
        }
    }

    // MARK: - Types

    /// Returns the type that was probably meant by an unknown type.
    ///
    /// Nil for a known type, and for a type that resembles no known type: the app itself may define such a type.
    private static func type(meantBy type: MediaType, of file: String) -> MediaType? {
        guard !MediaType.isKnown(type.essence), type.synonyms == [type.essence] else { return nil }
        let subtype = String(type.essence.dropFirst(type.kind.count + 1))
        // In `image/svg` and `text/js`, the subtype is the file extension of the type that was meant.
        let kinds: Set<Substring> = ["image", "text", "font", "audio", "video", "application"]
        if kinds.contains(type.kind), let meant = MediaType(fileName: "x.\(subtype)"), isOfWeb(meant) { return meant }
        // If there is no such type, the written type may be a misspelling of the type that belongs to the file's
        // extension.
        guard let own = MediaType(fileName: file) else { return nil }
        let ownSubtype = String(own.essence.dropFirst(own.kind.count + 1))
        let isSlip =
            subtype == ownSubtype && !kinds.contains(type.kind)
            || type.kind == own.kind && suggestion(for: subtype, among: [ownSubtype]) != nil
        return isSlip ? own : nil
    }

    /// True for types that web pages load.
    ///
    /// No other types are guessed, because there are too many of them.
    private static func isOfWeb(_ type: MediaType) -> Bool {
        ["image", "font", "audio", "video"].contains(type.kind)
            || ["text/css", "text/html", "text/javascript", "text/plain", "application/json"].contains(type.essence)
    }

    // MARK: - Queries

    /// Returns a message about a name that is probably several names; nil if there is none.
    private static func problem(ofParameters names: [ParameterName]) -> String? {
        for name in names {
            let text = name.description.percentDecoded ?? name.description
            if name.text.isEmpty, name.isPrefix {
                return "\"*\" matches every parameter; write true to ignore the whole query"
            }
            if let stem = text.wholeMatch(of: patternAtEnd)?.1 {
                return "\(quoted(text)) is a regular expression, and a name only ends in * for any ending; write "
                    + quoted("\(stem)*")
            }
            let parts = text.split { ",; |+".contains($0) }.map(String.init)
            // A part of a URL could show a password.
            guard !text.contains("/"), parts.count > 1 || parts.first.map({ $0 != text }) == true else { continue }
            let list = parts.map { quoted($0) }.joined(separator: ", ")
            return "\(quoted(text)) is the name of one parameter, which no URL has; write [\(list)]"
        }
        return nil
    }

    /// A name with the regular expression for any ending.
    nonisolated(unsafe) private static let patternAtEnd = /\^?([\w\-]+)(?:\.[*+]|\[?\\w\]?[*+]|%)\$?\*?/

    // MARK: - Headers

    /// Returns a message about punctuation that has no meaning in header fields; nil if there is none.
    private static func problem(ofValue value: String?, of name: String) -> String? {
        guard let value else { return nil }
        if let mark = value.first(where: { typographic[$0] != nil }) {
            let plain = String(value.map { typographic[$0] ?? $0 })
            return
                "\(quoted(name)) has a typographic \(quoted(String(mark))), which browsers do not know; write \(quoted(plain))"
        }
        guard name.lowercased().hasPrefix("content-security-policy") else { return nil }
        if let match = value.firstMatch(of: directiveWithColon) {
            return
                "\(quoted(name)) has a colon behind \"\(match.1)\", so browsers ignore that directive; write \"\(match.1)\" "
                + "without it"
        }
        let words = value.split { " ;".contains($0) }
        guard let word = words.first(where: { $0.wholeMatch(of: bareKeyword) != nil }) else { return nil }
        let bare = word.filter { $0 != "\"" }
        let plain = value.replacingOccurrences(of: String(word), with: "'\(bare)'")
        return "\(quoted(name)) has \(word.contains("\"") ? "double" : "no") quotation marks around \(bare), "
            + "so it means a server of that name; write \"\(visible(plain))\""
    }

    nonisolated(unsafe) private static let directiveWithColon =
        /(?:^|;)\s*((?:[a-z]+-)+(?:src|uri|action|ancestors|requests)(?:-elem|-attr)?|sandbox):/
    /// A keyword or a digest of a policy, without its single quotation marks (CSP3 §2.3.1).
    nonisolated(unsafe) private static let bareKeyword =
        /"?(self|none|unsafe-inline|unsafe-eval|unsafe-hashes|strict-dynamic|wasm-unsafe-eval|report-sample|nonce-[\w+\/=\-]+|sha(256|384|512)-[\w+\/=\-]+)"?/

    /// Typographic punctuation, with what header fields have in its place.
    private static let typographic: [Character: Character] = [
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": "\"", "”": "\"", "„": "\"", "«": "\"", "»": "\"", "′": "'",
        "″": "\"",
        "–": "-", "—": "-", "‑": "-", "−": "-", "，": ",", "；": ";", "：": ":", "＝": "=", "。": ".", "＊": "*", "／": "/",
    ]

    /// Returns a message about a header field that browsers do not accept as it is written.
    ///
    /// Nil if they accept the field (Fetch Standard §3.3).
    private static func problem(ofHeader name: String, _ value: String?, of entry: ManifestEntry) -> String? {
        switch name.lowercased() {
        case "access-control-allow-origin":
            guard let value, value != "*", value != "null", !isOrigin(value) else { return nil }
            let origins = value.split { ", ".contains($0) }
            let meant = URLRepair.repaired(value) ?? value
            let origin = meant.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//").lowercased()
            let remedy =
                origins.count == 1 && isOrigin(origin) ? "write \(quoted(origin))" : "write one, or \"*\" for all"
            return "\(quoted(value)) is not an origin, so browsers let no site read the file; \(remedy)"
        case "access-control-allow-credentials":
            let origin = entry.headers.first { $0.key.lowercased() == "access-control-allow-origin" }
            guard value?.lowercased() == "true", origin == nil || origin?.value == "*" else { return nil }
            return "browsers refuse \(quoted(name)) where every origin is allowed; "
                + "name one, such as \"Access-Control-Allow-Origin\": \"https://example.com\""
        default:
            if let problem = problem(ofValue: value, of: name) { return problem }
            return headerName(meantBy: name).map {
                "browsers do not know the header \(quoted(name)); did you mean \(quoted($0))?"
            }
        }
    }

    /// Returns the known field name that differs from `name` in one misspelled word; nil if there is none.
    private static func headerName(meantBy name: String) -> String? {
        let words = name.lowercased().split(separator: "-").map(String.init)
        return headerNames.first { known in
            let meant = known.lowercased().split(separator: "-").map(String.init)
            let pairs = zip(words, meant).filter { $0 != $1 }
            return words.count == meant.count && pairs.count == 1
                && pairs.allSatisfy { suggestion(for: $0, among: [$1]) != nil }
        }
    }

    /// Field names that are so long that they stay recognisable if misspelled (Fetch Standard §3.3, CSP §3.1).
    private static let headerNames = [
        "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Methods", "Access-Control-Expose-Headers", "Cross-Origin-Resource-Policy",
        "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Content-Security-Policy",
    ]

    private static func isOrigin(_ text: String) -> Bool { text.wholeMatch(of: serializedOrigin) != nil }

    /// `serialized-origin` of RFC 6454 §6.2.
    nonisolated(unsafe) private static let serializedOrigin =
        /[a-z][a-z0-9+.\-]*:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._\-]+)(:[0-9]+)?/
}
