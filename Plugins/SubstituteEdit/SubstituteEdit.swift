import PackagePlugin

/// `swift package substitute-edit …`: the same tool with the permissions that some of its commands need, to write to
/// the package's folder and to use the network.
@main
struct SubstituteEdit: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        try context.runTool(arguments, as: "substitute-edit")
    }
}
