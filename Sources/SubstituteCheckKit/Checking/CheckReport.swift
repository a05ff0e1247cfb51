package import LocalSubstitutionCache

/// The report of the issues of manifests.
package struct CheckReport {
    /// A manifest and the issues that are reported for it.
    package struct Result {
        let check: ManifestCheck
        /// The issues to report; the severity of a warning is `error` here if warnings are treated as errors.
        package let issues: [ManifestIssue]

        package init(check: ManifestCheck, issues: [ManifestIssue]) { (self.check, self.issues) = (check, issues) }

        /// True if an app would refuse the manifest, whether or not the report treats warnings as errors.
        var isRefused: Bool { !check.errors.isEmpty }
    }

    private let results: [Result]
    private let console: Console

    package init(_ results: [Result], _ console: Console) { (self.results, self.console) = (results, console) }

    package func print(as format: ReportFormat) throws {
        let items = results.flatMap { result in
            let excerpts = Excerpts(result.check.text)
            return result.issues.map { item($0, excerpts) }
        }
        let shipping = results.filter { !$0.isRefused }.map { result in
            (results.count == 1 ? "" : "\(visible(result.check.name)): ") + result.check.inventory.description
        }
        try console.print(items, sum: shipping + [verdict], as: format)
    }

    private func item(_ issue: ManifestIssue, _ excerpts: Excerpts) -> ReportItem {
        let severity = console.coloured("\(issue.severity.rawValue):", issue.severity == .error ? .red : .yellow)
        let place = console.coloured("\(visible(issue.file)):\(issue.line):\(issue.column):", .bold)
        let excerpt = excerpts.line(of: issue).map { [$0.text, $0.indentation + console.coloured("^", .green)] }
        return ReportItem(
            lines: ["\(place) \(severity) \(issue.message)"] + (excerpt ?? []),
            [
                "file": visible(issue.file), "line": issue.line, "column": issue.column,
                "severity": issue.severity.rawValue, "code": issue.code.rawValue, "message": issue.message,
            ],
            [
                .init(
                    issue.severity.rawValue,
                    issue.code.rawValue,
                    issue.message,
                    at: (issue.file, issue.line, issue.column)
                )
            ]
        )
    }

    /// The last line, which sums up the result for users who read nothing else.
    private var verdict: String {
        let issues = results.flatMap(\.issues)
        let errors = issues.count { $0.severity == .error }
        let warnings = issues.count - errors
        if errors > 0 {
            let counts = [counted(errors, "error")] + (warnings == 0 ? [] : [counted(warnings, "warning")])
            let isRefused = results.contains { $0.isRefused && !$0.check.text.isEmpty }
            let what = errors == 1 ? "it is" : "they are"
            let consequence = isRefused ? "; until \(what) fixed, the app ignores this whole manifest" : ""
            return console.coloured(counts.joined(separator: ", ") + consequence, .red)
        }
        if warnings > 0 { return console.coloured("no errors, \(counted(warnings, "warning"))", .yellow) }
        return console.coloured("no errors, no warnings", .green)
    }
}
