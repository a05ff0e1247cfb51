import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The remedies for a command or an option that does not exist.
enum UnknownWord {
    // MARK: - Commands

    /// Returns what to type instead of a command that does not exist; nil for an empty command line.
    static func remedy(forCommand words: [String], among commands: [Command], _ tool: ToolName) -> String? {
        guard let first = words.first else { return nil }
        let known = commands.map(\.name) + ["--help", "--version"]
        if let name = suggestion(for: first, among: known) { return "did you mean \(quoted(name))?" }
        // The command may be missing, as in `substitute https://example.com/`.
        if first.contains("://") { return "\(quoted(tool.words("add \(first)"))) loads a URL and adds its entry" }
        return first.hasSuffix(".json") || first.contains("/")
            ? "the command comes first, as in \(quoted(tool.words("check \(first)")))"
            : "the commands are \(commands.map(\.name).joined(separator: ", "))"
    }

    // MARK: - Options

    /// Returns what to write instead of an option that a command does not have; nil if nothing is known.
    static func remedy(forOption name: String, _ options: [any CommandOption], among commands: [Command]) -> String? {
        if let near = suggestion(for: name, among: options.map(\.name)) { return "did you mean --\(near)?" }
        let others = commands.filter { $0.options.contains { $0.name == name.lowercased() } }.map(\.name)
        if !others.isEmpty { return "\(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it" }
        return "the options are \(options.map { "--\($0.name)" }.joined(separator: ", "))"
    }
}
