/// The words with which a user calls this tool.
package struct ToolName: Sendable {
    /// The environment variables, in which a command plugin passes the verb it was called with.
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    /// Returns the words for one of the commands.
    ///
    /// - Parameter name: The command's name and its arguments.
    /// - Returns: The words to type, such as `swift package substitute check`.
    package func words(_ name: String) -> String {
        guard environment["SUBSTITUTE_VERB"] != nil else { return "substitute \(name)" }
        // The verb decides which permissions the package manager asks for.
        let verb =
            CommandPermissions.needed.contains(String(name.prefix { $0 != " " })) ? "substitute-edit" : "substitute"
        return "swift package \(verb) \(name)"
    }
}
