/// The permissions for which the package manager asks the user before it runs a command.
package enum CommandPermissions {
    /// The commands and options that need permission, because they write to the package's folder or use the network.
    private static let needed: Set = [
        "init", "add", "update", "preview", "browse", "extension", "verify", "--fix", "--in-browser",
    ]

    /// Returns true if a command line needs permission.
    package static func areNeeded(for words: [String]) -> Bool {
        words.enumerated().contains { ($0 == 0 || $1.hasPrefix("--")) && needed.contains($1) }
    }
}
