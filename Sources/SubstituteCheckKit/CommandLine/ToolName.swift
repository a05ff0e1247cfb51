/// The words by which a person calls this tool.
package struct ToolName: Sendable {
    /// The commands that the package manager asks about: they write to the package's folder or use the network.
    package static let withPermission: Set = ["init", "import", "add", "outdated", "update", "preview", "webextension"]

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
        let verb = Self.withPermission.contains(String(name.prefix { $0 != " " })) ? "substitute-edit" : "substitute"
        return "swift package \(verb) \(name)"
    }
}
