import Foundation
import PackagePlugin

/// The reason why the tool cannot be run.
struct ToolError: Error, CustomStringConvertible {
    let description: String
}

/// One run of the tool, from a terminal or from Xcode.
struct ToolRun {
    /// The tool's executable.
    let tool: URL
    /// The command plugin's verb, as the user writes it after `swift package`.
    let verb: String
    /// The targets' resources: files, and folders that are copied whole.
    let resources: [URL]
    /// The folder in which the tool looks for a manifest.
    let folder: URL

    /// Runs the tool until it ends; if the tool's status is not 0, exits with this status.
    ///
    /// - Parameter arguments: The tool's arguments.
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
        // Control-C ends the package manager and the plugin, and the tool then ends itself. If the terminal is closed,
        // only the package manager ends. The plugin then terminates the tool.
        while process.isRunning, getppid() == manager { usleep(50_000) }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        // The tool has already reported what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// The paths of the manifests in the targets' resource folders.
    ///
    /// The path of a manifest below `folder` is relative to `folder`.
    private var manifests: [String] {
        let here = folder.path + "/"
        return resources.map { $0.appendingPathComponent("manifest.json").path }
            .filter { FileManager.default.fileExists(atPath: $0) }
            .map { $0.hasPrefix(here) ? String($0.dropFirst(here.count)) : $0 }
    }
}

extension ToolRun {
    /// Builds the tool, and returns its executable.
    ///
    /// If the plugins depended on the tool, each build of this package would compile it a second time.
    private static func built(by packageManager: PackageManager) throws -> URL {
        let build = try packageManager.build(
            .product("substitute"),
            parameters: .init(configuration: .inherit, logging: .concise, echoLogs: true)
        )
        guard build.succeeded, let tool = build.builtArtifacts.first(where: { $0.kind == .executable }) else {
            throw ToolError(description: "the tool could not be built; the errors are above")
        }
        return tool.url
    }

    /// Prepares a run in the user's current folder, for `swift package`.
    init(_ context: PluginContext, _ packageManager: PackageManager, verb: String) throws {
        let modules = context.package.targets.compactMap { $0.sourceModule }.filter { $0.kind != .test }
        self.init(
            tool: try Self.built(by: packageManager),
            verb: verb,
            resources: modules.flatMap(\.sourceFiles).filter { $0.type == .resource }.map(\.url),
            folder: URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        )
    }
}

// Only Xcode has this module. It is for plugins that run on Xcode projects.
#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension ToolRun {
    /// Returns the tool that is installed, because Xcode builds nothing for a plugin.
    private static func installed() throws -> URL {
        let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".swiftpm/bin").path
        let places = [home, "/opt/homebrew/bin", "/usr/local/bin"].map { $0 + "/substitute" }
        guard let tool = places.first(where: FileManager.default.isExecutableFile) else {
            throw ToolError(
                description: "install the tool first: there is no \(places.joined(separator: ", nor ")); the guide for "
                    + "designers says how"
            )
        }
        return URL(fileURLWithPath: tool)
    }

    /// Prepares a run in the project's folder, for a command in Xcode's menu.
    init(_ context: XcodePluginContext, verb: String) throws {
        self.init(
            tool: try Self.installed(),
            verb: verb,
            resources: context.xcodeProject.targets.flatMap(\.inputFiles).map(\.url),
            folder: context.xcodeProject.directoryURL
        )
    }

    /// Runs the tool with the arguments that the user entered in Xcode's sheet.
    ///
    /// - Parameters:
    ///   - arguments: The user's arguments, and `--target NAME` for each target that is ticked in the sheet.
    ///   - usual: The arguments to use if the user entered none.
    /// - Throws: An error if the tool cannot be started.
    func callAsFunction(inXcode arguments: [String], usual: [String]) throws {
        var extractor = ArgumentExtractor(arguments)
        _ = extractor.extractOption(named: "target")
        try self(extractor.remainingArguments.isEmpty ? usual : extractor.remainingArguments)
    }
}
#endif
