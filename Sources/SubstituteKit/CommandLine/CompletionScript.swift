import Foundation

/// Completion scripts, generated from the same table of commands as the help.
struct CompletionScript {
    let commands: [Command]

    /// Returns the words of an option, such as `-s` and `--strict`.
    private func words(_ option: any CommandOption) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
    }

    /// Returns a text in single quotation marks; bash, zsh and fish read the result in the same way.
    private func inQuotes(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "\n", with: " ").replacingOccurrences(of: "'", with: "’") + "'"
    }

    // MARK: - bash

    var bash: String {
        let names = (commands.map(\.name) + ["help", "--help", "--version"]).joined(separator: " ")
        let cases = commands.map { command in
            let values = command.options.filter { $0.value != nil }.map { option in
                let pattern = words(option).joined(separator: "|")
                // If `COMPREPLY` is empty, bash completes file names.
                return option.choices.isEmpty
                    ? "        \(pattern)) return ;;"
                    : "        \(pattern)) COMPREPLY=($(compgen -W '\(option.choices.joined(separator: " "))' -- \"$word\")); return ;;"
            }
            let options = command.allOptions.flatMap(words).joined(separator: " ")
            let operands =
                switch command.operandKind {
                case .manifest, .folder: ":"
                case .choices(let choices): "COMPREPLY=($(compgen -W '\(choices.joined(separator: " "))' -- \"$word\"))"
                }
            return """
                    \(command.name))
                        case $previous in
                \(values.joined(separator: "\n"))
                        esac
                        if [[ $word == -* ]]; then
                            COMPREPLY=($(compgen -W '\(options)' -- "$word"))
                        else
                            \(operands)
                        fi ;;
                """
        }
        return """
            # Completes substitute in bash.
            _substitute() {
                local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
                COMPREPLY=()
                if [[ $COMP_CWORD -eq 1 ]]; then
                    COMPREPLY=($(compgen -W '\(names)' -- "$word"))
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                help) COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " "))' -- "$word")) ;;
                esac
            }
            complete -o default -F _substitute substitute
            """
    }

    // MARK: - zsh

    var zsh: String {
        let names = commands.map { "        \(inQuotes("\($0.name):\($0.summary)"))" }.joined(separator: "\n")
        let cases = commands.map { command in
            let options = command.allOptions.flatMap { option in
                let text = option.help.replacingOccurrences(of: "[", with: "(").replacingOccurrences(of: "]", with: ")")
                let value = option.value.map { value in
                    ":\(value):" + (option.choices.isEmpty ? "_files" : "(\(option.choices.joined(separator: " ")))")
                }
                return words(option).map { "        \(inQuotes("\($0)[\(text)]\(value ?? "")"))" }
            }
            let operands: [String] =
                switch command.operandKind {
                case .manifest: ["        '*:file:_files'"]
                case .folder: ["        '1:folder:_files -/'"]
                case .choices(let choices): ["        '1:choice:(\(choices.joined(separator: " ")))'"]
                }
            return """
                    \(command.name)) _arguments \\
                \((options + operands).joined(separator: " \\\n")) ;;
                """
        }
        return """
            #compdef substitute
            # Completes substitute in zsh.
            _substitute() {
                local -a commands
                commands=(
            \(names)
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
            \(cases.joined(separator: "\n"))
                esac
            }
            if [[ $funcstack[1] == _substitute ]]; then _substitute "$@"; else compdef _substitute substitute; fi
            """
    }

    // MARK: - fish

    var fish: String {
        var lines = [
            "# Completes substitute in fish.", "complete -c substitute -f -n __fish_use_subcommand -s h -l help",
            "complete -c substitute -f -n __fish_use_subcommand -l version",
        ]
        for command in commands {
            lines.append(
                "complete -c substitute -f -n __fish_use_subcommand -a \(command.name) -d \(inQuotes(command.summary))"
            )
            let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.allOptions {
                let short = option.short.map { " -s \($0)" } ?? ""
                let value =
                    option.value == nil
                    ? "" : option.choices.isEmpty ? " -r -F" : " -x -a '\(option.choices.joined(separator: " "))'"
                lines.append(
                    "complete -c substitute \(condition)\(short) -l \(option.name)\(value) -d \(inQuotes(option.help))"
                )
            }
            if case .choices(let choices) = command.operandKind {
                lines.append("complete -c substitute -f \(condition) -a '\(choices.joined(separator: " "))'")
            }
        }
        return lines.joined(separator: "\n")
    }
}
