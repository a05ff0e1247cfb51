package import Foundation
package import LocalSubstitutionCache

extension SubstitutionManifest {
    /// Returns all issues, and the substitutions of the entries that could be resolved.
    ///
    /// If `listsUnused` is true, unused files are reported one by one; if it is false, they are reported by folder. If
    /// `warns` is false, only errors are returned, and no file is read.
    package func check(
        in folder: URL,
        on date: Date,
        listsUnused: Bool = false,
        warns: Bool = true
    ) -> (issues: [ManifestIssue], substitutions: [Substitution]) {
        var resolver = resolver(in: folder)
        if warns { resolver.warn(on: CalendarDay(date), listsUnused: listsUnused) }
        let shadowed = warns && resolver.isSound ? Self.shadowedEntries(of: resolver.substitutions) : []
        return (source.issues(findings + resolver.findings + shadowed), resolver.substitutions)
    }

    /// Returns warnings about entries that are not used for any request on any day.
    private static func shadowedEntries(of substitutions: [Substitution]) -> [Finding] {
        let order = MatchOrder(substitutions)
        var used: Set<Int> = []
        var shadows: [Int: Substitution] = [:]
        for (index, candidate) in order.candidates.enumerated() {
            let offset = substitutions[candidate.substitution].entry.key.offset
            // After its last day, an entry leaves the URL to the others.
            if let probe = candidate.probe, let first = order.first(matching: probe), first < index,
                case let shadow = substitutions[order.candidates[first].substitution], shadow.entry.until == nil
            {
                if shadow.entry.key.offset != offset { shadows[offset] = shadow }
            } else {
                used.insert(offset)
            }
        }
        return shadows.filter { !used.contains($0.key) }.map { offset, shadow in
            Finding(
                offset: offset,
                severity: .warning,
                code: .shadowed,
                message:
                    "this entry is never used, because others, such as the one in line \(shadow.line), always answer first, "
                    + "in whatever order they are written; remove this one"
            )
        }
    }
}

extension MatchOrder.Candidate {
    /// A URL that the candidate matches only by its rule.
    ///
    /// The candidate that answers this URL answers all that this one matches.
    fileprivate var probe: URLIdentity? {
        let identity = target.identity
        let ignored: [String] =
            switch rule {
            case .exact: []
            case .any: ["any"]
            case .ignoring(let names): names.map { $0.description.replacingOccurrences(of: "*", with: "any") }
            }
        if ignored.isEmpty { return identity }
        // No key has this value.
        let parameters = [identity.query].compactMap(\.self) + ignored.map { "\($0)=\(UUID().uuidString)" }
        return try? URLIdentity("\(identity.base)?\(parameters.joined(separator: "&"))")
    }
}
