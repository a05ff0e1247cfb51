import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// URLs that are valid, although no app loads them a second time, or at all.
enum UnlikelyURL {
    /// Returns a sentence about the URL of an entry; nil if nothing is odd about it.
    static func problem(of entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard key.utf8.count <= 8000, !hasUserInformation(key) else { return nil }
        if WrongURL.isShortened(key) { return WrongURL.shortening(key) }
        guard let mark = key.firstIndex(of: "?"),
            let compared = entry.query.remainder(of: String(key[key.index(after: mark)...]))
        else { return nil }
        let names = SignedQuery.parameters(compared).map(\.name)
        if let expiry = SignedQuery.expiry(in: compared) {
            let prefix = SignedQuery.prefix(of: expiry) ?? ""
            let cause = "is signed, and its signature expires, so the app asks with another one"
            return sentence(entry, cause, names.filter { $0.hasPrefix(prefix) })
        }
        let clicks = names.filter { Self.clicks.contains($0.lowercased()) || $0.lowercased().hasPrefix("utm_") }
        let cause = "belongs to one visit or one user, so the app does not ask for it again"
        return clicks.isEmpty ? nil : sentence(entry, cause, clicks)
    }

    /// The parameters by which advertisers recognise a click.
    private static let clicks: Set = [
        "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "yclid", "twclid", "wbraid", "gbraid", "igshid", "mc_cid",
        "mc_eid", "mkt_tok", "_ga", "_gl", "ttclid", "li_fat_id",
    ]

    /// Returns a sentence that proposes to ignore parameters, beside those that the entry ignores.
    private static func sentence(_ entry: ManifestEntry, _ cause: String, _ names: [String]) -> String {
        var patterns: [String] = []
        for name in names {
            // Names are case-sensitive, so keep the case of the URL.
            let prefix = name.lowercased().hasPrefix("utm_") ? String(name.prefix(4)) : SignedQuery.prefix(of: name)
            let pattern = prefix.map { $0 + "*" } ?? name
            if !patterns.contains(pattern) { patterns.append(pattern) }
        }
        let parts = entry.key.value.split(separator: "?", maxSplits: 1)
        let kept = (parts.last ?? "").split(separator: "&").filter { part in
            let name = String(part.prefix { $0 != "=" })
            return !names.contains(name.percentDecoded ?? name)
        }.joined(separator: "&")
        let key = String(parts[0]) + (kept.isEmpty ? "" : "?" + kept)
        let known: [String] = if case .ignoring(let names) = entry.query { names.map(\.description) } else { [] }
        let list = (known + patterns).map { quoted($0) }.joined(separator: ", ")
        let shown = patterns.count == 1 ? patterns[0] : "\(patterns[0]), …"
        return "\(quoted(entry.key.value)) \(cause) (\(visible(shown))); write \(quoted(key, limit: 1000)): "
            + "{ \"file\": \(quoted(entry.file?.value ?? "")), \"ignoreQuery\": [\(list)] }"
    }
}
