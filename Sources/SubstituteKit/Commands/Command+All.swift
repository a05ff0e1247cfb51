extension Command {
    /// The commands that the help lists, in the order in which a designer needs them.
    static let listed = [
        InitCommand.command, AddCommand.command, UpdateCommand.command, ExplainCommand.command,
        PreviewCommand.command, BrowseCommand.command, ExtensionCommand.command, CheckCommand.command,
        VerifyCommand.command,
    ]

    /// Every command.
    static let all = listed + [CompletionsCommand.command]
}
