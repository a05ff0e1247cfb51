package import Foundation
package import LocalSubstitutionCache

extension SubstitutionManifest {
    /// Everything that is wrong, and what is mapped as far as it could be found out.
    ///
    /// Unused files are told by folder, or, with `listsUnused`, one by one.
    package func check(
        in folder: URL,
        on date: Date,
        listsUnused: Bool = false
    ) -> (issues: [ManifestIssue], substitutions: [Substitution]) {
        var resolver = ManifestResolver(self, folder: folder)
        resolver.resolve()
        resolver.warn(on: CalendarDay(date), listsUnused: listsUnused)
        let shadowed = resolver.isSound ? Self.shadowedEntries(of: resolver.substitutions) : []
        return (source.issues(findings + resolver.findings + shadowed), resolver.substitutions)
    }

    /// Warns of entries that are never used, whatever is asked for and on whatever day.
    private static func shadowedEntries(of substitutions: [Substitution]) -> [Finding] {
        var used: Set<Int> = []
        var shadows: [Int: Substitution] = [:]
        // What ends some day leaves its URL to the others.
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
