import Foundation
import LocalSubstitutionCache

/// Writes a page that shows what ships.
enum PreviewCommand {
    static let command = Command(
        name: "preview",
        summary: "Writes a page that shows what ships.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [output, opens],
        discussion: """
            The page shows a thumbnail, specimen, player or first lines of each file, with its URL, media type, size and
            conditions, and what is wrong with the manifest on top. It is one file; it refers to the files of the manifest
            by relative address, and sends nothing anywhere.

            \(Command.aboutManifest)

            Exits with 0 when the page was written, also for a manifest with errors, 1 when it could not be, and 2 when it
            is used wrongly.
            """,
        example: "  substitute preview --open",
        run: run
    )

    private static let output = Option(
        "output",
        short: "o",
        value: "file",
        "Where the page is written; without it to standard output, or with --open to a\ntemporary file."
    )
    private static let opens = Option("open", "Open the page in the browser.")

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        guard arguments.operands.count <= 1 else { throw UsageError("name one manifest") }
        let path = try ManifestLocation.find(arguments.operands.first)
        let named = arguments.values(output).last.flatMap { $0 == "-" ? nil : $0 }
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(
            "preview-\(UUID().uuidString).html"
        ).path
        let output = named ?? (arguments.has(opens) ? temporary : nil)
        let manifest = URL(fileURLWithPath: path)
        let check = ManifestCheck(manifest, name: path)
        if let issue = check.issues.first, issue.code == .unreadableManifest { throw ToolError(issue.message) }
        let page = URL(fileURLWithPath: output ?? "preview.html")
        let preview = PreviewPage(
            check,
            folder: manifest.deletingLastPathComponent(),
            from: page.deletingLastPathComponent()
        )
        guard let output else {
            console.print(preview.html)
            return 0
        }
        let written = page.resolvingSymlinksInPath().path
        let sources = [manifest.resolvingSymlinksInPath().path] + check.substitutions.map(\.realPath)
        if sources.contains(written) {
            throw UsageError("\(quoted(output)) is what is to be shown; name another file")
        }
        try Console.write(preview.html, to: output)
        console.print("\(visible(output)) shows \(check.inventory.description)")
        if arguments.has(opens) { try open(page.resolvingSymlinksInPath()) }
        return 0
    }

    private static func open(_ page: URL) throws {
        // The desktop's own command for "open with whatever opens this". iOS and its relatives start no processes.
        #if os(macOS) || os(Linux)
        #if os(macOS)
        let opener = "open"
        #else
        let opener = "xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [opener, page.path]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw ToolError("\(opener) could not open \(quoted(page.path))") }
        #else
        throw ToolError("nothing can be opened on this system; open \(quoted(page.path)) yourself")
        #endif
    }
}
