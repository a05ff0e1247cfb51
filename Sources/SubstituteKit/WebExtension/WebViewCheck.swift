import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// Finds the parts of a manifest that a web extension cannot show in the same way as an app.
struct WebViewCheck {
    private(set) var issues: [ManifestIssue] = []
    /// The number of rules, and of rules with a regular expression, as text; nil if no rule is possible.
    private(set) var counts: String?

    private let check: ManifestCheck

    init(_ check: ManifestCheck) {
        self.check = check
        guard check.errors.isEmpty else { return }
        do {
            let web = try WebExtension(check.shipped, name: check.name, pages: [])
            counts =
                "\(counted(web.ruleset.rules.count, "rule")) of \(WebExtension.maximumRules) in a browser, "
                + "\(web.ruleset.rules.count { $0.filter.pattern == nil }) of \(WebExtension.maximumExpressions) with a regular expression"
            for omission in web.ruleset.omissions {
                let message = "in a browser this is left to the network: \(omission.reason)"
                report(.leftToNetwork, message, omission.line, omission.column)
            }
            for substitution in web.ruleset.dated {
                let day = substitution.lastDay ?? ""
                let message = "a browser shows its file also after \(day), until the extension is written again"
                report(.leftToNetwork, message, substitution.line, substitution.column)
            }
            for (place, substitution) in web.copies.sorted(by: { $0.key < $1.key }) {
                warnOfReferences(in: substitution, at: place, web)
            }
        } catch {
            report(.leftToNetwork, (error as? ToolError)?.message ?? error.localizedDescription, 1, 1)
        }
        issues.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    /// Returns the number of references in stylesheets and scripts that lead to no file in the extension.
    static func lostReferences(in web: WebExtension) -> Int {
        web.copies.reduce(0) { $0 + lostReferences(in: $1.value, at: $1.key, web).count }
    }

    /// Returns the distinct references in a copy that lead to no file in the extension.
    ///
    /// If the file also has a copy at the root, each reference is resolved from both copies.
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
        guard let first = lost.first, let line = ScannedFile.lines(of: [first.offset], in: substitution).first else {
            return
        }
        let others = lost.count == 1 ? "" : " (and \(lost.count - 1) more in this file)"
        let remedy =
            isMapped(first, from: substitution)
            ? "it is mapped, but its copy lies elsewhere or is left to the network; write the whole URL"
            : "map it, or write the whole URL"
        report(
            .lostReference,
            "\(quoted(substitution.file)) names \(quoted(first.text)) in line \(line), which leads to no file in the "
                + "extension; \(remedy)\(others)",
            substitution.line,
            substitution.column
        )
    }

    /// The URLs of all entries, without their queries.
    private lazy var mappedURLs = Set(check.substitutions.flatMap { $0.pattern.targets.map(\.identity.base) })

    /// Resolves a reference against the site's URL; returns true if an entry names the result.
    private mutating func isMapped(_ reference: ReferenceScanner.Reference, from substitution: Substitution) -> Bool {
        guard let page = substitution.pattern.targets.first?.identity else { return false }
        return WebAddress(reference.place.address.bytes, from: page.scheme).url(from: page)
            .map { mappedURLs.contains($0.base) } ?? false
    }

    /// Returns true if a reference leads into the extension, but to no file.
    private static func isLost(
        _ reference: ReferenceScanner.Reference,
        from place: String,
        _ web: WebExtension
    ) -> Bool {
        // A reference such as `//host/path` gets the extension's scheme, and no extension has that host.
        if reference.text.hasPrefix("//") { return true }
        guard let path = reference.path(from: place) else { return false }
        return web.copies[path] == nil && web.rootCopies[path] == nil
    }

    private mutating func report(_ code: ManifestIssue.Code, _ message: String, _ line: Int, _ column: Int) {
        let place = ManifestCheck.Position(line: line, column: column)
        issues.append(ManifestIssue(.warning, code, message, in: check.name, at: place))
    }
}
