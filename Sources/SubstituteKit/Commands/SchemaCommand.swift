import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the schema of manifests.
enum SchemaCommand {
    static let command = Command(
        name: "schema",
        summary: "Prints the JSON schema with which editors complete and check a manifest.",
        operands: "[OPTIONS]",
        operandKind: .nothing,
        options: [output],
        discussion: """
            Name the schema in the manifest, by a path relative to it: "$schema": "../manifest.schema.json". In a
            package, put the schema beside Package.swift, because files in a target's folder have to be declared.
            """,
        example: "  substitute schema -o manifest.schema.json",
        run: run
    )

    private static let output = Option(
        "output",
        short: "o",
        value: "file",
        "The file for the schema; by default standard output."
    ) { $0 }

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        if let operand = arguments.operands.first {
            throw UsageError("\(quoted(operand)) is not needed; use -o for a file")
        }
        guard let file = try arguments[output], file != "-" else {
            console.printMasked(String(Schema.sealedText.dropLast()))
            return .good
        }
        try OutputFile(file, console).write(Data(Schema.sealedText.utf8))
        console.print("Wrote \(visible(file)).")
        return .good
    }
}
