import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints what is substituted.
enum ListCommand {
    static let command = Command(
        name: "list",
        summary: "Lists each URL with its file, media type and size.",
        operands: "[OPTIONS] [MANIFEST]",
        operandKind: .manifest,
        options: [json],
        discussion: """
            Files of folders are listed one by one. Entries that ask the network first, or end some day, say so.

            \(Command.aboutManifest)

            Exits with 0 when the manifest could be read, 1 when it has errors, and 2 when it is used wrongly.
            """,
        example: "  substitute list",
        run: run
    )

    private static let json = Option("json", "Print one JSON object for each URL, and nothing else.")

    private static func run(_ arguments: Arguments, _ console: Console) throws -> Int32 {
        guard arguments.operands.count <= 1 else { throw UsageError("name one manifest") }
        let check = ManifestCheck(try ManifestLocation(console).find(arguments.operands.first), on: console.now())
        guard check.errors.isEmpty else {
            for issue in check.errors { console.complain("\(issue)") }
            return 1
        }
        let shipped = check.shipped
        if arguments.has(json) {
            for substitution in shipped { console.print(try JSONLine.encode(Row(substitution))) }
            return 0
        }
        var table = TextTable()
        for substitution in shipped {
            table.append([
                visible(substitution.url), visible(substitution.file), substitution.mediaType.description,
                ByteCount(substitution.size).description, remarks(of: substitution),
            ])
        }
        table.lines.forEach(console.print)
        console.print(check.inventory.description)
        return 0
    }

    private struct Row: Encodable {
        let url: String
        let file: String
        let type: String
        let size: Int
        let line: Int
        let when: [String]
        let until: String?

        init(_ substitution: Substitution) {
            (url, file) = (visible(substitution.url), visible(substitution.file))
            (type, size, line) = (substitution.mediaType.description, substitution.size, substitution.line)
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
