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
            Requests each URL of the manifest, four at a time, and compares three versions: the copy that the tool
            loaded (.substitute.json has its fingerprint), the file now, and what the server sends. If the server sent
            a version (ETag or Last-Modified) with the copy, the command asks only whether that has changed. It skips
            entries with "when", because their files are meant to differ, and example.com and similar names, which
            have no files. Nothing is written. The states:

              current   the server has the file's bytes
              differs   the server has other bytes; update loads them
              edited    the file was edited here, and the server has not changed; update keeps it
              conflict  both have changed, or the file differs and is not in .substitute.json; update keeps it
              empty     the server sends an empty file, and the file is not empty; update keeps it
              gone      the server answers 404 or 410

            \(Command.aboutManifest)

            Exits with 0 if every file is current, edited here only, or skipped; 1 if a file differs, is in conflict,
            empty or gone, or the manifest has errors; 3 if there is none of these, but a file could not be compared;
            and 2 on a usage error.
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

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let manifest = try ManifestLocation(console).only(arguments.operands)
        let remote = try RemoteCheck(manifest.checked(on: console.now()), in: manifest.folder)
        let findings = await remote.findings(of: remote.copies, console.network)
        if arguments.has(json) {
            for finding in findings { try console.printJSON(OutputLine(finding)) }
        } else {
            let listed = findings.filter { arguments.has(all) || ![.current, .exempt].contains($0.state) }
            console.printTable(listed.map(\.cells))
            console.print(summary(of: findings, listsAll: arguments.has(all)))
            for finding in findings where finding.state == .conflict {
                console.print("\(quoted(finding.copy.substitution.file)) is in conflict with its server:")
                finding.remedies(manifest).forEach(console.print)
            }
        }
        return findings.status
    }

    private static func summary(of findings: [RemoteCheck.Finding], listsAll: Bool) -> String {
        let counts = Dictionary(grouping: findings, by: \.state.rawValue).mapValues(\.count)
        let parts = [
            ("differs", "differ", "differs"), ("conflict", "are in conflict", "is in conflict"),
            ("empty", "are empty there", "is empty there"), ("gone", "are gone", "is gone"),
            ("unknown", "could not be compared", nil),
            ("edited", "are edited here", "is edited here"),
            ("current", "are up to date", "is up to date"), ("exempt", "were skipped", "was skipped"),
        ].compactMap { word, many, one in
            counts[word].map { "\($0) \($0 == 1 ? one ?? many : many)" }
        }
        let skipped = findings.filter { $0.state == .exempt }.map { visible($0.copy.substitution.file) }
        let names = skipped.prefix(3).joined(separator: ", ") + (skipped.count > 3 ? ", …" : "")
        return counted(findings.count, "file") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
            + (skipped.isEmpty || listsAll ? "" : " (\(names); --all says why)")
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
            (url, file, state) = (visible(substitution.url), visible(substitution.file), finding.state.rawValue)
            (size, date) = (substitution.size, finding.date)
            (remoteSize, remoteDate) = (finding.size, finding.remoteDate)
            reason = finding.reason
        }
    }
}
