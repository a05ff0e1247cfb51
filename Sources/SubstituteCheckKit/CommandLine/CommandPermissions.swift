/// What the package manager asks a person before it runs a command.
package enum CommandPermissions {
    /// The commands that it asks about: they write to the package's folder or use the network.
    package static let needed: Set = [
        "init", "capture", "browse", "verify", "import", "add", "outdated", "update", "preview", "webextension",
    ]
}
