import LocalSubstitutionCache
import SubstituteCheckKit

/// The command that prints a script for a shell, and answers what the script asks.
enum CompletionsCommand {
    static let command = Command(
        name: "completions",
        summary: "Prints a script that makes a shell complete commands, options and files.",
        operands: "SHELL",
        operandKind: .choices(scripts.map(\.shell)),
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

    /// The scripts; each passes the words of the command line, up to the one that is typed, to `--complete`.
    private static let scripts = [
        (
            shell: "bash",
            text: """
            _substitute() {
                local IFS=$'\\n'
                COMPREPLY=($(substitute --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
            }
            complete -o default -F _substitute substitute
            """
        ),
        (
            shell: "zsh",
            text: """
            #compdef substitute
            _substitute() {
                local -a found
                found=(${(f)"$(substitute --complete "${(@)words[2,CURRENT]}" 2> /dev/null)"})
                if (( $#found )); then compadd -a found; else _files; fi
            }
            if [[ $funcstack[1] == _substitute ]]; then _substitute "$@"; else compdef _substitute substitute; fi
            """
        ),
        (
            shell: "fish",
            text: """
            complete -c substitute -a \\
                '(substitute --complete (commandline -opc)[2..] (commandline -ct | string collect -a) 2> /dev/null)'
            """
        ),
    ]

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let names = scripts.map(\.shell).joined(separator: ", ")
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("name a shell: \(names)")
        }
        guard let script = scripts.first(where: { $0.shell == name }) else {
            throw UsageError("there is no script for \(quoted(name)); there is one for \(names)")
        }
        console.print(script.text)
        return .good
    }

    /// Returns the words that can stand in place of the last word; none where the shell offers names of files.
    static func candidates(for words: [String]) -> [String] {
        let typed = words.last ?? ""
        return choices(before: typed, words.dropLast()).filter { $0.hasPrefix(typed) }
    }

    private static func choices(before typed: String, _ words: ArraySlice<String>) -> [String] {
        let names = Command.all.map(\.name)
        guard let first = words.first else { return names + ["help", "--help", "--version"] }
        if first == "help" { return names }
        guard let command = Command.all.first(where: { $0.name == first }) else { return [] }
        if let last = words.dropFirst().last,
            let option = command.options.first(where: { $0.value != nil && spellings($0).contains(last) })
        {
            return option.choices
        }
        if typed.hasPrefix("-") {
            return command.allOptions.flatMap(spellings)
        }
        if case .choices(let choices) = command.operandKind { return choices }
        return []
    }

    private static func spellings(_ option: any CommandOption) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
    }
}
