import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Lists the files that differ from their servers' current versions.
enum OutdatedCommand {
    static let command = Command(
        name: "outdated",
        summary: "Lists the files that differ from their servers' current versions.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [all, json],
        discussion: """
            Requests each URL of the manifest, four at a time. If the server sent a version (ETag or Last-Modified)
            when add or update loaded the file, the command asks only whether that has changed; otherwise, it loads
            and compares the bytes. It skips entries with "when", because their files are meant to differ, and
            example.com and similar names, which have no files. Nothing is written.

            \(Command.aboutManifest)

            Exits with 0 if every file is up to date; 1 if a file differs, its URL is gone, or the manifest has
            errors; 3 if no file is known to differ, but one could not be compared; and 2 on a usage error.
            """,
        example: "  substitute outdated || substitute update",
        run: run
    )

    private static let all = Option(
        "all",
        short: "a",
        "Also list files that are up to date, or skipped."
    )
    private static let json = Option("json", "Print one JSON object for each file, and nothing else.")

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> Int32 {
        guard arguments.operands.count <= 1 else { throw UsageError("name one manifest") }
        let manifest = try ManifestLocation(console).find(arguments.operands.first)
        let check = ManifestCheck(manifest, on: console.now())
        guard check.errors.isEmpty else {
            for issue in check.errors { console.printError("\(issue)") }
            return 1
        }
        let remote = RemoteCheck(check, in: manifest.folder)
        let findings = await remote.findings(of: remote.copies, console.network)
        if arguments.has(json) {
            for finding in findings { console.print(try JSONLine.encode(OutputLine(finding))) }
        } else {
            var table = TextTable()
            for finding in findings where arguments.has(all) || finding.needsAttention { table.append(finding.cells) }
            table.lines.forEach(console.print)
            console.print(summary(of: findings))
        }
        if findings.contains(where: \.isOutdated) { return 1 }
        return findings.contains { $0.word == "unknown" } ? 3 : 0
    }

    private static func summary(of findings: [RemoteCheck.Finding]) -> String {
        let counts = Dictionary(grouping: findings, by: \.word).mapValues(\.count)
        let parts = [
            ("differs", "differ", "differs"), ("gone", "are gone", "is gone"),
            ("unknown", "could not be compared", nil),
            ("current", "are up to date", "is up to date"), ("exempt", "were skipped", "was skipped"),
        ].compactMap { word, many, one in
            counts[word].map { "\($0) \($0 == 1 ? one ?? many : many)" }
        }
        return counted(findings.count, "file") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
    }

    private struct OutputLine: Encodable {
        let url: String
        let file: String
        let state: String
        let size: Int
        let date: String?
        let remoteSize: Int?
        let remoteDate: String?
        let reason: String?

        init(_ finding: RemoteCheck.Finding) {
            let substitution = finding.copy.substitution
            (url, file, state) = (visible(substitution.url), visible(substitution.file), finding.word)
            (size, date) = (substitution.size, finding.date)
            (remoteSize, remoteDate) = (finding.remote.size, finding.remote.date)
            reason = finding.reason
        }
    }
}
