import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints a script that makes a shell complete this tool's commands and options.
enum CompletionsCommand {
    static let command = Command(
        name: "completions",
        summary: "Prints a script that makes a shell complete commands, options and files.",
        operands: "SHELL",
        operandKind: .choices(Shell.allCases.map(\.rawValue)),
        options: [],
        discussion: """
            SHELL is bash, zsh or fish. Write the script to where your shell looks for it:
              bash   substitute completions bash > ~/.local/share/bash-completion/completions/substitute
              zsh    substitute completions zsh > a folder of $fpath, as _substitute
              fish   substitute completions fish > ~/.config/fish/completions/substitute.fish
            """,
        example: "  eval \"$(substitute completions bash)\"",
        run: run
    )

    private enum Shell: String, CaseIterable {
        case bash
        case zsh
        case fish

        var script: String {
            let script = CompletionScript(commands: Command.all)
            return switch self {
            case .bash: script.bash
            case .zsh: script.zsh
            case .fish: script.fish
            }
        }
    }

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let names = Shell.allCases.map(\.rawValue)
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("name a shell: \(names.joined(separator: ", "))")
        }
        guard let shell = Shell(rawValue: name) else {
            throw UsageError(
                "there is no script for \(quoted(name)); there is one for \(names.joined(separator: ", "))"
            )
        }
        console.printMasked(shell.script)
        return .good
    }
}
