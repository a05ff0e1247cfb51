extension Command {
    /// The commands that the help lists, in the order in which a designer needs them.
    private static let groups = [
        ("Make", [InitCommand.command, AddCommand.command, UpdateCommand.command]),
        (
            "Look",
            [ExplainCommand.command, PreviewCommand.command, BrowseCommand.command, ExtensionCommand.command]
        ),
        ("Keep right", [CheckCommand.command, VerifyCommand.command]),
    ]

    /// Every command.
    static let all = groups.flatMap { $1 } + [CompletionsCommand.command]

    /// The help of the tool.
    static var overview: String {
        let commands = groups.map { "\($0):\n\(list($1.map { ($0.name, $0.summary) }, width: 11))" }
        return """
            Creates, fills, checks, explains and shows a manifest of LocalSubstitutionCache.

            Usage: substitute COMMAND …

            \(commands.joined(separator: "\n\n"))

            Options:
            \(list([("-h, --help", "Print this help; after a command, that command's help."), ("--version", "Print the version.")]))

            Example:
              substitute check
            """
    }
}
