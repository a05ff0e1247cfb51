import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Writes a page that shows the app's bundled files, or lists them.
enum PreviewCommand {
    static let command = Command(
        name: "preview",
        summary: "Shows the files that ship, on a page or in a list.",
        operands: "[OPTIONS] [MANIFEST]",
        options: [output, opens, serves, format, .json, outdated, .used, maxUnused],
        discussion: """
            The page shows a thumbnail, specimen, player or the first lines of each file, with its URL, media type,
            size and conditions, grouped by server and folder, as cards or as a list. The manifest's errors and
            warnings are at the top. The page is one HTML file, which refers to the manifest's files by relative URLs,
            and sends nothing anywhere.

            With --serve, the page is not written but served, to this machine only. It updates after every save of a
            picture, a stylesheet or the manifest, and shows the manifest's errors. End it with Control-C.

            With --used, each card says how often the app has answered its URL in a recording by the app
            (cache.record(to:)). With --serve as well, the page updates while the app records.

            With --serve, or with --open and no file named, line numbers open the manifest in an editor that you
            choose on the page. These links hold the manifest's absolute path, so a page that you may pass on has none
            of them.

            With --format, the command prints a list instead, in which the files of folders are listed one by one. Lines
            of entries with "when" or "until" show these conditions. With --used, each line begins with the number of
            times that the file answered its URL; for a recording by a browser, how often it would have answered.

            \(Command.aboutManifest)

            Exits with 0 if the page was written, even for a manifest with errors; 1 if it could not be written, or for
            a list, if the manifest has errors or the unused files are larger than --max-unused; and 2 on a usage error.
            """,
        example: """
              substitute preview --serve --open
              substitute preview --format text --used app.har --max-unused 200kB
            """,
        run: run
    )

