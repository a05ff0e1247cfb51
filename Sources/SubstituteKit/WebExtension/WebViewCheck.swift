import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// What of a manifest a web extension cannot show as an app does.
struct WebViewCheck {
    private(set) var issues: [ManifestIssue] = []
    /// How many rules there are, in words; nil where there can be none.
    private(set) var counts: String?

    private let check: ManifestCheck

    init(_ check: ManifestCheck) {
        self.check = check
        guard check.issues.allSatisfy({ $0.severity == .warning }) else { return }
        do {
            let web = try WebExtension(check.shipped, name: check.name, pages: [])
            counts =
                "\(counted(web.ruleset.rules.count, "rule")) of \(WebExtension.maximumRules) in a browser, "
                + "\(web.ruleset.rules.count { $0.filter.pattern == nil }) of \(WebExtension.maximumExpressions) with a regular expression"
            for omission in web.ruleset.omissions {
                let message = "in a browser this is left to the network: \(omission.reason)"
                add(.leftToNetwork, message, omission.line, omission.column)
            }
            for substitution in web.ruleset.dated {
                let day = substitution.lastDay ?? ""
                let message = "a browser shows its file also after \(day), until the extension is written again"
                add(.leftToNetwork, message, substitution.line, substitution.column)
            }
            for (place, substitution) in web.copies.sorted(by: { $0.key < $1.key }) {
                warnOfReferences(in: substitution, at: place, web)
            }
        } catch {
            add(.leftToNetwork, (error as? ToolError)?.message ?? error.localizedDescription, 1, 1)
        }
        issues.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    /// How many addresses of stylesheets and scripts a browser looks for in vain.
    static func lostReferences(in web: WebExtension) -> Int {
        web.copies.reduce(0) { $0 + lostReferences(in: $1.value, at: $1.key, web).count }
    }

    /// What a copy names and a browser looks for in vain, in the extension, where it is not; each once.
    ///
    /// A copy that lies at the root, too, finds what it needs from both places, or loses it.
    private static func lostReferences(
        in substitution: Substitution,
        at place: String,
        _ web: WebExtension
    ) -> [ReferenceScanner.Reference] {
        var scanned = web.references
        let places = [place] + [web.rootPlaces[place]].compactMap(\.self)
        var seen: Set<String> = []
        return scanned.references(in: substitution).filter { reference in
            places.contains { isLost(reference, from: $0, web) } && seen.insert(reference.text).inserted
        }
    }

    private mutating func warnOfReferences(in substitution: Substitution, at place: String, _ web: WebExtension) {
        let lost = Self.lostReferences(in: substitution, at: place, web)
        guard let first = lost.first, let text = substitution.bytes(upTo: substitution.size) else { return }
        let line = text.prefix(first.offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let others = lost.count == 1 ? "" : " (and \(lost.count - 1) more in this file)"
        let remedy =
            isMapped(first.text, from: substitution)
            ? "it is mapped, but its copy lies elsewhere or is left to the network; write the whole URL"
            : "map it, or write the whole URL"
        add(
            .lostReference,
            "\(quoted(substitution.file)) names \(quoted(first.text)) in line \(line), which a browser with the extension "
                + "looks for in the extension, where it is not; \(remedy)\(others)",
            substitution.line,
            substitution.column
        )
    }

    /// The URLs of all entries, without their queries.
    private lazy var mappedURLs = Set(
        check.substitutions.flatMap { $0.addresses.map { "\($0.scheme)://\($0.authority)\($0.path)" } }
    )

    /// Returns whether an entry names what an address leads to on the network.
    private mutating func isMapped(_ text: String, from substitution: Substitution) -> Bool {
        guard let address = substitution.addresses.first,
            let base = URL(string: "\(address.scheme)://\(address.authority)\(address.path)"),
            let url = URL(string: text, relativeTo: base)?.absoluteString.prefix(while: { !"?#".contains($0) })
        else { return false }
        return mappedURLs.contains(String(url))
    }

    /// Whether the extension has nothing where the address leads.
    private static func isLost(
        _ reference: ReferenceScanner.Reference,
        from place: String,
        _ web: WebExtension
    ) -> Bool {
        // Such an address takes the scheme of the copy, by which there are no hosts.
        if reference.text.hasPrefix("//") { return true }
        guard let path = reference.path(from: place) else { return false }
        return web.copies[path] == nil && web.rootCopies[path] == nil
    }

    private mutating func add(_ code: ManifestIssue.Code, _ message: String, _ line: Int, _ column: Int) {
        issues.append(
            ManifestIssue(
                severity: .warning,
                code: code,
                message: message,
                file: check.name,
                line: line,
                column: column
            )
        )
    }
}
