import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Writes a page that shows the app's bundled files, or lists them.
enum PreviewCommand {
    static let command = Command(
        name: "preview",
        options: [output, opens, serves, format, outdated, .used],
        run: run
    )

    private static let output = Option("output", short: "o", value: "file") { $0 }
    private static let format = ReportFormat.option([.text, .json])
    private static let opens = Option("open")
    private static let serves = Option("serve")
    private static let outdated = Option("outdated")

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        // A page is of no use in a terminal.
        let ofPage: [any CommandOption] = [output, opens, serves, outdated]
        let option = ofPage.first { arguments.has($0) }
        let format = try arguments[format] ?? (console.isInTerminal && option == nil ? .text : nil)
        let manifest = try ManifestLocation(console).only(arguments.operands)
        if let format {
            if let option {
                throw UsageError("--\(option.name) is for the page, and --format prints a list instead")
            }
            let check = try manifest.checked(on: console.now())
            let use = try arguments[.used].map { try RecordedUse(named: $0, of: check, manifest, console) }
            try PreviewList(check, use).print(as: format, console)
            return .good
        }
        if arguments.has(serves) {
            guard !arguments.has(output) else { throw UsageError("--serve writes no file; leave --output out") }
            try await serve(manifest, arguments, console)
        }
        let named = try arguments[output].flatMap { $0 == "-" ? nil : $0 }
        let temporary = FileManager.default.temporaryDirectory.path + "/preview-\(UUID().uuidString).html"
        let file = try (named ?? (arguments.has(opens) ? temporary : nil)).map {
            try OutputFile($0, console, besides: named == nil ? nil : manifest.folder)
        }
        let check = ManifestCheck(manifest, on: console.now())
        if let issue = check.issues.first, issue.code == .unreadableManifest { throw ManifestError([issue]) }
        let page = file?.url ?? console.folder.url("preview.html")
        let preview = try await PreviewPage(
            check: check,
            tool: console.tool,
            marks: arguments.has(outdated) ? marks(of: check, manifest, console) : [:],
            use: check.errors.isEmpty
                ? arguments[.used].map { try RecordedUse(named: $0, of: check, manifest, console) }
                : nil,
            // If the user names an output file, the user may give the page to other people. The page must then not
            // contain the manifest's absolute path.
            editable: named == nil && arguments.has(opens) ? manifest.url : nil,
            address: PreviewPage.addresses(in: manifest.folder, from: page.deletingLastPathComponent())
        ).page().sealed
        guard let file else {
            console.print(preview)
            return .good
        }
        try file.write(Data("\(preview)\n".utf8))
        console.print("\(visible(file.path)) shows \(PreviewSummary(check).shown)")
        if arguments.has(opens) { try open(page.path, console) }
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
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: true, console)
        let findings = await remote.findings(of: remote.copies, in: staging, console.network)
        let notes = findings.compactMap { finding in finding.mark.map { (finding.copy.substitution.path, $0) } }
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
