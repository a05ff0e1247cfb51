import Foundation

/// The words by which a person calls this tool.
enum ToolName {
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
        let command = Command.all.first { $0.name == name.prefix { $0 != " " } }
        // The verb decides about permissions.
        return "swift package \(command?.needsPermission == true ? "substitute-edit" : "substitute") \(name)"
    }
}
