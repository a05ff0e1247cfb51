import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the substituted URLs with their files.
enum ListCommand {
    static let command = Command(
        name: "list",
        summary: "Lists each URL with its file, media type and size.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [.used, unusedLimit, json],
        discussion: """
            Files of folders are listed one by one. Lines of entries with "when" or "until" show these conditions.

            With --used, each line begins with the number of times that the file answered its URL in a recording by
            the app (cache.record(to:)). For a recording by a browser, it is how often the file would have answered.

            \(Command.aboutManifest)

            Exits with 0 if the manifest could be read; 1 if it has errors, or if the unused files are larger than
            --unused-limit; and 2 on a usage error.
            """,
        example: """
              substitute list
              substitute list --used app.har --unused-limit 200kB
            """,
        run: run
    )

    private static let json = Option("json", "Print one JSON object for each URL, and nothing else.")
    private static let unusedLimit = Option(
        "unused-limit",
        value: "size",
        "Exit with 1 if the unused files in total are larger than this, such as 200kB.",
        Quantity.size
    )

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let limit = try arguments[unusedLimit]
        if limit != nil, !arguments.has(.used) {
            throw UsageError("--unused-limit needs --used with a recording of the app")
        }
        let manifest = try ManifestLocation(console).only(arguments.operands)
        let check = try manifest.checked(on: console.now())
        let shipped = check.shipped
        let use = try arguments[.used].map { try RecordedUse(named: $0, of: check, manifest, console) }
        let unused = use?.unusedFiles(of: shipped) ?? []
        let unusedSize = unused.reduce(0) { $0 + $1.size }
        let status: ExitStatus = unusedSize > limit?.bytes ?? .max ? .bad : .good
        if arguments.has(json) {
            for substitution in shipped { try console.printJSON(OutputLine(substitution, use), isOwn: true) }
            return status
        }
        console.printTable(
            shipped.map { substitution in
                let times = use.map { [$0.times(substitution) == 0 ? "never" : "\($0.times(substitution)) ×"] } ?? []
                return times + [
                    visible(substitution.url), visible(substitution.file), substitution.mediaType,
                    ByteCount(substitution.size).description, remarks(of: substitution),
                ]
            }
        )
        console.print(check.inventory.description)
        if let use {
            if use.isEmpty, !unused.isEmpty {
                console.print(
                    "The recording has no request that a file answers, so it may be one of another site or app."
                )
            }
            let list = unused.isEmpty ? "" : ": " + unused.map { visible($0.file) }.joined(separator: ", ")
            let excess = status == .good ? "" : "; that is more than --unused-limit"
            console.print(
                "\(counted(unused.count, "file")) never used, \(ByteCount(unusedSize))\(excess)\(list)"
            )
        }
        return status
    }

    private struct OutputLine: Encodable {
        let url: String
        let file: String
        let type: String
        let size: Int
        let line: Int
        let when: [String]
        let until: String?
        let times: Int?

        init(_ substitution: Substitution, _ use: RecordedUse?) {
            times = use?.times(substitution)
            (url, file) = (visible(substitution.url), visible(substitution.file))
            (type, size, line) = (substitution.mediaType, substitution.size, substitution.line)
            when = substitution.conditions.map { $0.description.filter { $0 != "\"" } }
            until = substitution.lastDay
        }
    }

    private static func remarks(of substitution: Substitution) -> String {
        var remarks: [String] = []
        if !substitution.conditions.isEmpty {
            remarks.append("only when " + substitution.conditions.map(\.description).joined(separator: " or "))
        }
        if let day = substitution.lastDay { remarks.append("until \(day)") }
        return remarks.joined(separator: ", ")
    }
}
