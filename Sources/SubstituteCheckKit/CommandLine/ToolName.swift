/// The words by which a person calls this tool.
package struct ToolName: Sendable {
    /// In it the command plugins name the verb that they were called by.
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    /// The words for one of the commands.
    ///
    /// - Parameter name: The command's name, with what follows it.
    /// - Returns: What a person writes, such as `swift package substitute check`.
    package func words(_ name: String) -> String {
        guard environment["SUBSTITUTE_VERB"] != nil else { return "substitute \(name)" }
        // The verb decides about permissions.
        let verb =
            CommandPermissions.needed.contains(String(name.prefix { $0 != " " })) ? "substitute-edit" : "substitute"
        return "swift package \(verb) \(name)"
    }
}
