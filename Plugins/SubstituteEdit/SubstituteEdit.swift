import PackagePlugin

/// `swift package substitute-edit …`: the designers' tool, with the permissions that some of its commands need.
///
/// The plugin has two permissions: to write to the package's folder, and to use the network.
@main
struct SubstituteEdit: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        try ToolRun(context, packageManager, verb: "substitute-edit")(arguments)
    }
}

// Only Xcode has this module. It is for plugins that run on Xcode projects.
#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension SubstituteEdit: XcodeCommandPlugin {
    func performCommand(context: XcodePluginContext, arguments: [String]) throws {
        try ToolRun(context, verb: "substitute-edit")(inXcode: arguments, usual: ["--help"])
    }
}
#endif
