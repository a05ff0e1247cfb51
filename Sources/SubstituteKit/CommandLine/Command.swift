import LocalSubstitutionCache
import SubstituteCheckKit

/// One command of the tool.
struct Command: Sendable {
    let name: String
    /// The command's line in the list of commands.
    let summary: String
    /// The operands, in the form in which the usage line shows them.
    let operands: String
    /// The kind of operand that a shell's completion offers.
    var operandKind = OperandKind.manifest
    let options: [any CommandOption]
    /// False for a command that the list of commands leaves out.
    var isListed = true
    /// The help's paragraphs between the usage line and the options.
    let discussion: String
    let example: String
    /// True if the command may write to the package's folder or use the network.
    ///
    /// The package manager asks the user for permission before it runs such a command.
    var needsPermission: Bool { CommandPermissions.needed.contains(name) }
    /// Runs the command and returns the status to exit with.
    let run: @Sendable (Arguments, Console) async throws -> ExitStatus

    /// The kinds of operands.
    enum OperandKind {
        case manifest
        case folder
        case choices([String])
    }

    /// The help's paragraph that explains how a command finds its manifest.
    static let aboutManifest = """
        Without MANIFEST, the command uses the only manifest that it finds. It looks for
        Substitutions/manifest.json here, in a folder here and in a target of the package
        (Sources/*/Substitutions), and for manifest.json; then for the same in the folders above, up to the
        package's. MANIFEST may also be the folder that contains it.
        """

    /// The options with `--help`, which every command has.
    var allOptions: [any CommandOption] { options + [.help] }

    /// The help of this command.
    var help: String {
        """
        \(summary)

        Usage: substitute \(name) \(operands)

        \(discussion)

        Options:
        \(Self.list(allOptions.map { ($0.usage, $0.help) }))

        Example:
        \(example)
        """
    }

    /// Returns rows as two indented columns; without `width`, the first one is as wide as its longest text needs.
    static func list(_ rows: [(String, String)], width: Int? = nil) -> String {
        let width = width ?? (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { name, text in
            let indented = text.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: "\n" + String(repeating: " ", count: width + 2))
            return "  " + name + String(repeating: " ", count: width - name.count) + indented
        }.joined(separator: "\n")
    }
}

extension CommandOption {
    /// The option in the form in which the help shows it.
    fileprivate var usage: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0.uppercased())" } ?? "")
    }
}
