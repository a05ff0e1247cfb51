import Foundation
import PackagePlugin

extension PluginContext {
    /// Runs the tool in the folder in which the person stands, as an installed one would.
    ///
    /// - Parameters:
    ///   - arguments: What the person wrote.
    ///   - verb: What the person wrote before, after `swift package`.
    /// - Throws: What keeps the tool from being started.
    func runTool(_ arguments: [String], as verb: String) throws {
        let process = Process()
        process.executableURL = try tool(named: "substitute").url
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                "SUBSTITUTE_MANIFESTS": manifests.joined(separator: "\n"), "SUBSTITUTE_VERB": verb,
                "SUBSTITUTE_PARENT": String(getpid()),
            ]
        ) { $1 }
        let manager = getppid()
        try process.run()
        // A package manager that ends takes its plugins along only after Control-C.
        while process.isRunning, getppid() == manager { usleep(50_000) }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        // The tool has said what is wrong.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// The manifests in the folders that the package's targets ship, seen from the current folder.
    private var manifests: [String] {
        let here = FileManager.default.currentDirectoryPath + "/"
        let modules = package.targets.compactMap { $0.sourceModule }.filter { $0.kind != .test }
        let folders = modules.flatMap(\.sourceFiles).filter { $0.type == .resource }.map(\.url)
        return folders.map { $0.appendingPathComponent("manifest.json").path }
            .filter { FileManager.default.fileExists(atPath: $0) }
            .map { $0.hasPrefix(here) ? String($0.dropFirst(here.count)) : $0 }
    }
}
