import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints a script that makes a shell complete this tool's commands and options.
enum CompletionsCommand {
    static let command = Command(
        name: "completions",
        summary: "Prints a script that makes a shell complete commands, options and files.",
        operands: "SHELL",
        operandKind: .choices(shells),
        options: [],
        isListed: false,
        discussion: """
            SHELL is bash, zsh or fish. Write the script to where your shell looks for it:
              bash   substitute completions bash > ~/.local/share/bash-completion/completions/substitute
              zsh    substitute completions zsh > a folder of $fpath, as _substitute
              fish   substitute completions fish > ~/.config/fish/completions/substitute.fish
            """,
        example: "  eval \"$(substitute completions bash)\"",
        run: run
    )

    private static let shells = ["bash", "zsh", "fish"]

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let names = shells.joined(separator: ", ")
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("name a shell: \(names)")
        }
        let script = CompletionScript(commands: Command.all)
        switch name {
        case "bash": console.print(script.bash)
        case "zsh": console.print(script.zsh)
        case "fish": console.print(script.fish)
        default: throw UsageError("there is no script for \(quoted(name)); there is one for \(names)")
        }
        return .good
    }
}
