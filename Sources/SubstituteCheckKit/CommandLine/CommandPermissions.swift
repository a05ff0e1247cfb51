/// The permissions for which the package manager asks the user before it runs a command.
package enum CommandPermissions {
    /// The commands that need permission, because they write to the package's folder or use the network.
    package static let needed: Set = [
        "init", "add", "update", "preview", "browse", "extension", "verify",
    ]
}
