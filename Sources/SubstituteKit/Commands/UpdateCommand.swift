import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Compares the files with their servers' versions, and reloads each file that only its server has changed.
enum UpdateCommand {
    static let command = Command(
        name: "update",
        options: [.dryRun, format, .discardEdits, keepEdits, .maxSize, .includePrivate],
        run: run
    )

    private static let format = ReportFormat.option()
    private static let keepEdits = Option("keep-edits")

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, urls) = try ManifestLocation(console).split(arguments.operands)
        let keys = try urls.map(AddCommand.key)
        let limit = try arguments[.maxSize]?.bytes
        let format = try arguments[format] ?? .text
        let (discards, keeps) = (arguments.has(.discardEdits), arguments.has(keepEdits))
        if discards, keeps { throw UsageError("--discard-edits and --keep-edits exclude each other") }
        let manifest = try ManifestLocation(console).find(named)
        var addition = try Addition(to: manifest, console)
        addition.includesPrivate = arguments.has(.includePrivate)
        let remote = try RemoteCheck(addition.check, in: manifest.folder)
        let copies = try keys.isEmpty ? remote.copies : keys.flatMap { key in try remote.copies(of: key) }
        let isDryRun = arguments.has(.dryRun)
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: isDryRun, console)
        let findings = await remote.findings(
            of: copies,
            in: staging,
            limit: limit,
            discardsEdits: discards,
            console.network
        )
        var run = UpdateRun(
            discards: discards,
            keeps: keeps,
            isDryRun: isDryRun,
            options: arguments.words(of: .includePrivate, .maxSize),
            addition: addition,
            findings: findings
        )
        if !isDryRun { run.apply() }
        let discarded = isDryRun ? nil : try run.addition.commit(in: staging)
        let copied = discarded.map { "The edited files are in \(visible($0.path))." }
        try console.print(run.items, sum: run.summary + [copied].compactMap(\.self), as: format)
        if format == .json, let copied { console.printError(copied) }
        return run.status
    }
}

/// One run of the `update` command.
private struct UpdateRun {
    let discards: Bool
    let keeps: Bool
    let isDryRun: Bool
    /// The options to repeat in the commands that decide a conflict.
    let options: [String]
    var addition: Addition
    /// The findings; after ``apply()``, as they are once the changes are made.
    var findings: [RemoteCheck.Finding]
    /// The indices of the findings whose files are replaced.
    fileprivate var updated: Set<Int> = []
    /// The raised `$version`; nil if it was not raised.
    fileprivate var version: Int64?

    /// True if the server's version of a file is taken, or noted.
    private func isTaken(_ finding: RemoteCheck.Finding) -> Bool {
        switch finding.state {
        case .differs: !finding.copy.isShared
        case .edited: discards
        case .conflict: discards || keeps
        case .current, .empty, .gone, .unknown, .exempt: false
        }
    }

    /// Schedules the changes, and raises the manifest's `$version` if a file is replaced.
    mutating func apply() {
        for index in findings.indices where isTaken(findings[index]) {
            if let resource = findings[index].resource { use(resource, index) }
        }
        for finding in findings where [.current, .edited].contains(finding.state) {
            if let version = finding.version { addition.recordVersion(version, of: finding.copy.substitution) }
        }
        if !updated.isEmpty { version = addition.raiseVersion() }
    }

    private mutating func use(_ resource: Resource, _ index: Int) {
        let finding = findings[index]
        if keeps, finding.state == .conflict {
            let reason = "it was edited here, and its server's present version is noted"
            return findings[index].set(.edited, reason, finding.version)
        }
        switch addition.replace(finding.copy.substitution, with: resource, discardsEdits: discards) {
        // The file was edited since the comparison.
        case .kept(let state, let reason): findings[index].set(state, reason)
        case .refused(let reason): findings[index].set(.unknown, reason)
        case .added, .replaced, .present:
            findings[index].set(.current, nil)
            updated.insert(index)
        }
    }

    /// The status to exit with.
    var status: ExitStatus {
        if isDryRun, findings.contains(where: { $0.needsAttention || isTaken($0) }) { return .outdated }
        return findings.contains { $0.needsAttention || $0.state == .unknown } ? .bad : .good
    }

    /// A row for each file that is not current or was replaced, and an object for each file.
    var items: [ReportItem] {
        findings.enumerated().map { index, finding in
            let (file, state) = (finding.copy.substitution, finding.state)
            let words = updated.contains(index) ? "updated" : state.rawValue
            let isListed = updated.contains(index) || state != .current
            let remedies = state == .conflict ? finding.remedies(addition.manifest, options) : []
            let effect = "would \(keeps ? "keep" : "replace") \(visible(file.path))"
            let lines = isDryRun && isTaken(finding) ? (state == .differs ? [] : [effect]) : remedies
            let sentence = "\(quoted(file.path)) is not current: \(finding.reason ?? "")"
            let annotation = ReportItem.Annotation(
                "warning",
                state.rawValue,
                sentence,
                at: (addition.manifest.name, file.line, file.column)
            )
            return ReportItem(
                cells: isListed ? [words, visible(file.url), visible(file.path), visible(finding.reason ?? "")] : [],
                lines: lines.map { "  \($0)" },
                [
                    "url": visible(file.url), "file": visible(file.path), "state": state.rawValue,
                    "size": finding.localSize ?? file.size, "remoteSize": finding.size, "reason": finding.reason,
                ],
                finding.needsAttention || state == .unknown ? [annotation] : []
            )
        }
    }

    /// The number of files in each state, after a line about the manifest's `$version`.
    var summary: [String] {
        let counts = Dictionary(grouping: findings.indices.filter { !updated.contains($0) }) { findings[$0].state }
        let words: [(RemoteRecord.State, many: String, one: String)] = [
            (.differs, "differ", "differs"), (.conflict, "are in conflict", "is in conflict"),
            (.empty, "are empty there", "is empty there"), (.gone, "are gone", "is gone"),
            (.unknown, "could not be compared or loaded", "could not be compared or loaded"),
            (.edited, "are edited here", "is edited here"),
            (.current, "are up to date", "is up to date"), (.exempt, "were skipped", "was skipped"),
        ]
        var parts = words.compactMap { state, many, one in
            counts[state].map { "\($0.count) \($0.count == 1 ? one : many)" }
        }
        if !updated.isEmpty { parts.insert("\(updated.count) updated", at: 0) }
        return (version.map { ["raised \"$version\" to \($0)"] } ?? [])
            + [counted(findings.count, "file") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))]
    }
}
