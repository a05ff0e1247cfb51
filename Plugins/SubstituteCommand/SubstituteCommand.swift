import PackagePlugin

/// `swift package substitute …`: the designers' tool, without installing it.
@main
struct SubstituteCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        try context.runTool(arguments, as: "substitute")
    }
}
