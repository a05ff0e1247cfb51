import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Reloads each file that only its server has changed.
enum UpdateCommand {
    static let command = Command(
        name: "update",
        summary: "Reloads the files that have changed on their servers, and keeps those that were edited here.",
        operands: "[OPTIONS] [MANIFEST] [URL…]",
        operandKind: .manifest,
        options: [.discardEdits, keepEdits, .dryRun, .maxSize, .includePrivate],
        discussion: """
            Finds the outdated files as substitute outdated does, and replaces those that differ. A file that was
            edited here is kept. If its server has changed, too, or if .substitute.json does not know the file, it is
            in conflict: it is kept, and reported with the commands that decide. An empty file never replaces one that
            is not empty.

            A file is replaced if its new version was loaded completely and still matches its type; the other files
            and the manifest are not changed. All files are replaced together at the end; Control-C before that
            changes nothing. With URLs, only their files are compared.

            \(Command.aboutManifest)

            Exits with 0 if every file is now current, or edited here only; 1 if a file is in conflict, was not loaded
            or is gone, or the manifest has errors; 3 if there is none of these, but a file could not be compared; and
            2 on a usage error.
            """,
        example: "  substitute update",
        run: run
    )

    private static let keepEdits = Option(
        "keep-edits",
        "Decide conflicts for the files here: they count as edited, until their servers change\nagain."
    )

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, urls) = try ManifestLocation(console).split(arguments.operands)
        let keys = try urls.map(AddCommand.key)
        let limit = try arguments[.maxSize]?.bytes
        let (discards, keeps) = (arguments.has(.discardEdits), arguments.has(keepEdits))
        if discards, keeps { throw UsageError("--discard-edits and --keep-edits exclude each other") }
        let manifest = try ManifestLocation(console).find(named)
        var addition = try Addition(to: manifest, console)
        addition.includesPrivate = arguments.has(.includePrivate)
        let remote = try RemoteCheck(addition.check, in: manifest.folder)
        let copies = try keys.isEmpty ? remote.copies : keys.flatMap { key in try remote.copies(of: key) }
        let isDryRun = arguments.has(.dryRun)
        let findings = await remote.findings(of: copies, console.network)
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: isDryRun, console)
        var run = UpdateRun(discards: discards, keeps: keeps, addition: addition, findings: findings)
        await run.load(staging, limit, console.network)
        let discarded = isDryRun ? nil : try run.addition.commit(in: staging)
        run.report(isDryRun, console)
        if let discarded { console.print("The edited files are in \(visible(discarded.path)).") }
        if isDryRun { console.print("Nothing was written.") }
        return run.failed.isEmpty ? run.findings.status : .bad
    }
}

/// One run of the `update` command.
private struct UpdateRun {
    let discards: Bool
    let keeps: Bool
    var addition: Addition
    /// The findings; after the loads, as they are once the changes are made.
    private(set) var findings: [RemoteCheck.Finding]
    private var updated: [String] = []
    /// The reasons why files were not loaded, keyed by the index of the finding.
    private(set) var failed: [Int: String] = [:]

    init(discards: Bool, keeps: Bool, addition: Addition, findings: [RemoteCheck.Finding]) {
        (self.discards, self.keeps, self.addition, self.findings) = (discards, keeps, addition, findings)
    }

    /// True if the server's version of a file is loaded.
    private func isLoaded(_ finding: RemoteCheck.Finding) -> Bool {
        switch finding.state {
        case .differs: !finding.copy.isShared
        case .edited: discards
        case .conflict: discards || keeps
        case .current, .empty, .gone, .unknown, .exempt: false
        }
    }

    /// Loads the servers' versions, and schedules the changes.
    mutating func load(_ staging: StagingFolder, _ limit: Int?, _ network: Network) async {
        let indices = findings.indices.filter { isLoaded(findings[$0]) }
        let downloads = indices.map { Download(key: findings[$0].copy.key, url: findings[$0].copy.url) }
        for (index, load) in zip(indices, await Download.loads(downloads, staging, limit, network)) {
            switch load {
            case .success(let resource): use(resource, index)
            case .failure(let error): failed[index] = error.message
            }
        }
        for finding in findings {
            guard let version = finding.version, [.current, .edited].contains(finding.state) else { continue }
            addition.recordVersion(version, of: finding.copy.substitution)
        }
    }

    private mutating func use(_ resource: Resource, _ index: Int) {
        let file = findings[index].copy.substitution
        if keeps, findings[index].state == .conflict, let copy = try? Fingerprint(of: resource.file), copy.count != 0 {
            findings[index].set(.edited, "it was edited here, and its server's present version is noted")
            findings[index].version = (resource.version ?? RemoteVersion()).with(copy)
            return
        }
        switch addition.replace(file, with: resource, discardsEdits: discards) {
        case .kept(let state, let reason):
            // The file was edited, or its server changed again, since the comparison.
            findings[index].set(state, reason)
        case .refused(let reason):
            failed[index] = reason
        case .added, .replaced, .moved, .present:
            findings[index].set(.current, nil)
            updated.append(visible(file.file))
        }
    }

    func report(_ isDryRun: Bool, _ console: Console) {
        for file in updated { console.print("\(isDryRun ? "would load" : "updated") \(file)") }
        for (index, finding) in findings.enumerated() {
            let file = finding.copy.substitution
            let reason = failed[index] ?? finding.reason ?? ""
            if finding.state == .edited, failed[index] == nil {
                console.print("kept \(visible(file.file)): \(visible(reason))")
            } else if failed[index] != nil || ![.current, .exempt].contains(finding.state) {
                console.printError("\(quoted(file.url)) was not loaded: \(visible(reason))")
                if failed[index] == nil { finding.remedies(addition.manifest).forEach(console.printError) }
            }
        }
        func count(_ states: RemoteRecord.State...) -> Int {
            findings.indices.count { failed[$0] == nil && states.contains(findings[$0].state) }
        }
        let files = counted(updated.count, "file") + (isDryRun ? " would be updated" : " updated")
        let others = [
            (count(.edited), "edited here"), (count(.conflict), "in conflict"),
            (failed.count + count(.differs, .empty, .gone, .unknown), "not loaded"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        console.print(
            ([files, "\(count(.current) - updated.count) up to date"] + others).joined(separator: ", ")
        )
    }
}
