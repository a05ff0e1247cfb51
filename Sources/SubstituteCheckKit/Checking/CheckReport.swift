import Foundation
package import LocalSubstitutionCache

/// The format in which the issues of manifests are printed.
package enum ReportFormat: String, CaseIterable {
    /// Text for users: each issue with its line, and a summary of the files that ship.
    case text
    /// One JSON object for each issue.
    case json
    /// Workflow commands, which GitHub shows beside the lines of a change.
    case github
}

/// Prints the issues of manifests.
package struct CheckReport {
    /// A manifest and the issues that are reported for it.
    package struct Result {
        let check: ManifestCheck
        /// The issues to report; the severity of a warning is `error` here if warnings are treated as errors.
        package let issues: [ManifestIssue]

        package init(check: ManifestCheck, issues: [ManifestIssue]) {
            (self.check, self.issues) = (check, issues)
        }

        /// True if an app would refuse the manifest, whether or not the report treats warnings as errors.
        var isRefused: Bool { !check.errors.isEmpty }
    }

    private let results: [Result]
    private let console: Console

    package init(_ results: [Result], _ console: Console) {
        (self.results, self.console) = (results, console)
    }

    package func print(as format: ReportFormat) throws {
        switch format {
        case .text: printText()
        case .json: for issue in results.flatMap(\.issues) { try printJSON(issue) }
        case .github: printGitHub()
        }
    }

    // MARK: - Text

    private func printText() {
        for result in results {
            let excerpts = Excerpts(result.check.text)
            for issue in result.issues { printText(issue, excerpts) }
        }
        for result in results where !result.isRefused {
            let name = results.count == 1 ? "" : "\(visible(result.check.name)): "
            console.print(name + result.check.inventory.description)
        }
        console.print(verdict)
    }

    private func printText(_ issue: ManifestIssue, _ excerpts: Excerpts) {
        let severity = console.coloured("\(issue.severity.rawValue):", issue.severity == .error ? .red : .yellow)
        let place = console.coloured("\(visible(issue.file)):\(issue.line):\(issue.column):", .bold)
        console.print("\(place) \(severity) \(issue.message)")
        if let line = excerpts.line(of: issue) {
            console.print(line.text)
            console.print(line.indentation + console.coloured("^", .green))
        }
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

    // MARK: - Formats for programs

    private func printJSON(_ issue: ManifestIssue) throws {
        let object: JSONObject = [
            "file": visible(issue.file), "line": issue.line, "column": issue.column,
            "severity": issue.severity.rawValue, "code": issue.code.rawValue, "message": issue.message,
        ]
        try console.printJSON(object)
    }

    private func printGitHub() {
        for issue in results.flatMap(\.issues) {
            let (severity, place) = (issue.severity.rawValue, (issue.file, issue.line, issue.column))
            console.printAnnotation(severity, issue.message, title: issue.code.rawValue, at: place)
        }
        console.print(verdict)
    }
}
