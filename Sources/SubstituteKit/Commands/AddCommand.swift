import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// Adds files and their entries: from URLs, from a recorded page, or from pages that a browser loads.
enum AddCommand {
    static let command = Command(
        name: "add",
        summary: "Adds files and their entries: from URLs, from a recorded page, or from a browser.",
        operands: "[OPTIONS] [MANIFEST] [URL…|FILE.har]",
        options: [inBrowser] + PageRecording.options + urlOptions + [recording] + RecordedSource.Filter.options + [
            AddRun.replace, .discardEdits, .includePrivate, .maxSize, .dryRun,
        ],
        discussion: """
            Saves each file as host/path below the manifest's folder. New entries follow all others, in the same
            style; nothing else in the manifest is changed. A URL that an entry already answers is left out. With
            --replace, its file is replaced; one that was edited here, or that .substitute.json does not know, only
            with --discard-edits.

            URLs are loaded as they are; with --with-references, so are the files of pages and stylesheets. If the
            server redirects a page, a stylesheet or a module to another URL, the entry is for that URL. Redirects are
            followed to http: and https:, but never from https: to http:, nor from a public server to a private
            address. A file may take two minutes to load, and one second more for each 10 kB.

            FILE.har is a recorded page: open the browser's developer tools, choose Network, switch its cache off, load
            the page, and export all as HAR with content. - reads it from standard input.

            With --in-browser, the command starts Chrome, Chromium, Edge or Brave with a fresh profile, loads each page
            with the cache off and without service workers, and adds what its servers sent. A page is complete when
            nothing has been loading and no script has been busy for half a second. What an incomplete page has loaded
            is added, too. --device names the screens for which a page names images.

            From a recording and a browser, the command takes complete responses to GET with status 200, and says why
            it leaves others out; of a recording by the app, it loads what has no body. It writes no cookies and no
            credentials. A response may be for one person if its Cache-Control has no-store or private, or if a second
            request without cookies and the page's own fields does not get the same bytes; it is left out. Browsers
            leave the cookies out of a recording unless you ask for them, so look through what was recorded while you
            were signed in.

            \(SavedOptions.about)

            \(Command.aboutManifest)

            Exits with 0 if an entry now answers every URL, a recording could be read, or the pages are complete; 1 if
            a URL or a page could not be loaded, a recording could not be read or the manifest has errors, in which
            case nothing is changed; 1 if a page was not complete within the time limit, or its server answered with a
            status of 400 or above; and 2 on a usage error. If a reference of a page or stylesheet cannot be loaded,
            it is reported, and the rest is added.
            """,
        example: """
              substitute add --in-browser --device phone --device desktop --scroll https://example.com/
              substitute add --with-references https://example.com/
              substitute add --only image,stylesheet,font --dry-run page.har
            """,
        run: run
    )

    /// The options that only URLs have that are loaded without a browser.
    private static let urlOptions: [any CommandOption] = [AddRun.path, URLSource.references, URLSource.alsoHost]

