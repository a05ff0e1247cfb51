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
    /// One document in the Static Analysis Results Interchange Format (OASIS, 2.1.0).
    case sarif
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
        case .json: for issue in results.flatMap(\.issues) { console.printOwn(try JSONLine.encode(JSONIssue(issue))) }
        case .github: printGitHub()
        case .sarif: console.printOwn(try JSONLine.encode(SARIF(results)))
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
        console.printOwn("\(place) \(severity) \(issue.message)")
        if let line = excerpts.line(of: issue) {
            console.printOwn(line.text)
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

    private struct JSONIssue: Encodable {
        let file: String
        let line: Int
        let column: Int
        let severity: String
        let code: String
        let message: String

        init(_ issue: ManifestIssue) {
            (file, line, column) = (visible(issue.file), issue.line, issue.column)
            (severity, code, message) = (issue.severity.rawValue, issue.code.rawValue, issue.message)
        }
    }

    private func printGitHub() {
        for issue in results.flatMap(\.issues) {
            let command = WorkflowCommand(
                issue.severity.rawValue,
                issue.message,
                title: issue.code.rawValue,
                at: (issue.file, issue.line, issue.column)
            )
            console.printOwn(command.text)
        }
        console.print(verdict)
    }
}

/// A log of SARIF 2.1.0 with one run.
private struct SARIF: Encodable {
    let version = "2.1.0"
    let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    let runs: [Run]

    enum CodingKeys: String, CodingKey {
        case version
        case schema = "$schema"
        case runs
    }

    struct Run: Encodable {
        let tool: Tool
        let columnKind = "unicodeCodePoints"
        let results: [Result]
    }

    struct Tool: Encodable {
        let driver: Driver
    }

    struct Driver: Encodable {
        let name = "substitute"
        let rules: [Rule]
    }

    struct Rule: Encodable {
        let id: String
    }

    struct Result: Encodable {
        let ruleId: String
        let level: String
        let message: Message
        let locations: [Location]
    }

    struct Message: Encodable {
        let text: String
    }

    struct Location: Encodable {
        let physicalLocation: PhysicalLocation
    }

    struct PhysicalLocation: Encodable {
        let artifactLocation: ArtifactLocation
        let region: Region
    }

    struct ArtifactLocation: Encodable {
        let uri: String
    }

    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }

    init(_ results: [CheckReport.Result]) {
        let codes = Set(results.flatMap(\.issues).map(\.code.rawValue)).sorted()
        let found = results.flatMap { result in
            let excerpts = Excerpts(result.check.text)
            return result.issues.map { issue in
                let name = UserInformation.hidden(in: issue.file)
                let path = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
                let region = Region(startLine: issue.line, startColumn: excerpts.scalarColumn(of: issue))
                return Result(
                    ruleId: issue.code.rawValue,
                    level: issue.severity.rawValue,
                    message: Message(text: issue.message),
                    locations: [
                        Location(
                            physicalLocation: PhysicalLocation(
                                artifactLocation: ArtifactLocation(uri: path),
                                region: region
                            )
                        )
                    ]
                )
            }
        }
        runs = [Run(tool: Tool(driver: Driver(rules: codes.map(Rule.init))), results: found)]
    }
}
