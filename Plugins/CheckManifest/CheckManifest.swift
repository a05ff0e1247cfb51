import Foundation
import PackagePlugin

/// Checks the manifest among a target's resources on each build in which it or one of its files has changed.
///
/// It only finds files; `substitute check` does the rest.
@main
struct CheckManifest: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let resources = module.sourceFiles.filter { $0.type == .resource }.map(\.url)
        let tool = try context.tool(named: "substitute").url
        // What a command writes becomes part of the target. An empty source ships nothing, where Swift is compiled.
        let stamp = module is SwiftSourceModuleTarget ? "swift" : "checked"
        let folder = context.pluginWorkDirectoryURL
        return Self.commands(for: resources, tool: tool, workFolder: folder, stampExtension: stamp)
    }

    /// A check of each manifest that is a resource, or lies in a folder that is one.
    fileprivate static func commands(
        for resources: [URL],
        tool: URL,
        workFolder: URL,
        stampExtension: String
    ) -> [Command] {
        let manifests = resources.flatMap { resource in
            [resource, resource.appendingPathComponent("manifest.json")].filter {
                $0.lastPathComponent == "manifest.json"
            }
        }
        return manifests.filter { isFile($0.path) }.enumerated().map { number, manifest in
            let stamp = workFolder.appendingPathComponent("CheckedManifest\(number).\(stampExtension)")
            return .buildCommand(
                displayName:
                    "Checking \(manifest.lastPathComponent) of \(manifest.deletingLastPathComponent().lastPathComponent)",
                executable: tool,
                arguments: ["check", manifest.path, "--stamp", stamp.path],
                inputFiles: contents(of: manifest.deletingLastPathComponent()),
                outputFiles: [stamp]
            )
        }
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// The folder, whose change tells that files came or went, and every file below it.
    private static func contents(of folder: URL) -> [URL] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return [folder] + paths.map { folder.appendingPathComponent($0) }.filter { isFile($0.path) }
    }
}

// Only Xcode has this module, for targets of its projects.
#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension CheckManifest: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
        let resources = target.inputFiles.filter { $0.type == .resource || $0.type == .unknown }.map(\.url)
        let tool = try context.tool(named: "substitute").url
        let folder = context.pluginWorkDirectoryURL
        return Self.commands(for: resources, tool: tool, workFolder: folder, stampExtension: "swift")
    }
}
#endif
