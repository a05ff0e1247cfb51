package import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The folder that the paths of a command line are relative to.
package struct CurrentFolder: Sendable {
    /// The folder's path; empty if the folder was removed.
    package let path: String

    /// Returns the URL of a path, exactly as the user wrote it.
    ///
    /// A "~" at the beginning of the path is part of a name, and is not replaced. A shell has already replaced every
    /// "~" that means a home folder.
    package func url(_ written: String) -> URL { URL(fileURLWithPath: absolute(written)) }

    /// Returns the URL of a path, without "." and "..".
    package func standardizedURL(of written: String) -> URL { url(written).standardizedFileURL }

    /// Returns the absolute form of a path.
    func absolute(_ written: String) -> String {
        written.hasPrefix("/") || path.isEmpty ? written : path.hasSuffix("/") ? path + written : "\(path)/\(written)"
    }

    /// Returns the type of the file or folder at a path, without following a link; nil if there is none.
    package func kind(of written: String) -> FileAttributeType? { FileSystem.kind(of: absolute(written)) }

    /// Returns the type of the file or folder at a path, after following a link; nil if there is none.
    package func targetKind(of written: String) -> FileAttributeType? {
        FileSystem.kind(of: url(written).resolvingSymlinksInPath().path)
    }

    /// True for `example.com/data.json`, but not for `Sources/App/manifest.json`.
    package func isServer(_ written: String) -> Bool {
        let server = written.prefix { $0 != "/" }
        return server.count < written.count && server.dropFirst().contains(".") && kind(of: String(server)) == nil
    }

    /// Returns the names in a folder; empty if there is no folder.
    package func names(in written: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: absolute(written))) ?? []
    }

    /// True for the folder of a package, a project or a repository; nothing above it belongs to the app.
    package func isTop(_ folder: URL) -> Bool {
        names(in: folder.path).contains { ["Package.swift", ".git"].contains($0) || $0.hasSuffix(".xcodeproj") }
    }

    /// Returns the path of a file that has nearly the name of a missing one in the same folder; nil if there is none.
    package func namesake(of written: String) -> String? {
        let url = url(written)
        let names = names(in: url.deletingLastPathComponent().path)
        let parent = written.lastIndex(of: "/").map { written[...$0] } ?? ""
        return suggestion(for: url.lastPathComponent, among: names).map { parent + $0 }
    }

    /// Returns the bytes of a file that the user named.
    ///
    /// - Throws: ``ToolError`` if the file cannot be read, or is not a plain file. A pipe, for example, may never end.
    package func contents(of written: String) throws(ToolError) -> Data {
        let kind = targetKind(of: written)
        guard kind == nil || kind == .typeRegular || kind == .typeDirectory else {
            throw ToolError("\(quoted(written)) is not a plain file; name one, or \"-\" for standard input")
        }
        do {
            return try FileSystem.contents(of: url(written))
        } catch {
            throw ToolError("\(quoted(written)) cannot be read: \(FileSystem.reason(error))")
        }
    }
}

extension URL {
    /// This folder and all folders above it; the last is the root.
    package var withFoldersAbove: [URL] {
        Array(sequence(first: self) { $0.path == "/" ? nil : $0.deletingLastPathComponent() })
    }
}
