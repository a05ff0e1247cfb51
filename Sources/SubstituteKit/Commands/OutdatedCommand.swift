import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Lists the files that differ from their servers' current versions.
enum OutdatedCommand {
    static let command = Command(
        name: "outdated",
        summary: "Lists the files that differ from what their servers have now.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [all, json],
        discussion: """
            Asks each URL of the manifest, four at a time. A server that told a version when the file was loaded (by add or
            update) is asked whether it has another; all others are asked for the bytes, which are compared. Entries with
            "when" are not asked about, because their files are meant to differ, nor are example.com and its like, which have
            none. Nothing is written.

            \(Command.aboutManifest)

            Exits with 0 when every file is what its server has; 1 when one differs, or its URL is gone, or the manifest has
            errors; 3 when no file is known to differ, but a server could not be asked; and 2 when it is used wrongly.
            """,
        example: "  substitute outdated || substitute update",
        run: run
    )

    private static let all = Option(
        "all",
        short: "a",
        "List also the files that are up to date, or are not asked about."
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
            ("unknown", "could not be asked about", nil),
            ("current", "are up to date", "is up to date"), ("exempt", "are not asked about", "is not asked about"),
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
