import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// Adds files and their entries: from URLs, from a recorded page, or from pages that a browser loads.
enum AddCommand {
    static let command = Command(
        name: "add",
        options: [inBrowser] + PageRecording.options + urlOptions + RecordedSource.Filter.options + [
            AddRun.replace, .discardEdits, .includePrivate, .maxSize, .dryRun,
        ],
        run: run
    )

    /// The options that only URLs have that are loaded without a browser.
    private static let urlOptions: [any CommandOption] = [AddRun.path, URLSource.references, URLSource.alsoHost]

    private static let inBrowser = Option("in-browser")
    private static func run(_ typed: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try recording(typed.operands, in: console.folder)
        let saved = try file == nil ? SavedOptions(for: command, typed.operands, console) : nil
        let arguments = try typed.completed(by: saved?.options ?? [], saved?.pages ?? [])
        func refuse(_ options: [any CommandOption], _ purpose: String) throws(UsageError) {
            guard let option = options.first(where: { arguments.has($0) }) else { return }
            throw UsageError("--\(option.name) is for \(purpose)")
        }
        if arguments.has(inBrowser) {
            try refuse(urlOptions, "URLs that are loaded without a browser")
            return try await PageRecording.add(arguments, console)
        }
        try refuse(PageRecording.options, "--in-browser")
        let run = try AddRun(arguments, console)
        if let file {
            try refuse(urlOptions, "URLs that are loaded without a browser")
            var filter = try RecordedSource.Filter(arguments)
            filter.replaces = arguments.has(AddRun.replace)
            let manifest = arguments.operands.first { $0 != file }
            let addition = try Addition(to: ManifestLocation(console).find(manifest), console)
            let capture = try HARFile(read(file, console), name: file == "-" ? "<stdin>" : file)
            return try await run.add(RecordedSource(capture.exchanges, filter, console), to: addition)
        }
        try refuse(RecordedSource.Filter.options, "a recording (HAR) or --in-browser")
        let (named, urls) = try ManifestLocation(console).split(arguments.operands)
        let keys = try urls.map(key)
        guard !keys.isEmpty else { throw UsageError("name a URL to load, or a recorded page (HAR)") }
        if arguments.has(AddRun.path), keys.count > 1 { throw UsageError("--as is for one URL") }
        let source = try URLSource(keys, replaces: arguments.has(AddRun.replace), console.network, arguments)
        return try await run.add(source, to: Addition(to: ManifestLocation(console).find(named), console))
    }

    /// Returns the operand that names a recording; nil if the operands are URLs, after an optional manifest.
    private static func recording(_ operands: [String], in folder: CurrentFolder) throws(UsageError) -> String? {
        guard let word = operands.last(where: { isRecording($0, in: folder) }) else { return nil }
        guard operands.count <= 2 else { throw UsageError("name one recording, and optionally a manifest before it") }
        return word
    }

    /// Returns true for standard input, a name that ends in `.har`, and a file that begins like a recording.
    private static func isRecording(_ word: String, in folder: CurrentFolder) -> Bool {
        if word == "-" { return true }
        let kind = folder.targetKind(of: word)
        if ManifestLocation.isURL(word) || kind == .typeDirectory { return false }
        if kind != .typeRegular { return kind != nil && kind != .unexamined || word.lowercased().hasSuffix(".har") }
        let head = (try? FileHandle(forReadingFrom: folder.url(word)).read(upToCount: 10_000)) ?? Data()
        return word.lowercased().hasSuffix(".har") || HARFile.isArchive(head) || HARFile.hasLog(head)
    }

    /// Returns the bytes of a recording.
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

    /// Parses a URL as a user types it; the scheme may be missing.
    static func key(_ text: String) throws(UsageError) -> URLPattern {
        guard text != "-" else { throw UsageError("name the URLs; standard input is not read for them") }
        let whole = text.contains("://") || text.hasPrefix("//") ? text : "https://\(text)"
        do throws(URLProblem) {
            return try URLPattern(String(whole.prefix { $0 != "#" }))
        } catch {
            // The URL may be a browser's, as another command has printed it.
            if [.percent, .backslash].contains(error), let key = try? URLPattern(requested: whole) { return key }
            throw UsageError(URLAdvice.problem(of: text) ?? error.message(for: whole))
        }
    }
}
