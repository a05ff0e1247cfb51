import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Reloads each file that differs from the current version on its server.
enum UpdateCommand {
    static let command = Command(
        name: "update",
        summary: "Reloads the files that differ from their servers' current versions.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [.dryRun, .maxSize, .includePrivate],
        discussion: """
            Finds the outdated files as substitute outdated does. A file is replaced if its new version was loaded
            completely and still matches its type; the other files and the manifest are not changed. All files are
            replaced together at the end; Control-C before that changes nothing.

            \(Command.aboutManifest)

            Exits with 0 if every file is now up to date; 1 if a file could not be loaded or the manifest has errors;
            and 2 on a usage error.
            """,
        example: "  substitute update",
        run: run
    )

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> Int32 {
        guard arguments.operands.count <= 1 else { throw UsageError("name one manifest") }
        let limit = try Option.size(in: arguments)
        let manifest = try ManifestLocation(console).find(arguments.operands.first)
        var addition = try Addition(to: manifest, on: console.now())
        addition.includesPrivate = arguments.has(.includePrivate)
        var updated: [String] = []
        let remote = RemoteCheck(addition.check, in: manifest.folder)
        let findings = await remote.findings(of: remote.copies, console.network)
        // If several URLs share one file, the servers' versions may differ, and the tool cannot choose one of them.
        let shared = Dictionary(grouping: findings.filter { $0.word != "exempt" }) { $0.copy.substitution.realPath }
        func isShared(_ finding: RemoteCheck.Finding) -> Bool {
            shared[finding.copy.substitution.realPath, default: []].count > 1
        }
        let differing = findings.filter { $0.word == "differs" }
        let outdated = differing.filter { !isShared($0) }
        var failed = findings.filter { ["gone", "unknown"].contains($0.word) }.map { ($0.copy, $0.reason ?? "") }
        failed += differing.filter(isShared).map { ($0.copy, "several entries name its file; give each its own file") }
        if arguments.has(.dryRun) {
            for finding in outdated { console.print("would load \(visible(finding.copy.substitution.file))") }
        } else {
            let staging = try StagingFolder.guarded(for: manifest, isDryRun: false, console)
            let downloads = outdated.map { Download(key: $0.copy.key, url: $0.copy.url) }
            for (finding, load) in zip(outdated, await Download.loads(downloads, staging, limit, console.network)) {
                switch load.map({ addition.replace(finding.copy.substitution, with: $0) }) {
                case .success(.refused(let reason)): failed.append((finding.copy, reason))
                case .failure(let error): failed.append((finding.copy, error.message))
                case .success: updated.append(visible(finding.copy.substitution.file))
                }
            }
            for finding in findings {
                if case .current(let version?) = finding.state {
                    addition.recordVersion(version, of: finding.copy.substitution, finding.copy.key)
                }
            }
            try addition.commit(in: staging)
            for file in updated { console.print("updated \(file)") }
        }
        for (copy, reason) in failed {
            console.printError("\(quoted(copy.substitution.url)) was not loaded: \(visible(reason))")
        }
        let current = findings.count { $0.word == "current" }
        let counts = ["\(counted(updated.count, "file")) updated", "\(current) up to date"]
        console.print((counts + (failed.isEmpty ? [] : ["\(failed.count) not loaded"])).joined(separator: ", "))
        return failed.isEmpty ? 0 : 1
    }
}
