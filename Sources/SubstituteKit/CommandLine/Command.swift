import LocalSubstitutionCache
import SubstituteCheckKit

/// One command of the tool.
struct Command: Sendable {
    let name: String
    let options: [any CommandOption]
    /// Runs the command and returns the status to exit with.
    let run: @Sendable (Arguments, Console) async throws -> ExitStatus

    /// The options with `--help`, which every command has.
    var allOptions: [any CommandOption] { options + [.help] }

    /// The help of this command.
    var help: String { Self.help(of: name) }

    /// Returns the help of a command, or of the tool.
    static func help(of name: String) -> String { String(section: name, of: PackageResources.help_txt) ?? "" }
}
