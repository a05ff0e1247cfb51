import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Imports files and entries from a browser's recording.
enum ImportCommand {
    static let command = Command(
        name: "import",
        summary: "Takes the files of a recorded page (HAR), and adds their entries.",
        operands: "[OPTIONS] [MANIFEST] FILE.har",
        operandKind: .manifest,
        options: ImportRun.options,
        discussion: """
            To record a page, open the browser's developer tools, choose Network, switch its cache off, load the page, and
            export all as HAR with content. With - the recording is read from standard input.

            Each file lies below the manifest's folder as host/path. The entries stand behind all others; what stands in
            the manifest is not touched, and a URL that an entry answers already is left alone. Taken are whole answers to
            GET with status 200; what is left out is told with its reason. Cookies, passwords and tokens in headers are
            written nowhere, and answers to requests with Authorization are left out.

            \(Command.aboutManifest)

            Exits with 0 when the recording could be read; 1 when it could not, or the manifest has errors: then nothing
            was changed; and 2 when it is used wrongly.
            """,
        example: "  substitute import --only image,stylesheet,font --dry-run page.har",
        run: run
    )

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        guard let file = arguments.operands.last, arguments.operands.count <= 2 else {
            throw UsageError("name a recording, and before it perhaps a manifest")
        }
        let run = try ImportRun(arguments, console)
        let manifest = try ManifestLocation(console).find(
            arguments.operands.count == 2 ? arguments.operands.first : nil
        )
        let capture = try HARFile(read(file, console), name: file == "-" ? "<stdin>" : file)
        try run.importExchanges(of: capture, to: manifest)
        return 0
    }

    private static func read(_ file: String, _ console: Console) throws -> Data {
        if file == "-" { return try console.readAll() }
        guard console.folder.kind(of: file) != nil else { throw ToolError("\(quoted(file)) does not exist") }
        return try console.folder.contents(of: file)
    }
}
