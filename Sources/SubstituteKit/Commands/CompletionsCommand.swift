import LocalSubstitutionCache
import SubstituteCheckKit

/// The command that prints a script for a shell, and answers what the script asks.
enum CompletionsCommand {
    static let command = Command(name: "completions", options: [], run: run)

    /// The shells with a script, which passes the words up to the one that is typed to `--complete`.
    private static let shells = ["bash", "zsh", "fish"]

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let names = shells.joined(separator: ", ")
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("name a shell: \(names)")
        }
        guard let script = String(section: name, of: PackageResources.completions_txt) else {
            throw UsageError("there is no script for \(quoted(name)); there is one for \(names)")
        }
        console.print(script)
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
        return command.name == "completions" ? shells : []
    }

    private static func spellings(_ option: any CommandOption) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
    }
}
