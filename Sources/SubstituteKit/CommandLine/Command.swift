import LocalSubstitutionCache
import SubstituteCheckKit

/// The tool's own version.
let toolVersion = libraryVersion

/// One command of the tool.
struct Command: Sendable {
    let name: String
    /// One line for the list of commands.
    let summary: String
    /// What follows the name on the command line.
    let operands: String
    /// What shells complete there.
    let operandKind: OperandKind
    let options: [Option]
    /// Paragraphs between the usage and the options.
    let discussion: String
    let example: String
    /// Whether it may write to the package's folder or use the network, for which the package manager asks first.
    var needsPermission: Bool { CommandPermissions.needed.contains(name) }
    /// Runs the command and returns the status to exit with.
    let run: @Sendable (Arguments, Console) async throws -> Int32

    /// What the words are that are no options.
    enum OperandKind {
        case manifest
        case folder
        case choices([String])
        case nothing
    }

    /// How a command finds its manifest, for the help.
    static let aboutManifest = """
        Without a MANIFEST it takes the only one there is: Substitutions/manifest.json here, in a folder here, or in a
        target of the package (Sources/*/Substitutions), or manifest.json; then the same in the folders above, up to the
        package's. A folder stands for the manifest in it.
        """

    /// The help of this command.
    var help: String {
        """
        \(summary)

        Usage: substitute \(name) \(operands)

        \(discussion)

        Options:
        \(Self.list((options + [.help]).map { ($0.usage, $0.help) }))

        Example:
        \(example)
        """
    }

    /// Two columns, indented.
    static func list(_ rows: [(String, String)]) -> String {
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { name, text in
            let indented = text.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: "\n" + String(repeating: " ", count: width + 2))
            return "  " + name + String(repeating: " ", count: width - name.count) + indented
        }.joined(separator: "\n")
    }
}

extension Option {
    /// The option as the help writes it.
    fileprivate var usage: String {
        (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (value.map { " \($0.uppercased())" } ?? "")
    }
}
