import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
package import SubstituteCheckKit

/// The designers' command-line tool.
package enum CommandLineTool {
    /// Runs a command line in the same way as the tool's process.
    ///
    /// - Parameters:
    ///   - words: The command, with its options and operands.
    ///   - console: The command's input and output, and its environment.
    /// - Returns: The status to exit with.
    package static func run(_ words: [String], _ console: Console) async -> ExitStatus {
        defer { console.flush() }
        guard let first = words.first else {
            console.printError(Command.help(of: "substitute"))
            return .usage
        }
        if first == "--version" {
            console.print("substitute \(libraryVersionAndCommit)")
            return .good
        }
        if first == "--complete" {
            CompletionsCommand.candidates(for: Array(words.dropFirst())).forEach(console.print)
            return .good
        }
        let isHelp = ["help", "--help", "-h"].contains(first)
        guard let name = isHelp ? words.dropFirst().first : first else {
            console.print(Command.help(of: "substitute"))
            return .good
        }
        guard let command = Command.all.first(where: { $0.name == name }) else {
            let asked = isHelp ? Array(words.dropFirst()) : words
            let meant = UnknownWord.remedy(forCommand: asked, among: Command.all, console.tool).map { "; \($0)" } ?? ""
            console.printError(
                "substitute: there is no command \(quoted(name))\(meant)\nSee \(console.tool.words("--help"))."
            )
            return .usage
        }
        if isHelp {
            console.print(command.help)
            return .good
        }
        do {
            let arguments = try Arguments(words.dropFirst(), command.allOptions, among: Command.all)
            if arguments.has(.help) {
                console.print(command.help)
                return .good
            }
            return try await command.run(arguments, console)
        } catch let error as UsageError {
            console.printError(
                "substitute \(command.name): \(error.message)\nSee \(console.tool.words("\(command.name) --help"))."
            )
            return .usage
        } catch let error as ManifestError {
            for issue in error.issues { console.printError(issue.description) }
            console.printError("substitute \(command.name): the manifest has errors; fix them first")
            return .bad
        } catch {
            let message = (error as? ToolError)?.message ?? FileSystem.reason(error)
            console.printError("substitute \(command.name): \(message)")
            // In the package manager's sandbox, the error does not say which permission is missing.
            let isSandboxed = console.environment["SUBSTITUTE_VERB"] == "substitute"
            if isSandboxed, CommandPermissions.areNeeded(for: words) {
                console.printError("If that needs permission, use: \(console.tool.line(words))")
            }
            return .bad
        }
    }
}
