import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// One run of the `add` command, whatever the source of its resources.
struct AddRun {
    /// The path of the only file; nil to derive paths from URLs.
    private let path: String?
    private let (replaces, discardsEdits, isDryRun, includesPrivate): (Bool, Bool, Bool, Bool)
    /// The options to repeat in the commands that decide a conflict.
    private let options: [String]
    private let console: Console

    static let path = Option("as", value: "path", filePath)
    static let replace = Option("replace")

    /// Reads the options of the command line.
    init(_ arguments: Arguments, _ console: Console) throws {
        path = try arguments[Self.path]
        (replaces, discardsEdits) = (arguments.has(Self.replace), arguments.has(.discardEdits))
        (isDryRun, includesPrivate) = (arguments.has(.dryRun), arguments.has(.includePrivate))
        options = arguments.words(of: .includePrivate, .maxSize)
        self.console = console
    }

    /// Adds the resources of a source to the manifest, and prints a report.
    ///
    /// - Returns: The status to exit with.
    /// - Throws: ``ToolError`` if the changes cannot be made; the manifest's folder is then unchanged.
    func add(_ source: some ResourceSource, to addition: Addition) async throws -> ExitStatus {
        var (source, addition) = (source, addition)
        addition.includesPrivate = includesPrivate
        let staging = try StagingFolder.guarded(for: addition.manifest, isDryRun: isDryRun, console)
        var report = AddReport(addition.manifest, options)
        var taken: [Resource] = []
        var (path, isFirst) = (path, true)
        repeat {
            let found = try await source.next(after: taken, for: addition, in: staging)
            taken = found.compactMap { try? $0.result?.get() }
            for each in found {
                let outcome = each.result.map { result -> Addition.Outcome in
                    switch result {
                    case .success(let resource):
                        addition.add(resource, as: path, replaces: replaces, discardsEdits: discardsEdits)
                    case .failure(let error): .refused(error.message)
                    }
                }
                report.add(each, outcome)
            }
            if source.isStrict, isFirst, !report.problems.isEmpty {
                report.problems.forEach(console.printError)
                console.printError("Nothing was changed.")
                return .bad
            }
            (path, isFirst) = (nil, false)
        } while !taken.isEmpty
        // Commit before printing, so that the output never reports a change that was not made.
        let discarded = isDryRun ? nil : try addition.commit(in: staging)
        if source.isStrict {
            report.problems.forEach(console.printError)
            (report.lines + source.lines).forEach(console.print)
        } else if isDryRun {
            try report.printTable(console)
        } else {
            report.printSummary(console)
        }
        if let discarded { console.print("The edited files are in \(visible(discarded.path)).") }
        if isDryRun { console.print("Nothing was written.") }
        return .good
    }

    /// Parses a path below the manifest's folder.
    @Sendable private static func filePath(_ text: String) throws(UsageError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") } && !text.contains("\\")
        guard isBelow, text != "manifest.json" else {
            throw UsageError("\(quoted(text)) cannot be a file in the manifest's folder; write it as img/logo.png")
        }
        return text
    }
}

/// The outcome of each resource.
private struct AddReport {
    private let manifest: ManifestFile
    private let options: [String]
    /// A line for each added resource, and a sentence for each one that was not added.
    private(set) var (lines, problems): ([String], [String]) = ([], [])
    private var rows: [[String]] = []
    private var sizes: [Int] = []
    private var left: [(reason: String, url: String)] = []
    private var remarks: [(url: String, remark: String)] = []

    init(_ manifest: ManifestFile, _ options: [String]) { (self.manifest, self.options) = (manifest, options) }

    /// Adds an outcome; nil if another round has the resource.
    mutating func add(_ found: FoundResource, _ outcome: Addition.Outcome?) {
        let url = visible(found.url)
        lines += outcome == nil ? found.remarks : []
        switch outcome {
        case .added(let file, let more):
            lines.append("added    \(url) → \(visible(file))")
            lines += (found.remarks + more).map { "         \(visible($0))" }
            take(found, file, found.remarks + more)
        case .replaced(let file):
            lines.append("replaced \(url) → \(visible(file))")
            take(found, file, found.remarks)
        case .present(let line):
            lines.append("present  \(url), answered by line \(line); --replace loads it again")
            skip(found, "the entry in line \(line) already answers it")
        case .kept(_, let reason):
            let line = manifest.line(["add", "--replace", "--discard-edits"] + options, urls: [found.url])
            problems.append("\(quoted(found.url)) was not loaded: \(reason)\n  to take its server's version: \(line)")
            skip(found, "\(reason); --discard-edits replaces it")
        case .refused(let reason):
            problems.append("\"\(url)\" was not loaded: \(visible(reason))")
            skip(found, reason)
        case nil: break
        }
    }

    private mutating func skip(_ found: FoundResource, _ reason: String) {
        left.append((reason, found.url))
        rows.append(["skip", Self.short(found.url), "", "", visible(reason)])
    }

    private mutating func take(_ found: FoundResource, _ file: String, _ about: [String]) {
        sizes.append(found.count)
        remarks += about.map { (found.url, $0) }
        let (size, words) = (ByteCount(found.count).description, visible(about.joined(separator: "; ")))
        rows.append(["take", Self.short(found.url), visible(file), size, words])
    }

    func printTable(_ console: Console) throws {
        try console.print(rows.map { ReportItem(cells: $0) }, sum: [total], as: .text)
    }

    func printSummary(_ console: Console) {
        // Equal remarks share one line.
        for (remark, same) in remarks.grouped(by: \.remark) {
            let count = same.count == 1 ? "" : "\(same.count), such as "
            console.print("\(count)\(Self.short(same[0].url)): \(visible(remark))")
        }
        // Equal reasons share one line of the summary.
        let groups = left.grouped(by: \.reason)
        if !groups.isEmpty { console.print("Left out:") }
        for (reason, same) in groups.sorted(by: { $0.elements.count > $1.elements.count }) {
            let example = same.count == 1 ? "" : ", such as"
            console.print("  \(same.count)\(example) \(Self.short(same[0].url)): \(visible(reason))")
        }
        console.print(total)
    }

    private var total: String {
        "\(sizes.count == 1 ? "1 entry" : "\(sizes.count) entries") with \(ByteCount(sizes.reduce(0, +)))"
            + (left.isEmpty ? "" : ", \(left.count) left out")
    }

    /// Returns a URL in a short form for the report.
    ///
    /// A `data:` URL may have any length.
    private static func short(_ url: String) -> String {
        url.isEmpty ? "(no URL)" : shortened(url, limit: 119)
    }
}
