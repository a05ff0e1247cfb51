import Foundation
import LocalSubstitutionCache

/// Prints the issues of manifests.
struct CheckCommand {
    static let command = Command(
        name: "check",
        summary: "Tells everything that is wrong with a manifest, and where.",
        operands: "[OPTIONS] [MANIFEST…]",
        options: [strict, json, folder, stamp],
        discussion: """
            Without a MANIFEST it looks for Resources/Substitutions/manifest.json, Substitutions/manifest.json and
            manifest.json, and takes the first. With - it reads the manifest from standard input; its files lie in the
            current folder, or in the one that --folder names.

            Exits with 0 when there is no error, 1 when there is one, and 2 when it is used wrongly.
            """,
        example: "  substitute check --strict Substitutions/manifest.json",
        run: run
    )

    private static let strict = Option("strict", short: "s", "Treat warnings as errors.")
    private static let json = Option("json", "Print one JSON object for each issue, and nothing else.")
    private static let folder = Option(
        "folder",
        short: "f",
        value: "folder",
        "Where the files lie, for a manifest from standard input."
    )
    private static let stamp = Option("stamp", value: "file", "Write a file when there is no error, for build systems.")

    private static let defaults = [
        "Resources/Substitutions/manifest.json", "Substitutions/manifest.json", "manifest.json",
    ]

    private let isStrict: Bool
    private let console: Console

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        let check = CheckCommand(isStrict: arguments.has(strict), console: console)
        var paths = arguments.operands
        if paths.isEmpty {
            guard let found = defaults.first(where: FileManager.default.fileExists) else {
                throw UsageError(
                    "there is no \(defaults.map { quoted($0) }.joined(separator: " or ")); name a manifest"
                )
            }
            paths = [found]
        }
        if arguments.has(folder), !paths.contains("-") {
            throw UsageError("--folder is for a manifest from standard input; the files of any other lie beside it")
        }
        let checks = paths.map { path in
            let files = URL(fileURLWithPath: arguments.values(folder).last ?? ".")
            return path == "-"
                ? ManifestCheck(console.readAll(), name: "<stdin>", folder: files)
                : ManifestCheck(URL(fileURLWithPath: path), name: path)
        }
        for manifest in checks {
            let excerpts = Excerpts(manifest.text)
            for issue in manifest.issues.map(check.judged) {
                if arguments.has(json) { try check.printJSON(issue) } else { check.printText(issue, excerpts) }
            }
        }
        let issues = checks.flatMap(\.issues).map(check.judged)
        if !arguments.has(json) { check.printSummary(checks, issues) }
        if issues.contains(where: { $0.severity == .error }) { return 1 }
        for file in arguments.values(stamp) { try Console.write("// The manifest has no errors.\n", to: file) }
        return 0
    }

    private func judged(_ issue: ManifestIssue) -> ManifestIssue { isStrict ? issue.asError : issue }

    private func printText(_ issue: ManifestIssue, _ excerpts: Excerpts) {
        let severity = console.coloured("\(issue.severity.rawValue):", issue.severity == .error ? .red : .yellow)
        let place = console.coloured("\(visible(issue.file)):\(issue.line):\(issue.column):", .bold)
        console.print("\(place) \(severity) \(issue.message)")
        if let (line, indentation) = excerpts.lines(for: issue) {
            console.print(line)
            console.print(indentation + console.coloured("^", .green))
        }
    }

    private func printSummary(_ checks: [ManifestCheck], _ issues: [ManifestIssue]) {
        func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
            "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
        }
        let entries = checks.compactMap { $0.entries?.count }
        let files = checks.reduce(0) { $0 + $1.fileCount }
        let bytes = checks.reduce(0) { $0 + $1.byteCount }
        let errors = issues.count { $0.severity == .error }
        let parts = [
            entries.count == checks.count ? count(entries.reduce(0, +), "entry", "entries") : nil,
            entries.count == checks.count ? count(files, "file") : nil,
            entries.count == checks.count ? count(bytes, "byte") : nil,
            count(errors, "error"), count(issues.count - errors, "warning"),
        ]
        console.print(parts.compactMap(\.self).joined(separator: ", "))
    }

    private func printJSON(_ issue: ManifestIssue) throws {
        struct Line: Encodable {
            let file: String
            let line: Int
            let column: Int
            let severity: String
            let code: String
            let message: String
        }
        let line = Line(
            file: visible(issue.file),
            line: issue.line,
            column: issue.column,
            severity: issue.severity.rawValue,
            code: issue.code.rawValue,
            message: issue.message
        )
        console.print(try JSONLine.encode(line))
    }
}

/// One JSON object on a line.
enum JSONLine {
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