    private static let inBrowser = Option(
        "in-browser",
        "Load the pages in a browser, and add the files that they load."
    )
    private static let recording = Option(
        "recording",
        "Read the last operand as a recorded page (HAR), whatever its name is."
    )
    private static func run(_ typed: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try recording(typed.operands, isNamed: typed.has(recording), in: console.folder)
        let saved = try file == nil ? SavedOptions(for: command, typed.operands, console) : nil
        let arguments = try typed.completed(by: saved?.options ?? [], saved?.pages ?? [])
        func refuse(_ options: [any CommandOption], _ purpose: String) throws(UsageError) {
            guard let option = options.first(where: { arguments.has($0) }) else { return }
            throw UsageError("--\(option.name) is for \(purpose)")
        }
        if arguments.has(inBrowser) {
            try refuse([recording], "a recording (HAR)")
            try refuse(urlOptions, "URLs that are loaded without a browser")
            return try await PageRecording.add(arguments, console)
        }
        try refuse(PageRecording.options, "--in-browser")
        let run = try AddRun(arguments, console)
        if let file {
            try refuse(urlOptions, "URLs that are loaded without a browser")
            var filter = try RecordedSource.Filter(arguments)
            filter.replaces = arguments.has(AddRun.replace)
            let manifest = arguments.operands.count == 2 ? arguments.operands.first : nil
            let addition = try Addition(to: ManifestLocation(console).find(manifest), console)
            let isNamed = file != "-"
            let folder = isNamed ? console.folder.url(file).deletingLastPathComponent() : nil
            let capture = try HARFile(read(file, console), name: isNamed ? file : "<stdin>", in: folder)
            return try await run.add(RecordedSource(capture, filter, console), to: addition)
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
    ///
    /// If `isNamed` is true, the last operand is a recording, whatever it looks like.
    private static func recording(
        _ operands: [String],
        isNamed: Bool,
        in folder: CurrentFolder
    ) throws(UsageError) -> String? {
        guard let last = operands.last else { return nil }
        let isURL = last != "-" && ManifestLocation.isURL(last)
        if isNamed || last == "-" || !isURL && last.lowercased().hasSuffix(".har") {
            guard operands.count <= 2 else {
                throw UsageError("name one recording, and optionally a manifest before it")
            }
            return last
        }
        if operands.count == 2, operands[0].lowercased().hasSuffix(".har"), folder.targetKind(of: last) != nil,
            folder.targetKind(of: operands[0]) == .typeRegular
        {
            throw UsageError("name the manifest before the recording: \(quoted("\(last) \(operands[0])"))")
        }
        guard operands.count <= 2, !isURL, !ManifestLocation.isShipped(last) else { return nil }
        switch folder.targetKind(of: last) {
        case nil: return nil
        // A single folder is that of a manifest.
        case .typeDirectory: return operands.count == 2 && (last.hasPrefix(".") || last.hasPrefix("/")) ? last : nil
        // This command puts the files of a server into a folder of the server's name, so a path may also mean a URL.
        case .typeRegular where last.contains("/") && !last.hasPrefix(".") && !last.hasPrefix("/"):
            return isRecording(folder.url(last)) ? last : nil
        default:
            // A single operand may be a manifest that no URL follows.
            return operands.count == 2 || last.split(separator: "/").last != "manifest.json" ? last : nil
        }
    }

    /// Returns whether a file may be a recording, by its beginning.
    private static func isRecording(_ file: URL) -> Bool {
        let head = try? FileHandle(forReadingFrom: file).read(upToCount: 10_000)
        return head?.range(of: Data("\"log\"".utf8)) != nil
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
        guard !text.contains("…") else {
            throw UsageError("\(quoted(text)) was shortened (\"…\") by the program that showed it; copy the whole URL")
        }
        if text.hasSuffix(",") || text.hasSuffix(";") {
            throw UsageError("\(quoted(text)) ends in \(quoted(String(text.suffix(1)))); separate URLs by spaces only")
        }
        if text.prefix(while: { $0 != "?" }).firstMatch(of: wildcard) != nil {
            throw UsageError(
                "\(quoted(text)) has a \"*\", which is not a wildcard; name each URL, or a page, with --with-references for what it loads"
            )
        }
        let whole = text.contains("://") || text.hasPrefix("//") ? text : "https://\(text)"
        do throws(URLProblem) {
            return try URLPattern(String(whole.prefix { $0 != "#" }))
        } catch {
            // The URL may be a browser's, as another command has printed it.
            if [.percent, .backslash].contains(error), let key = try? URLPattern(requested: whole) { return key }
            throw UsageError(URLAdvice.problem(of: text) ?? error.message(for: whole))
        }
    }

    /// A star in place of a whole name, or of the name before an extension.
    nonisolated(unsafe) private static let wildcard = /\/\*(?:\.\w+)?(?:\/|$)/
}
