import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

/// Prints the issues of manifests.
enum CheckCommand {
    static let command = Command(
        name: "check",
        options: [
            strict, fix, all, watch, maxTotal, format, inBrowser, BrowserProgram.option,
        ],
        run: run
    )

    private static let strict = Option("strict")
    private static let fix = Option("fix")
    private static let all = Option("all")
    private static let watch = Option("watch")
    private static let maxTotal = Option("max-total", value: "size", Quantity.size)
    private static let inBrowser = Option("in-browser")
    private static let format = ReportFormat.option()

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let manifests: [ManifestFile?] =
            try arguments.operands.isEmpty
            ? [ManifestLocation(console).find(nil)]
            : arguments.operands.map { path throws(UsageError) in
                try path == "-" ? nil : ManifestLocation(console).find(path)
            }
        let limit = try arguments[maxTotal]
        let reportFormat = try arguments[format] ?? .text
        let judge = try arguments.has(inBrowser) ? BrowserJudge(settings: BrowserSettings(arguments, console)) : nil
        if arguments.has(fix) {
            for manifest in manifests {
                guard let manifest else { throw UsageError("--fix needs files; standard input cannot be repaired") }
                try ManifestFix.apply(to: manifest, console, reportFormat == .text ? console.print : console.printError)
            }
        }
        let once = { try await check(manifests, format: reportFormat, limit: limit, judge, arguments, console) }
        if arguments.has(watch) { try await followChanges(of: manifests, console, once) }
        return try await once()
    }

    /// Checks the manifests now, and again after each change below their folders.
    private static func followChanges(
        of manifests: [ManifestFile?],
        _ console: Console,
        _ check: () async throws -> ExitStatus
    ) async throws -> Never {
        let files = manifests.compactMap(\.self)
        guard files.count == manifests.count else {
            throw UsageError("--watch needs files; standard input cannot be watched")
        }
        // Several saves during one check cause only one more check.
        var saves = try SaveFollower.saves(of: files, .bufferingNewest(1)).makeAsyncIterator()
        repeat {
            // In a terminal, clear the screen before each check (ECMA-48: ED and CUP).
            if console.isInTerminal { console.print("\u{1B}[H\u{1B}[2J\u{1B}[3J") }
            _ = try await check()
            console.print("")
            console.flush()
        } while await saves.next() != nil
        throw ToolError("the manifest's folder is no longer watched")
    }

    private static func check(
        _ manifests: [ManifestFile?],
        format: ReportFormat,
        limit: ByteCount?,
        _ judge: BrowserJudge?,
        _ arguments: Arguments,
        _ console: Console
    ) async throws -> ExitStatus {
        let (date, listsAll) = (console.now(), arguments.has(all))
        let checks = try manifests.map { manifest in
            if let manifest { return ManifestCheck(manifest, on: date, listsAll: listsAll) }
            let (text, files) = (try console.readAll(), console.folder.url("."))
            return ManifestCheck(text, name: "<stdin>", folder: files, on: date, listsAll: listsAll)
        }
        var judged: [[ManifestIssue]] = []
        for check in checks { judged.append(try await judge?.issues(of: check) ?? []) }
        let results = checks.enumerated().map { index, check in
            let folder = manifests[index]?.folder
            let more = [limit.flatMap(check.budgetIssue), folder.flatMap(check.versionIssue)].compactMap(\.self)
            let issues = check.issues + judged[index] + more
            return CheckReport.Result(check: check, issues: arguments.has(strict) ? issues.map(\.asError) : issues)
        }
        try CheckReport(results, console).print(as: format)
        return results.flatMap(\.issues).contains { $0.severity == .error } ? .bad : .good
    }
}

extension ManifestIssue {
    /// A copy of this issue, as an error.
    fileprivate var asError: ManifestIssue {
        var issue = self
        issue.severity = .error
        return issue
    }
}

extension ManifestCheck {
    /// Compares the `$version` and the files with those in `.substitute.json`.
    fileprivate func versionIssue(_ folder: URL) -> ManifestIssue? {
        guard errors.isEmpty, let known = (try? RemoteRecord(in: folder))?.files, manifest.version <= known.version,
            let files = try? Fingerprint(ofFilesOf: substitutions),
            files != known.copy || manifest.version < known.version
        else { return nil }
        let cause =
            manifest.version < known.version
            ? "\"$version\" was \(known.version), and is" : "the files have changed, and \"$version\" is still"
        let remedy =
            "write \"$version\": \(known.version + 1), or an app with a newer folder may keep the files that it has"
        return ManifestIssue(.warning, .sameVersion, "\(cause) \(manifest.version); \(remedy)", in: name)
    }

    /// Compares the total size of the files with the budget.
    fileprivate func budgetIssue(_ budget: ByteCount) -> ManifestIssue? {
        guard inventory.size > budget.bytes else { return nil }
        let files = shipped.grouped(by: \.realPath).map { $0.elements[0] }
        let largest = files.sorted { $0.size > $1.size }.prefix(3)
        let list = largest.map { "\(quoted($0.path)) (\(ByteCount($0.size)))" }.joined(separator: ", ")
        let message =
            "the files have \(ByteCount(inventory.size)) in total, more than the budget of \(budget); make files smaller, or raise the "
            + "budget (the largest are \(list))"
        return ManifestIssue(.error, .overBudget, message, in: name)
    }
}
