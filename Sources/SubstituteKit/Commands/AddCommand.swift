import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

/// Loads URLs into the manifest's folder, and adds an entry for each URL.
enum AddCommand {
    static let command = Command(
        name: "add",
        summary: "Loads URLs into the manifest's folder, and adds their entries.",
        operands: "[OPTIONS] [MANIFEST] URL…",
        operandKind: .manifest,
        options: [path, replace, .discardEdits, references, host, .maxSize, .dryRun, .includePrivate],
        discussion: """
            Saves each file as host/path below the manifest's folder. New entries follow all others, in the same
            style; the rest of the manifest is not changed. A URL that an entry already answers is not loaded; for
            such a URL, --with-references reads the existing file. If the server redirects a page, a stylesheet or a
            module to another URL, the entry is for that URL.
            With --replace, a file that was edited here, or that .substitute.json does not know, is replaced only with
            --discard-edits.

            \(Command.aboutManifest)

            Exits with 0 if an entry now answers every URL; 1 if a URL could not be loaded or the manifest has errors,
            in which case nothing is changed; and 2 on a usage error. If a reference of a page or stylesheet cannot be
            loaded, it is reported, and the rest is added. Redirects are followed to http: and https:, but never from
            https: to http:, nor from a public server to a private address. A file may take two minutes to load, and
            one second more for each 10 kB.
            """,
        example: "  substitute add --with-references https://example.com/",
        run: run
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
        short: "r",
        "Also load the files that the pages and stylesheets refer to, and those that their\nstylesheets and frames refer to: CSS url() and @import; HTML link, script, img,\nsrcset, source, video, audio, track, input, object, embed and iframe; SVG image and\nuse. Only from the same server and port, and never http: from https:."
    )

    fileprivate static let host = Option(
        repeated: "host",
        value: "host",
        "Also load references from this server, on any port. *.example.com means\nexample.com and its subdomains; example.com:8080 means one port. May be repeated.",
        HostSelection.init
    )

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, urls) = try ManifestLocation(console).split(arguments.operands)
        let keys = try urls.map(key)
        guard !keys.isEmpty else { throw UsageError("name a URL to load") }
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
        guard text != "-" else { throw UsageError("name the URLs; standard input is not read") }
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
        selection = ReferenceSelection(try arguments[AddCommand.host])
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
                        + "import a recording instead"
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
