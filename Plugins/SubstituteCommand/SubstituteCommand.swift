import Foundation
import PackagePlugin

/// `swift package substitute …`: the designers' tool, without installing it.
@main
struct SubstituteCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let process = Process()
        process.executableURL = try context.tool(named: "substitute").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        // The tool has said what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
