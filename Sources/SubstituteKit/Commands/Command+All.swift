extension Command {
    /// Every command, in the order in which a designer needs them.
    static let all = [
        InitCommand.command, CaptureCommand.command, ImportCommand.command, AddCommand.command, OutdatedCommand.command,
        UpdateCommand.command,
        CheckCommand.command, ListCommand.command, ExplainCommand.command, PreviewCommand.command,
        BrowseCommand.command,
        VerifyCommand.command,
        WebExtensionCommand.command, SchemaCommand.command, CompletionsCommand.command,
    ]

    /// The help of the tool.
    static var overview: String {
        """
        Creates, fills, checks, explains and shows a manifest of LocalSubstitutionCache.

        Usage: substitute COMMAND …

        Commands:
        \(list(all.map { ($0.name, $0.summary) }))

        Options:
        \(list([("-h, --help", "Print this help; after a command, that command's help."), ("--version", "Print the version.")]))

        Example:
          substitute check
        """
    }
}
