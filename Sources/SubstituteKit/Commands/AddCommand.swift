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
        operands: "[OPTIONS] [MANIFEST] URL…|FILE.har",
        operandKind: .manifest,
        options: browserOptions + urlOptions + ImportRun.options + [.includePrivate, .maxSize, .dryRun],
        discussion: """
            Saves each file as host/path below the manifest's folder. New entries follow all others, in the same
            style; nothing else in the manifest is changed. A URL that an entry already answers is left out.

            URLs are loaded as they are; with --with-references, so are the files of pages and stylesheets. If the
            server redirects a page, a stylesheet or a module to another URL, the entry is for that URL. Redirects are
            followed to http: and https:, but never from https: to http:, nor from a public server to a private
            address. With --replace, a file that was edited here, or that .substitute.json does not know, is replaced
            only with --discard-edits. A file may take two minutes to load, and one second more for each 10 kB.

            FILE.har is a recorded page: open the browser's developer tools, choose Network, switch its cache off, load
            the page, and export all as HAR with content. - reads it from standard input.

            With --in-browser, the command starts Chrome, Chromium, Edge or Brave with a fresh profile, loads each page
            with the cache off and without service workers, and adds what its servers sent. With --show, a window
            opens in which you can sign in and click; the recording ends when you close it. Otherwise a page is
            complete when nothing has been loading and no script has been busy for half a second. Then at most 500
            images that it names for other screens are loaded. What an incomplete page has loaded is added, too.

            From a recording and a browser, the command takes complete responses to GET with status 200 or 203, and
            says why it leaves others out. It never writes cookies, passwords and tokens from headers. A response that
            may be for one person is left out: if its Cache-Control has no-store or private; if it was requested with
            Authorization or a similar field; if it was requested with cookies, and either it depends on them (Vary),
            or it is no stylesheet, script, image or font and its Cache-Control has neither public nor s-maxage; and
            if its URL holds a token or password. Browsers leave the cookies out of a recording unless you ask for
            them, so look through what was recorded while you were signed in.

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

    /// The options that only pages in a browser have.
    private static let browserOptions: [any CommandOption] = [inBrowser] + CaptureCommand.options
    /// The options that only URLs have that are loaded without a browser.
    private static let urlOptions: [any CommandOption] = [path, replace, .discardEdits, references, alsoHost]

    private static let inBrowser = Option(
        "in-browser",
        "Load the pages in a browser, and add the files that they load."
    )
    private static let path = Option(
        "as",
        value: "path",
        "The path of the file below the manifest's folder; only for a single URL.",
        filePath
    )
    fileprivate static let replace = Option("replace", "Load a URL again even if an entry already answers it.")
    private static let references = Option(
        "with-references",
        "Also load the files that the pages and stylesheets refer to, and those that their\nstylesheets and frames refer to: CSS url() and @import; HTML link, script, img,\nsrcset, source, video, audio, track, input, object, embed and iframe; SVG image and\nuse. Only from the same server and port, and never http: from https:. For a URL that\nan entry already answers, the existing file is read."
    )

    fileprivate static let alsoHost = Option(
        repeated: "also-host",
        value: "host",
        "Also load references from this server, on any port. *.example.com means\nexample.com and its subdomains; example.com:8080 means one port. May be repeated.",
        HostSelection.init
    )

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        func refuse(_ options: [any CommandOption], _ purpose: String) throws(UsageError) {
            guard let option = options.first(where: { arguments.has($0) }) else { return }
            throw UsageError("--\(option.name) is for \(purpose)")
        }
        let recording = try arguments.has(inBrowser) ? nil : recording(arguments.operands, in: console.folder)
        if !arguments.has(inBrowser) { try refuse(browserOptions, "--in-browser") }
        if recording == nil, !arguments.has(inBrowser) {
            try refuse(ImportRun.options, "a recording (HAR) or --in-browser")
            return try await load(arguments, console)
        }
        try refuse(urlOptions, "URLs that are loaded without a browser")
        if let recording { return try await ImportRun.add(recording, arguments, console) }
        return try await CaptureCommand.run(arguments, console)
    }

    /// Returns the operand that names a recording; nil if the operands are URLs, after an optional manifest.
    private static func recording(_ operands: [String], in folder: CurrentFolder) throws(UsageError) -> String? {
        guard let last = operands.last else { return nil }
        if operands.contains(where: { $0 == "-" || $0.lowercased().hasSuffix(".har") }) {
            guard operands.count <= 2 else {
                throw UsageError("name one recording, and optionally a manifest before it")
            }
            return last
        }
        guard operands.count <= 2, !ManifestLocation.isURL(last), !ManifestLocation.isShipped(last),
            let kind = folder.targetKind(of: last)
        else { return nil }
        // A single operand may be a manifest that no URL follows.
        let isManifest = kind == .typeDirectory || last.split(separator: "/").last == "manifest.json"
        return operands.count == 2 || !isManifest ? last : nil
    }

    /// Loads URLs, and adds them.
    private static func load(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, urls) = try ManifestLocation(console).split(arguments.operands)
        let keys = try urls.map(key)
        guard !keys.isEmpty else { throw UsageError("name a URL to load, or a recorded page (HAR)") }
        let path = try arguments[path]
        if path != nil, keys.count > 1 { throw UsageError("--as is for one URL") }
        let manifest = try ManifestLocation(console).find(named)
        var addition = try Addition(to: manifest, console)
        addition.includesPrivate = arguments.has(.includePrivate)
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: arguments.has(.dryRun), console)
        var run = try AddRun(arguments, manifest, staging, console.network)
        let isComplete = await run.add(keys, as: path, to: &addition)
        if isComplete, arguments.has(references) { await run.addReferences(to: &addition) }
        // Commit before printing, so that the output never reports a change that was not made.
        let discarded = isComplete && !arguments.has(.dryRun) ? try addition.commit(in: staging) : nil
        for problem in run.problems { console.printError(problem) }
        guard isComplete else {
            console.printError("Nothing was changed.")
            return .bad
        }
        for line in run.lines { console.print(line) }
        if let discarded { console.print("The edited files are in \(visible(discarded.path)).") }
        if arguments.has(.dryRun) { console.print("Nothing was written.") }
        return .good
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
            throw UsageError(
                WrongURL.problem(of: text) ?? error.message(for: whole, meant: Advice.url(meantBy: whole))
            )
        }
    }

    /// A star in place of a whole name, or of the name before an extension.
    nonisolated(unsafe) private static let wildcard = /\/\*(?:\.\w+)?(?:\/|$)/

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

/// One run of the `add` command.
private struct AddRun {
    private let replaces: Bool
    private let discardsEdits: Bool
    /// The size of the largest file to take; nil for the limit of all loads.
    private let limit: Int?
    private let staging: StagingFolder
    private let network: Network
    private let manifest: ManifestFile
    /// The lines to print if all URLs are added, and the problems.
    private(set) var (lines, problems): ([String], [String]) = ([], [])
    /// The resources whose references `addReferences` loads next.
    ///
    /// The last call of `add` loaded these resources, or found entries that already answer their URLs.
    private var resources: [Resource] = []
    private var selection: ReferenceSelection
    private var seen: Set<String> = []

    init(_ arguments: Arguments, _ manifest: ManifestFile, _ staging: StagingFolder, _ network: Network) throws {
        (replaces, discardsEdits) = (arguments.has(AddCommand.replace), arguments.has(.discardEdits))
        limit = try arguments[.maxSize]?.bytes
        selection = ReferenceSelection(try arguments[AddCommand.alsoHost])
        (self.manifest, self.staging, self.network) = (manifest, staging, network)
    }

    /// Loads URLs, and adds the resources to the manifest.
    ///
    /// - Returns: True if every URL has an entry after the commit.
    mutating func add(_ keys: [URLPattern], as path: String?, to addition: inout Addition) async -> Bool {
        var isComplete = true
        var wanted: [Download] = []
        for key in keys where seen.insert(key.identityKey).inserted {
            guard let url = URL(string: key.targetURL) else {
                problems.append("\(quoted(key.spelling)) is not a URL that can be loaded")
                isComplete = false
                continue
            }
            if !replaces, let known = addition.known(key) {
                if !report(key, known) { isComplete = false }
                if case .present = known, let resource = addition.present(key, url) { resources.append(resource) }
            } else {
                wanted.append(Download(key: key, url: url))
            }
        }
        for (download, load) in zip(wanted, await Download.loads(wanted, staging, limit, network)) {
            let outcome: Addition.Outcome
            var key = download.key
            switch load {
            case .success(var resource):
                if let reason = (try? IncomingBody(resource))?.refusal(redirectedTo: resource.source.absoluteString) {
                    _ = report(key, .refused(reason))
                    isComplete = false
                    continue
                }
                // An entry for the requested URL keeps its key.
                if !replaces || addition.known(download.key) == nil {
                    guard takesLastURL(&resource) else { continue }
                }
                key = resource.key
                outcome = addition.add(
                    resource,
                    as: path,
                    replaces: replaces,
                    discardsEdits: discardsEdits
                )
                resources.append(resource)
            case .failure(let error):
                outcome = .refused(error.message)
            }
            if !report(key, outcome) { isComplete = false }
        }
        return isComplete
    }

    /// Gives a redirected resource the key of its last URL if relative references in it resolve against that URL.
    ///
    /// - Returns: False if this run adds the last URL by itself.
    private mutating func takesLastURL(_ resource: inout Resource) -> Bool {
        let first = resource.key
        guard let last = try? URLPattern(requested: resource.source.absoluteString),
            last.identityKey != (try? URLPattern(requested: first.targetURL))?.identityKey,
            PageReferences.dependsOnURL(resource)
        else { return true }
        resource.key = last
        lines.append(
            "redirect \(visible(first.spelling)) → \(visible(last.spelling)), which the entry names, as relative "
                + "references resolve against it; the network answers requests for \(visible(first.spelling))"
                + (last.targetURL.hasSuffix("/") && first.targetURL.hasPrefix(last.targetURL)
                    ? "; if its server only forwards missing pages there, remove the entry" : "")
        )
        return seen.insert(last.identityKey).inserted
    }

    private mutating func report(_ key: URLPattern, _ outcome: Addition.Outcome) -> Bool {
        switch outcome {
        case .added(let file, let remarks):
            lines.append("added    \(visible(key.spelling)) → \(visible(file))")
            lines += remarks.map { "         \(visible($0))" }
        case .replaced(let file): lines.append("replaced \(visible(key.spelling)) → \(visible(file))")
        case .moved(let file, let old):
            lines.append(
                "replaced \(visible(key.spelling)) → \(visible(file)); \(visible(old)) is left as it was"
            )
        case .present(let line):
            lines.append("present  \(visible(key.spelling)), answered by line \(line); --replace loads it again")
        case .kept(_, let reason):
            let line = manifest.line("add", "--replace", "--discard-edits", urls: [key.spelling])
            problems.append(
                "\(quoted(key.spelling)) was not loaded: \(reason)\n  to take its server's version: \(line)"
            )
            return false
        case .refused(let reason):
            problems.append("\"\(visible(key.spelling))\" was not loaded: \(visible(reason))")
            return false
        }
        return true
    }

    /// The maximum length of a chain in which each stylesheet imports the next one.
    private static let deepest = 20

    /// The maximum number of URLs that one run loads.
    ///
    /// Without this limit, a run might never end: a server can answer each URL with a stylesheet that refers to new
    /// URLs.
    private static let most = 2000

    /// Adds the resources to which the added pages and stylesheets refer.
    ///
    /// The function also follows the references of the stylesheets that it adds.
    mutating func addReferences(to addition: inout Addition) async {
        for depth in 0... {
            let sources = depth == 0 ? resources : resources.filter(PageReferences.isFollowed)
            var keys: [URLPattern] = []
            for resource in sources {
                keys += PageReferences.addresses(in: resource).compactMap { selection.key(for: $0, in: resource) }
            }
            keys.removeAll { seen.contains($0.identityKey) }
            if keys.isEmpty { break }
            if seen.count + keys.count > Self.most {
                lines.append(
                    "skipped  \(counted(keys.count, "reference")), because one run loads at most \(Self.most) URLs; "
                        + "add a recording of the page instead"
                )
                break
            }
            if depth == Self.deepest {
                lines.append("skipped  imports that are nested more than \(Self.deepest) stylesheets deep")
                break
            }
            resources = []
            _ = await add(keys, as: nil, to: &addition)
        }
        lines += selection.lines
    }
}
