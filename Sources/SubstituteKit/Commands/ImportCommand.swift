import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Imports files and entries from a browser's recording.
enum ImportCommand {
    static let command = Command(
        name: "import",
        summary: "Adds the files of a recorded page (HAR), with their entries.",
        operands: "[OPTIONS] [MANIFEST] FILE.har",
        operandKind: .manifest,
        options: ImportRun.options,
        discussion: """
            To record a page, open the browser's developer tools, choose Network, switch its cache off, load the page, and
            export all as HAR with content. With -, the recording is read from standard input.

            Saves each file as host/path below the manifest's folder. New entries follow all others; the rest of the
            manifest is not changed, and URLs that an entry already answers are left out. The command takes complete
            responses to GET with status 200 or 203, and prints the reason for each response that it leaves out. It never
            writes cookies, passwords and tokens from headers.

            A response that may be for one person is left out: if its Cache-Control has no-store or private; if it was
            requested with Authorization or a similar field; if it was requested with cookies, and either it depends
            on them (Vary), or it is no stylesheet, script, image or font and its Cache-Control has neither public nor
            s-maxage; and if its URL holds a token or password. Browsers leave the cookies out of a recording unless
            you ask for them, so look through what was recorded while you were signed in.

            \(Command.aboutManifest)

            Exits with 0 if the recording could be read; 1 if it could not be read or the manifest has errors, in
            which case nothing is changed; and 2 on a usage error.
            """,
        example: "  substitute import --only image,stylesheet,font --dry-run page.har",
        run: run
    )

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        guard let file = arguments.operands.last, arguments.operands.count <= 2 else {
            throw UsageError("name one recording, and optionally a manifest before it")
        }
        let run = try ImportRun(arguments, console)
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
                    + console.tool.line(["capture", file])
            )
        }
        guard console.folder.kind(of: file) != nil else { throw ToolError("\(quoted(file)) does not exist") }
        return try console.folder.contents(of: file)
    }
}
