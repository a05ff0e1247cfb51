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
        let findings = await remote.findings(of: copies, console.network)
        var run = UpdateRun(discards: discards, keeps: keeps, addition: addition, findings: findings)
        run.options = arguments.words(of: .includePrivate, .maxSize)
        if arguments.has(.dryRun) {
            if format == .text { try run.printComparison(listsAll: arguments.has(all), console) }
        } else {
            let staging = try StagingFolder.guarded(for: manifest, isDryRun: false, console)
            await run.load(staging, limit, console.network)
            run.raiseVersion()
            let discarded = try run.addition.commit(in: staging)
            if format == .text { run.printResult(console) }
            if let discarded {
                let line = "The edited files are in \(visible(discarded.path))."
                format == .text ? console.print(line) : console.printError(line)
            }
        }
        if format != .text { try console.print(run.items, as: format) }
        return run.status(isDryRun: arguments.has(.dryRun))
    }
}

/// One run of the `update` command.
private struct UpdateRun {
    let discards: Bool
    let keeps: Bool
    /// The options to repeat in the commands that decide a conflict.
    var options: [String] = []
    var addition: Addition
    /// The findings; after the loads, as they are once the changes are made.
    private(set) var findings: [RemoteCheck.Finding]
    private var updated: [String] = []
    /// The raised `$version`; nil if it was not raised.
    private var version: Int64?
    /// The reasons why files were not loaded, keyed by the index of the finding.
    private var failed: [Int: String] = [:]

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

    /// Raises the manifest's `$version` if a file is replaced.
    mutating func raiseVersion() {
        if !updated.isEmpty { version = addition.raiseVersion() }
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
        case .added, .replaced, .present:
            findings[index].set(.current, nil)
            updated.append(visible(file.file))
        }
    }

    /// The status to exit with.
    func status(isDryRun: Bool) -> ExitStatus {
        let needsAttention = findings.contains(where: \.needsAttention)
        if isDryRun, needsAttention || findings.contains(where: isLoaded) { return .outdated }
        return needsAttention || !failed.isEmpty || findings.contains { $0.state == .unknown } ? .bad : .good
    }

    // MARK: - Output

    /// Prints the states of the files, and what an update would do.
    func printComparison(listsAll: Bool, _ console: Console) throws {
        let listed = findings.filter { listsAll || ![.current, .exempt].contains($0.state) }
        try console.print(listed.map { ReportItem(cells: $0.cells) }, as: .text)
        for finding in listed where finding.state != .differs && isLoaded(finding) {
            console.print("would \(keeps ? "keep" : "replace") \(visible(finding.copy.substitution.file))")
        }
        console.print(summary(listsAll: listsAll))
        for finding in findings where finding.state == .conflict && !isLoaded(finding) {
            console.print("\(quoted(finding.copy.substitution.file)) is in conflict with its server:")
            finding.remedies(addition.manifest, options).forEach(console.print)
        }
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
        for (index, finding) in findings.enumerated() {
            let (file, reason) = (finding.copy.substitution, failed[index] ?? finding.reason ?? "")
            if finding.state == .edited, failed[index] == nil {
                console.print("kept \(visible(file.file)): \(visible(reason))")
            } else if failed[index] != nil || ![.current, .exempt].contains(finding.state) {
                let verb = finding.state == .conflict && failed[index] == nil ? "replaced" : "loaded"
                console.printError("\(quoted(file.url)) was not \(verb): \(visible(reason))")
                if failed[index] == nil { finding.remedies(addition.manifest, options).forEach(console.printError) }
            }
        }
        func count(_ states: RemoteRecord.State...) -> Int {
            findings.indices.count { failed[$0] == nil && states.contains(findings[$0].state) }
        }
        let others = [
            (count(.edited), "edited here"), (count(.conflict), "in conflict"),
            (failed.count + count(.differs, .empty, .gone, .unknown), "not loaded"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let counts = [
            "\(counted(updated.count, "file")) updated", "\(count(.current) - updated.count) up to date",
        ]
        console.print((counts + others).joined(separator: ", "))
    }

    /// An object for each file, and an annotation for each file that is not current.
    var items: [ReportItem] {
        findings.enumerated().map { index, finding in
            let (file, state, reason) = (
                finding.copy.substitution, finding.state.rawValue, failed[index] ?? finding.reason
            )
            let isCurrent = failed[index] == nil && !finding.needsAttention && finding.state != .unknown
            let sentence = "\(quoted(file.file)) is not current: \(reason ?? finding.cells.last ?? "")"
            let place = (addition.manifest.name, file.line, file.column)
            return ReportItem(
                [
                    "url": visible(file.url), "file": visible(file.file), "state": state,
                    "size": finding.localSize ?? file.size,
                    "remoteSize": finding.size, "reason": reason,
                ],
                isCurrent ? [] : [.init("warning", state, sentence, at: place)]
            )
        }
    }
}
