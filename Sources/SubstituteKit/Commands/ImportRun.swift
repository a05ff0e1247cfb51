import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// Imports files and entries from a recording into a manifest's folder, and reports the outcome of each exchange.
struct ImportRun {
    /// The options that only recordings and pages in a browser have.
    static let options: [any CommandOption] = [only, HostSelection.option, exclude, stripQuery]

    private let filter: CaptureSelection.Filter
    private let isDryRun: Bool
    private let console: Console

    /// Reads the options of the command line.
    init(_ arguments: Arguments, _ console: Console) throws {
        var filter = try CaptureSelection.Filter(hosts: arguments[HostSelection.option])
        filter.kinds = try arguments[Self.only]
        filter.exclusions = try arguments[Self.exclude]
        filter.stripsQuery = arguments.has(Self.stripQuery)
        filter.limit = try arguments[.maxSize]?.bytes
        filter.includesPrivate = arguments.has(.includePrivate)
        (self.filter, self.console) = (filter, console)
        isDryRun = arguments.has(.dryRun)
    }

    /// Imports the selected exchanges, and prints a report.
    ///
    /// - Parameters:
    ///   - capture: The recording.
    ///   - addition: The change of the manifest.
    ///   - leftOut: The reasons why recorded bodies are of no use, keyed by URL.
    ///   - network: Loads responses to requests with cookies or credentials again, without these; nil to load nothing.
    /// - Throws: ``ToolError`` if the changes cannot be made; the manifest's folder is then unchanged.
    func importExchanges(
        of capture: HARFile,
        to addition: Addition,
        without leftOut: [String: String] = [:],
        comparing network: Network? = nil
    ) async throws {
        if !capture.exchanges.isEmpty, capture.exchanges.allSatisfy({ !$0.url.lowercased().hasPrefix("http") }) {
            console.printError(
                "The recording has no request to a server: record in the developer tools of the page itself."
            )
        }
        var filter = filter
        filter.leftOut = leftOut
        let selection = await CaptureSelection(capture, filter, console.tool, comparing: network)
        var addition = addition
        addition.includesPrivate = filter.includesPrivate
        let staging = try StagingFolder.guarded(for: addition.manifest, isDryRun: isDryRun, console)
        var report = ImportReport()
        for choice in selection.choices {
            switch choice.result {
            case .failure(let error):
                report.skip(choice.url, error.message)
            case .success(let pick):
                let resource = Resource(
                    key: pick.key,
                    ignored: pick.ignored,
                    file: try staging.write(pick.exchange.bytes),
                    type: pick.exchange.typeOfBytes,
                    source: URL(fileURLWithPath: "/"),
                    version: pick.exchange.version,
                    isDecoded: pick.exchange.isDecoded,
                    privacy: pick.exchange.privacy
                )
                report.add(pick, addition.add(resource))
            }
        }
        if isDryRun {
            report.printTable(console)
            console.print("Nothing was written.")
        } else {
            try addition.commit(in: staging)
            report.printSummary(console)
        }
    }

    /// Adds the files of a recording.
    static func add(_ file: String, _ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let run = try Self(arguments, console)
        let manifest = try ManifestLocation(console).find(
            arguments.operands.count == 2 ? arguments.operands.first : nil
        )
        let addition = try Addition(to: manifest, console)
        let isNamed = file != "-"
        let folder = isNamed ? console.folder.url(file).deletingLastPathComponent() : nil
        let capture = try HARFile(read(file, console), name: isNamed ? file : "<stdin>", in: folder)
        try await run.importExchanges(of: capture, to: addition)
        return .good
    }

    private static func read(_ file: String, _ console: Console) throws -> Data {
        if file == "-" { return try console.readAll() }
        if file.contains("://"), console.folder.kind(of: file) == nil {
            throw UsageError(
                "\(quoted(file)) is a URL; download the recording first, or record the page with: "
                    + console.tool.line(["add", "--in-browser", file])
            )
        }
        guard console.folder.kind(of: file) != nil else { throw ToolError("\(quoted(file)) does not exist") }
        return try console.folder.contents(of: file)
    }

    private static let only = Option(
        repeated: "only",
        value: "kinds",
        "Take these kinds, separated by commas: \(ResourceKind.allCases.map(\.rawValue).joined(separator: ", ")).",
        kinds
    )
    private static let exclude = Option(
        repeated: "exclude",
        value: "part",
        "Leave out URLs that contain this text, in which * matches anything.\nMay be repeated."
    ) { parts in
        if parts.contains("") { throw UsageError("--exclude needs a part of a URL") }
        return parts
    }
    private static let stripQuery = Option(
        "strip-query",
        "Let entries ignore the parameters that do not change the content: known cache-busters,\nsuch as v=1.2 and _=1700000000, and those that differed between two requests for the\nsame bytes. All others must match."
    )

    @Sendable private static func kinds(_ texts: [String]) throws(UsageError) -> Set<ResourceKind> {
        var kinds: Set<ResourceKind> = []
        for word in texts.flatMap({ $0.split(separator: ",") }).map(String.init) {
            guard let kind = ResourceKind(rawValue: word.lowercased().filter { $0 != " " }) else {
                let names = ResourceKind.allCases.map(\.rawValue)
                let meant = suggestion(for: word, among: names).map { "; did you mean \($0)?" }
                throw UsageError(
                    "there is no kind \(quoted(word))\(meant ?? "; the kinds are \(names.joined(separator: ", "))")"
                )
            }
            kinds.insert(kind)
        }
        return kinds
    }
}

/// The outcome of each exchange.
private struct ImportReport {
    private var rows: [[String]] = []
    private var added: [Int] = []
    private var left: [(reason: String, url: String)] = []
    private var remarks: [(url: String, remark: String)] = []

    mutating func skip(_ url: String, _ reason: String) {
        left.append((reason, url))
        rows.append(["skip", Self.short(url), "", "", visible(reason)])
    }

    mutating func add(_ pick: CaptureSelection.SelectedExchange, _ outcome: Addition.Outcome) {
        switch outcome {
        case .added(let file, let more):
            let about = pick.remarks + more
            added.append(pick.count)
            remarks += about.map { (pick.key.spelling, $0) }
            let size = ByteCount(pick.count).description
            rows.append([
                "take", Self.short(pick.key.spelling), visible(file), size,
                visible(about.joined(separator: "; ")),
            ])
        case .present(let line): skip(pick.key.spelling, "the entry in line \(line) already answers it")
        case .replaced, .moved: break
        case .kept(_, let reason), .refused(let reason): skip(pick.key.spelling, reason)
        }
    }

    func printTable(_ console: Console) {
        console.printTable(rows)
        console.print(total)
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
        let size = ByteCount(added.reduce(0, +))
        return "\(added.count == 1 ? "1 entry" : "\(added.count) entries") with \(size)"
            + (left.isEmpty ? "" : ", \(left.count) left out")
    }

    /// Returns a URL in a short form for the report.
    ///
    /// A `data:` URL may have any length.
    private static func short(_ url: String) -> String {
        // A token would otherwise be in every log of a build machine.
        url.isEmpty
            ? "(no URL)"
            : shortened(SecretMask.masked(url, onlyIfCertain: true), limit: 119)
    }
}
