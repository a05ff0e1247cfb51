import Foundation
import LocalSubstitutionCache

/// The words with which a user calls this tool.
package struct ToolName: Sendable {
    /// The environment variables; `SUBSTITUTE_VERB` is set if a command plugin runs the tool.
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    /// Returns the words to type for a command.
    ///
    /// - Parameter name: The command's name and its arguments.
    /// - Returns: The words, such as `swift package substitute check`.
    package func words(_ name: String) -> String {
        guard environment["SUBSTITUTE_VERB"] != nil else { return "substitute \(name)" }
        // The plugin's verb decides which permissions the package manager asks for.
        let verb =
            CommandPermissions.areNeeded(for: name.components(separatedBy: " ")) ? "substitute-edit" : "substitute"
        return "swift package \(verb) \(name)"
    }

    /// Returns the line to type for a command and its arguments, in which a shell reads each word as it is.
    package func line(_ arguments: [String]) -> String { words(arguments.map(Self.shellWord).joined(separator: " ")) }

    /// Returns a word in single quotes if it contains a character that has a meaning in a shell.
    private static func shellWord(_ word: String) -> String {
        let isPlain = { (byte: UInt8) in byte.isASCIILetter || byte.isASCIIDigit || "-_./:,@%+=".utf8.contains(byte) }
        let word = visible(word)
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        return "'\(word.replacingOccurrences(of: "'", with: "'\\''"))'"
    }
}
