import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Compares the files with their servers' versions, and reloads each file that only its server has changed.
enum UpdateCommand {
    static let command = Command(
        name: "update",
        options: [.dryRun, all, format, .discardEdits, keepEdits, .maxSize, .includePrivate],
        run: run
    )

    private static let all = Option("all")
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
        var run = UpdateRun(discards: discards, keeps: keeps, addition: addition, findings: findings)
        run.options = arguments.words(of: .includePrivate, .maxSize)
        let status = isDryRun ? run.statusOfDryRun : run.apply()
        let discarded = isDryRun ? nil : try run.addition.commit(in: staging)
        switch (format, isDryRun) {
        case (.text, true): try run.printComparison(listsAll: arguments.has(all), console)
        case (.text, false): run.printResult(console)
        default: try console.print(run.items, as: format)
        }
        if let discarded {
            let line = "The edited files are in \(visible(discarded.path))."
            format == .text ? console.print(line) : console.printError(line)
        }
        return status
    }
}

/// One run of the `update` command.
private struct UpdateRun {
    let discards: Bool
    let keeps: Bool
    /// The options to repeat in the commands that decide a conflict.
    var options: [String] = []
    var addition: Addition
    /// The findings; after ``apply()``, as they are once the changes are made.
    private(set) var findings: [RemoteCheck.Finding]
    private var updated: [String] = []
    /// The raised `$version`; nil if it was not raised.
    private var version: Int64?

    init(discards: Bool, keeps: Bool, addition: Addition, findings: [RemoteCheck.Finding]) {
        (self.discards, self.keeps, self.addition, self.findings) = (discards, keeps, addition, findings)
    }

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
    ///
    /// - Returns: The status to exit with.
    mutating func apply() -> ExitStatus {
        for index in findings.indices where isTaken(findings[index]) {
            if let resource = findings[index].resource { use(resource, index) }
        }
        for finding in findings where [.current, .edited].contains(finding.state) {
            if let version = finding.version { addition.recordVersion(version, of: finding.copy.substitution) }
        }
        if !updated.isEmpty { version = addition.raiseVersion() }
        return findings.contains { $0.needsAttention || $0.state == .unknown } ? .bad : .good
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
            updated.append(visible(finding.copy.substitution.file))
        }
    }

    /// The status to exit with if nothing is changed.
    var statusOfDryRun: ExitStatus {
        if findings.contains(where: { $0.needsAttention || isTaken($0) }) { return .outdated }
        return findings.contains { $0.state == .unknown } ? .bad : .good
    }

    // MARK: - Output

    /// Prints the states of the files, and what an update would do.
    func printComparison(listsAll: Bool, _ console: Console) throws {
        let listed = findings.filter { listsAll || ![.current, .exempt].contains($0.state) }
        let items = listed.map { finding in
            let verb = "  would \(keeps ? "keep" : "replace") \(visible(finding.copy.substitution.file))"
            let isNamed = finding.state != .differs && isTaken(finding)
            let remedies = finding.state == .conflict ? finding.remedies(addition.manifest, options) : []
            return ReportItem(cells: finding.cells, lines: isNamed ? [verb] : remedies.map { "  \($0)" })
        }
        try console.print(items, sum: [summary(listsAll: listsAll)], as: .text)
    }

    private func summary(listsAll: Bool) -> String {
        let counts = Dictionary(grouping: findings, by: \.state).mapValues(\.count)
        let words: [(RemoteRecord.State, many: String, one: String)] = [
            (.differs, "differ", "differs"), (.conflict, "are in conflict", "is in conflict"),
            (.empty, "are empty there", "is empty there"), (.gone, "are gone", "is gone"),
            (.unknown, "could not be compared", "could not be compared"),
            (.edited, "are edited here", "is edited here"),
            (.current, "are up to date", "is up to date"), (.exempt, "were skipped", "was skipped"),
        ]
        let parts = words.compactMap { state, many, one in counts[state].map { "\($0) \($0 == 1 ? one : many)" } }
        let skipped = findings.filter { $0.state == .exempt }.map { visible($0.copy.substitution.file) }
        let names = skipped.prefix(3).joined(separator: ", ") + (skipped.count > 3 ? ", …" : "")
        return counted(findings.count, "file") + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
            + (skipped.isEmpty || listsAll ? "" : " (\(names); --all says why)")
    }

    /// Prints what was done.
    func printResult(_ console: Console) {
        for file in updated { console.print("updated \(file)") }
        if let version { console.print("raised \"$version\" to \(version)") }
        for finding in findings where ![.current, .exempt].contains(finding.state) {
            let (file, reason) = (finding.copy.substitution, visible(finding.reason ?? ""))
            guard finding.state != .edited else {
                console.print("kept \(visible(file.file)): \(reason)")
                continue
            }
            let verb = finding.state == .conflict ? "replaced" : "loaded"
            console.printError("\(quoted(file.url)) was not \(verb): \(reason)")
            finding.remedies(addition.manifest, options).forEach { console.printError("  \($0)") }
        }
        let counts = Dictionary(grouping: findings, by: \.state).mapValues(\.count)
        func count(_ states: RemoteRecord.State...) -> Int { states.reduce(0) { $0 + counts[$1, default: 0] } }
        let others = [
            (count(.edited), "edited here"), (count(.conflict), "in conflict"),
            (count(.differs, .empty, .gone, .unknown), "not loaded"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let done = ["\(counted(updated.count, "file")) updated", "\(count(.current) - updated.count) up to date"]
        console.print((done + others).joined(separator: ", "))
    }

    /// An object for each file, and an annotation for each file that is not current.
    var items: [ReportItem] {
        findings.map { finding in
            let (file, state) = (finding.copy.substitution, finding.state.rawValue)
            let isCurrent = !finding.needsAttention && finding.state != .unknown
            let sentence = "\(quoted(file.file)) is not current: \(finding.reason ?? "")"
            let place = (addition.manifest.name, file.line, file.column)
            return ReportItem(
                [
                    "url": visible(file.url), "file": visible(file.file), "state": state,
                    "size": finding.localSize ?? file.size,
                    "remoteSize": finding.size, "reason": finding.reason,
                ],
                isCurrent ? [] : [.init("warning", state, sentence, at: place)]
            )
        }
    }
}
