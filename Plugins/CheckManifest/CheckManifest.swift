import Foundation
import PackagePlugin

/// Checks the manifest among a target's resources, in the first build after each change.
///
/// The change may be in the manifest or in its files. The plugin only finds the files; `substitute-check` checks them
/// as the app does when it is launched. If there is no manifest, the plugin warns, and the build of a package's target
/// fails; in an Xcode project, the plugin only warns. Without the failure or the warning, users would trust a check
/// that checks nothing.
@main
struct CheckManifest: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let module = target.sourceModule else { return [] }
        let resources = module.sourceFiles.filter { $0.type == .resource }.map(\.url)
        let tool = try context.tool(named: "substitute-check").url
        // A command's output becomes part of the target. In a Swift target, the stamp is an empty source file, which
        // adds nothing to the app.
        let stamp = module is SwiftSourceModuleTarget ? "swift" : "checked"
        let folder = context.pluginWorkDirectoryURL
        if let problem = Self.problem(with: resources, of: target) {
            return [Self.failure(problem, tool: tool, stamp: folder.appendingPathComponent("NothingChecked.\(stamp)"))]
        }
        return Self.commands(for: resources, tool: tool, workFolder: folder, stampExtension: stamp)
    }

    /// Returns a command that fails with a message.
    ///
    /// An error thrown by the plugin would stop everything that the package manager does, even `substitute init`.
    private static func failure(_ problem: String, tool: URL, stamp: URL) -> Command {
        Diagnostics.warning(problem)
        return .buildCommand(
            displayName: "Looking for a manifest",
            executable: tool,
            arguments: ["--problem", problem],
            inputFiles: [],
            outputFiles: [stamp]
        )
    }

    /// Returns the reason why an app would find no manifest among the target's resources; nil if the app would find
    /// one.
    private static func problem(with resources: [URL], of target: any Target) -> String? {
        let remedy = "declare it with resources: [.copy(\"Substitutions\")]"
        if let flattened = resources.first(where: { isManifest($0) && isSubstitutions($0.deletingLastPathComponent()) })
        {
            return
                "\(flattened.deletingLastPathComponent().path) is flattened when it is copied, so an app does not find "
                + "the manifest in it; \(remedy), not with .process"
        }
        if !manifests(among: resources).isEmpty { return nil }
        if let folder = resources.first(where: isSubstitutions) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []
            let found = names.first {
                $0.lowercased().hasPrefix("manifest") && $0.lowercased() != "manifest.schema.json"
            }
            return "\(folder.path) has no manifest.json"
                + (found.map { "; rename \($0)" } ?? "; swift package substitute-edit init creates one")
        }
        let folder = target.directoryURL.appendingPathComponent("Substitutions")
        if isFile(folder.appendingPathComponent("manifest.json").path) {
            return "\(folder.path) is not shipped by the target \(target.name); \(remedy)"
        }
        return "the target \(target.name) ships no folder with a manifest.json, so there is nothing to check; create "
            + "\(folder.path) (swift package substitute-edit init does it), and \(remedy)"
    }

    /// Returns a check of each manifest that is a resource, or that is in a folder that is a resource.
    fileprivate static func commands(
        for resources: [URL],
        tool: URL,
        workFolder: URL,
        stampExtension: String
    ) -> [Command] {
        manifests(among: resources).enumerated().map { number, manifest in
            let stamp = workFolder.appendingPathComponent("CheckedManifest\(number).\(stampExtension)")
            return .buildCommand(
                displayName:
                    "Checking \(manifest.lastPathComponent) of \(manifest.deletingLastPathComponent().lastPathComponent)",
                executable: tool,
                arguments: [manifest.path, stamp.path],
                inputFiles: contents(of: manifest.deletingLastPathComponent()),
                outputFiles: [stamp]
            )
        }
    }

    fileprivate static func manifests(among resources: [URL]) -> [URL] {
        let found = resources.flatMap { [$0, $0.appendingPathComponent("manifest.json")] }.filter {
            isManifest($0) && isFile($0.path)
        }
        // Another folder, such as that of a web app, may have a manifest.json of its own.
        let named = found.filter { isSubstitutions($0.deletingLastPathComponent()) }
        return named.isEmpty ? found : named
    }

    private static func isManifest(_ file: URL) -> Bool { file.lastPathComponent == "manifest.json" }

    /// True if a folder has the name that apps look for, or nearly that name.
    private static func isSubstitutions(_ folder: URL) -> Bool {
        ["substitutions", "substitution"].contains(folder.lastPathComponent.lowercased())
    }

    private static func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// Returns every file below a folder, and the folder itself, which changes if files are added or removed.
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
        let tool = try context.tool(named: "substitute-check").url
        let folder = context.pluginWorkDirectoryURL
        // It is not documented whether plugins see the folders that Xcode copies whole. The build continues, because
        // the target may have a manifest that the plugin does not find.
        if Self.manifests(among: resources).isEmpty {
            Diagnostics.warning(
                "Xcode reports no manifest.json in the target \(target.displayName), so nothing was checked; add the "
                    + "folder Substitutions to it, and untick \"Build Folder Contents\" in the folder's File inspector. "
                    + "If you have done that, check it with SubstituteCommand in the project's menu"
            )
            return []
        }
        return Self.commands(for: resources, tool: tool, workFolder: folder, stampExtension: "swift")
    }
}
#endif
