import Foundation

/// The words by which a person calls this tool.
enum ToolName {
    /// The commands that the package manager asks about: they write to the package's folder or use the network.
    static let withPermission: Set = ["init", "import", "add", "outdated", "update", "preview", "webextension"]

    /// The words for one of the commands, such as `swift package substitute check`.
    ///
    /// - Parameters:
    ///   - name: The command's name, with what follows it.
    ///   - environment: In it the command plugins name the verb that they were called by.
    /// - Returns: What a person writes.
    static func words(
        _ name: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        guard environment["SUBSTITUTE_VERB"] != nil else { return "substitute \(name)" }
        // The verb decides about permissions.
        let verb = withPermission.contains(String(name.prefix { $0 != " " })) ? "substitute-edit" : "substitute"
        return "swift package \(verb) \(name)"
    }
}
