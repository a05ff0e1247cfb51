// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The part of Xcode's module XcodeProjectPlugin that the plugins use. With these declarations, the plugins' Xcode code
// is typechecked on machines without Xcode. The code does not run. The declarations follow the interface of Xcode 14
// (https://gist.github.com/ikesyo/f152bf8ee60b1c9bff2e757b01a95fa9), but paths are URLs, as in PackagePlugin since
// Swift 6.0.
public import Foundation
public import PackagePlugin

public struct XcodeProject {
    public let displayName: String
    public let directoryURL: URL
    public let targets: [XcodeTarget]
}

public struct XcodeTarget {
    public let displayName: String
    public let inputFiles: FileList
}

public struct XcodePluginContext {
    public let xcodeProject: XcodeProject
    public let pluginWorkDirectoryURL: URL

    public func tool(named name: String) throws -> PluginContext.Tool { throw CocoaError(.featureUnsupported) }
}

public protocol XcodeCommandPlugin: Plugin {
    func performCommand(context: XcodePluginContext, arguments: [String]) throws
}

public protocol XcodeBuildToolPlugin: Plugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command]
}
