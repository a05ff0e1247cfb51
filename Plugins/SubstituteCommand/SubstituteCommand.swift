import PackagePlugin

/// `swift package substitute …`: runs the designers' tool, which need not be installed.
@main
struct SubstituteCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        try ToolRun(context, packageManager, verb: "substitute")(arguments)
    }
}

// Only Xcode has this module. It is for plugins that run on Xcode projects.
#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension SubstituteCommand: XcodeCommandPlugin {
    func performCommand(context: XcodePluginContext, arguments: [String]) throws {
        try ToolRun(context, verb: "substitute")(inXcode: arguments, usual: ["check"])
    }
}
#endif
