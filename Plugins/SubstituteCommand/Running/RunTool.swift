import Foundation
import PackagePlugin

/// One run of the tool, from a terminal or from Xcode.
struct ToolRun {
    /// The tool as it was built for the plugin.
    let tool: URL
    /// The command plugin's verb, as the user writes it after `swift package`.
    let verb: String
    /// The targets' resources: files, and folders that are copied whole.
    let resources: [URL]
    /// The folder in which the tool looks for a manifest.
    let folder: URL

    /// Runs the tool until it ends, and exits with its status if that is not 0.
    ///
    /// - Parameter arguments: The words that the user wrote.
    /// - Throws: An error if the tool cannot be started.
    func callAsFunction(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                "SUBSTITUTE_MANIFESTS": manifests.joined(separator: "\n"), "SUBSTITUTE_VERB": verb,
                "SUBSTITUTE_PARENT": String(getpid()),
            ]
        ) { $1 }
        let manager = getppid()
        try process.run()
        // Control-C ends both the plugin and its package manager; a closed terminal ends only the package manager.
        while process.isRunning, getppid() == manager { usleep(50_000) }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        // The tool has already reported what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// The manifests in the folders among the targets' resources, as paths from the current folder.
    private var manifests: [String] {
        let here = folder.path + "/"
        return resources.map { $0.appendingPathComponent("manifest.json").path }
            .filter { FileManager.default.fileExists(atPath: $0) }
            .map { $0.hasPrefix(here) ? String($0.dropFirst(here.count)) : $0 }
    }
}

extension ToolRun {
    /// Prepares a run for `swift package`, in the user's current folder.
    init(_ context: PluginContext, verb: String) throws {
        let modules = context.package.targets.compactMap { $0.sourceModule }.filter { $0.kind != .test }
        self.init(
            tool: try context.tool(named: "substitute").url,
            verb: verb,
            resources: modules.flatMap(\.sourceFiles).filter { $0.type == .resource }.map(\.url),
            folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        )
    }
}

// Only Xcode has this module, for projects.
#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension ToolRun {
    /// Prepares a run that was started from Xcode's menu; it runs in the project's folder.
    init(_ context: XcodePluginContext, verb: String) throws {
        self.init(
            tool: try context.tool(named: "substitute").url,
            verb: verb,
            resources: context.xcodeProject.targets.flatMap(\.inputFiles).map(\.url),
            folder: context.xcodeProject.directoryURL
        )
    }

    /// Runs the tool with the words that the user wrote into Xcode's sheet.
    ///
    /// - Parameters:
    ///   - arguments: These words, and `--target NAME` for each target that is ticked in the sheet.
    ///   - usual: The words to use if the user wrote none.
    /// - Throws: An error if the tool cannot be started.
    func callAsFunction(inXcode arguments: [String], usual: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        _ = extractor.extractOption(named: "target")
        try self(extractor.remainingArguments.isEmpty ? usual : extractor.remainingArguments)
    }
}
#endif