    private static let output = Option(
        "output",
        short: "o",
        value: "file",
        "The file for the page. Without it, the page goes to standard output, or with --open\nto a temporary file; in a terminal, a list is printed."
    ) { $0 }
    private static let format = ReportFormat.option(of: "URL", [.text, .json], otherwise: "Print a list instead")
    private static let maxUnused = Option(
        "max-unused",
        value: "size",
        "For a list, exit with 1 if the unused files in total are larger than this, such as\n200kB.",
        Quantity.size
    )
    private static let opens = Option("open", "Open the page in the browser.")
    private static let serves = Option("serve", "Serve the page, and update it after every save.")
    private static let outdated = Option("outdated", "Mark files that differ from their servers' current versions.")

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let limit = try arguments[maxUnused]
        // A page is of no use in a terminal.
        let ofPage: [any CommandOption] = [output, opens, serves, outdated]
        let option = ofPage.first { arguments.has($0) }
        let format = try arguments.format(format) ?? (console.isInTerminal && option == nil ? .text : nil)
        if limit != nil, !arguments.has(.used) || format == nil {
            throw UsageError("--max-unused needs --used with a recording of the app, and --format text")
        }
        let manifest = try ManifestLocation(console).only(arguments.operands)
        if let format {
            if let option {
                throw UsageError("--\(option.name) is for the page, and --format prints a list instead")
            }
            let check = try manifest.checked(on: console.now())
            let use = try arguments[.used].map { try RecordedUse(named: $0, of: check, manifest, console) }
            let list = PreviewList(check, use, limit: limit)
            try list.print(as: format, console)
            return list.isOverLimit ? .bad : .good
        }
        if arguments.has(serves) {
            guard !arguments.has(output) else { throw UsageError("--serve writes no file; leave --output out") }
            try await serve(manifest, arguments, console)
        }
        let named = try arguments[output].flatMap { $0 == "-" ? nil : $0 }
        let temporary = FileManager.default.temporaryDirectory.path + "/preview-\(UUID().uuidString).html"
        let output = named ?? (arguments.has(opens) ? temporary : nil)
        let check = ManifestCheck(manifest, on: console.now())
        if let issue = check.issues.first, issue.code == .unreadableManifest { throw ManifestError([issue]) }
        let page = console.folder.url(output ?? "preview.html")
        let preview = PreviewPage(
            check,
            folder: manifest.folder,
            from: page.deletingLastPathComponent(),
            console.tool,
            marks: arguments.has(outdated) ? try await marks(of: check, manifest, console) : [:],
            use: check.errors.isEmpty
                ? try arguments[.used].map { try RecordedUse(named: $0, of: check, manifest, console) }
                : nil,
            // If the user names an output file, the user may give the page to other people. The page must then not
            // contain the manifest's absolute path.
            editable: named == nil && arguments.has(opens) ? manifest.url : nil
        )
        guard let output else {
            console.print(preview.sealedHTML)
            return .good
        }
        let written = page.resolvingSymlinksInPath().path
        let sources = [manifest.url.resolvingSymlinksInPath().path] + check.substitutions.map(\.realPath)
        if sources.contains(written) {
            throw UsageError("\(quoted(output)) is one of the files that the page shows; name another file")
        }
        // A page in a folder that an entry maps would be one of the app's files.
        let shipping = check.substitutions.first { substitution in
            let rest = substitution.file.dropFirst(substitution.namedFile.count)
            return substitution.namedFile.hasSuffix("/") && substitution.realPath.hasSuffix(rest)
                && written.hasPrefix(substitution.realPath.dropLast(rest.count))
        }
        if let shipping {
            throw UsageError(
                "\(quoted(output)) lies in \(quoted(shipping.namedFile)), which an entry maps, and would ship with the app; "
                    + "name another place"
            )
        }
        try OutputFile(output, console).write(Data("\(preview.sealedHTML)\n".utf8))
        console.print("\(visible(output)) shows \(PreviewSummary(check).shown)")
        if arguments.has(opens) { try open(page.resolvingSymlinksInPath().path, console) }
        return .good
    }

    /// Serves the page until the process ends.
    private static func serve(_ manifest: ManifestFile, _ arguments: Arguments, _ console: Console) async throws
        -> Never
    {
        let recording = try arguments[.used].map { console.folder.url($0) }
        let server = try PreviewServer(manifest, console.tool, recording: recording, console.now)
        let address = server.url?.absoluteString ?? ""
        console.print("\(visible(manifest.name)): \(server.summary)\nOpen \(address) in a browser. End with Control-C.")
        console.flush()
        if arguments.has(opens) {
            do { try open(address, console) } catch { console.printError("No browser could be opened.") }
        }
        if arguments.has(outdated) { server.mark(try await marks(of: server.current, manifest, console)) }
        while true { try await server.followRecording() }
    }

    /// Returns notes about the files that differ from their servers' current versions, keyed by path.
    private static func marks(
        of check: ManifestCheck,
        _ manifest: ManifestFile,
        _ console: Console
    ) async throws -> [String: String] {
        let remote = try RemoteCheck(check, in: manifest.folder)
        let findings = await remote.findings(of: remote.copies, console.network)
        let notes = findings.compactMap { finding in finding.mark.map { (finding.copy.substitution.file, $0) } }
        return Dictionary(notes) { first, _ in first }
    }

    private static func open(_ page: String, _ console: Console) throws {
        // The desktop's own command opens a page in the user's default application. iOS, tvOS, watchOS and visionOS
        // cannot start processes.
        #if os(macOS) || os(Linux)
        #if os(macOS)
        let opener = "open"
        #else
        let opener = "xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [opener, page]
        // These variables tell the tool that the package manager's plugin runs it. Do not pass them on to the browser
        // and its child processes.
        process.environment = console.environment.filter { !$0.key.hasPrefix("SUBSTITUTE_") }
        try process.run()
        guard process.exitStatusOfItself == 0 else { throw ToolError("\(opener) could not open \(quoted(page))") }
        #else
        throw ToolError("nothing can be opened on this system; open \(quoted(page)) yourself")
        #endif
    }
}
