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
    func add(_ source: some ResourceSource, to addition: Addition, in staging: StagingFolder? = nil) async throws
        -> ExitStatus
    {
        var (source, addition) = (source, addition)
        addition.includesPrivate = includesPrivate
        let staging = try staging ?? .guarded(for: addition.manifest, isDryRun: isDryRun, console)
        var report = AddReport(manifest: addition.manifest, options: options)
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
        } else {
            (isDryRun ? report.taken : report.groupedRemarks).forEach(console.print)
            report.sum.forEach(console.print)
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
    let manifest: ManifestFile
    let options: [String]
    /// The lines about the added resources.
    var taken: [String] = []
    /// A sentence for each resource that was not added.
    var problems: [String] = []
    /// All lines, in the order of the resources.
    var lines: [String] = []
    var sizes: [Int] = []
    var left: [(reason: String, url: String)] = []
    var remarks: [(url: String, remark: String)] = []

    /// Adds an outcome; nil if another round has the resource.
    mutating func add(_ found: FoundResource, _ outcome: Addition.Outcome?) {
        let url = visible(found.url)
        switch outcome {
        case .added(let file, let more): take(found, "added    \(url) → \(visible(file))", found.remarks + more)
        case .replaced(let file): take(found, "replaced \(url) → \(visible(file))", found.remarks)
        case .present(let line):
            lines.append("present  \(url), answered by line \(line); --replace loads it again")
            left.append(("the entry in line \(line) already answers it", found.url))
        case .kept(_, let reason):
            let line = manifest.line(["add", "--replace", "--discard-edits"] + options, urls: [found.url])
            problems.append("\(quoted(found.url)) was not loaded: \(reason)\n  to take its server's version: \(line)")
            left.append(("\(reason); --discard-edits replaces it", found.url))
        case .refused(let reason):
            problems.append("\"\(url)\" was not loaded: \(visible(reason))")
            left.append((reason, found.url))
        case nil: lines += found.remarks
        }
    }

    private mutating func take(_ found: FoundResource, _ line: String, _ about: [String]) {
        sizes.append(found.count)
        remarks += about.map { (found.url, $0) }
        let all = [line] + about.map { "         \(visible($0))" }
        (lines, taken) = (lines + all, taken + all)
    }

    /// The remarks; equal ones share one line.
    var groupedRemarks: [String] {
        remarks.grouped(by: \.remark).map { remark, same in
            "\(same.count == 1 ? "" : "\(same.count), such as ")\(Self.short(same[0].url)): \(visible(remark))"
        }
    }

    /// The reasons why resources are left out, of which equal ones share one line; and the numbers of all.
    var sum: [String] {
        let groups = left.grouped(by: \.reason).sorted { $0.elements.count > $1.elements.count }.map { reason, same in
            "  \(same.count)\(same.count == 1 ? "" : ", such as") \(Self.short(same[0].url)): \(visible(reason))"
        }
        let entries = sizes.count == 1 ? "1 entry" : "\(sizes.count) entries"
        let total = "\(entries) with \(ByteCount(sizes.reduce(0, +)))"
        return groups.isEmpty ? [total] : ["Left out:"] + groups + ["\(total), \(left.count) left out"]
    }

    /// Returns a URL in a short form for the report.
    ///
    /// A `data:` URL may have any length.
    private static func short(_ url: String) -> String {
        url.isEmpty ? "(no URL)" : shortened(url, limit: 119)
    }
}
