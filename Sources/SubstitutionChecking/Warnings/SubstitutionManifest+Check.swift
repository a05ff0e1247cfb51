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
        var used: Set<Int> = []
        var shadows: [Int: Substitution] = [:]
        // An entry with an `until` does not shadow other entries for ever: after the last day, one of them answers the
        // URL.
        let shadowed = MatchOrder(substitutions).shadowed { substitutions[$0].entry.until == nil }
        for (index, substitution) in substitutions.enumerated() {
            if let shadow = shadowed[index] {
                shadows[substitution.entry.key.offset] = substitutions[shadow]
            } else {
                used.insert(substitution.entry.key.offset)
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
