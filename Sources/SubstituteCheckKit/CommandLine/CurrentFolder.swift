package import Foundation
import LocalSubstitutionCache

/// The folder that the paths of a command line are relative to.
package struct CurrentFolder: Sendable {
    /// Its path; empty when somebody has removed it.
    package let path: String

    /// The place of a path that a person wrote, as it was written.
    ///
    /// A "~" at its beginning is a name: shells have replaced those that stand for a home, and Foundation would do it
    /// again.
    package func url(_ written: String) -> URL { URL(fileURLWithPath: absolute(written)) }

    /// The same without "." and "..".
    package func place(of written: String) -> URL { url(written).standardizedFileURL }

    /// The path from the root.
    func absolute(_ written: String) -> String {
        written.hasPrefix("/") || path.isEmpty ? written : path.hasSuffix("/") ? path + written : "\(path)/\(written)"
    }

    /// What lies at a path, a link as such; nil when nothing does.
    package func kind(of written: String) -> FileAttributeType? { FileSystem.kind(of: absolute(written)) }

    /// What lies at a path, or where its link leads; nil when nothing does.
    package func targetKind(of written: String) -> FileAttributeType? {
        FileSystem.kind(of: url(written).resolvingSymlinksInPath().path)
    }

    /// The names in a folder; empty when there is none.
    package func names(in written: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: absolute(written))) ?? []
    }

    /// The bytes of a file that a person named.
    ///
    /// - Throws: ``ToolError`` when it cannot be read, or is none: a pipe may never end.
    package func contents(of written: String) throws(ToolError) -> Data {
        let kind = targetKind(of: written)
        guard kind == nil || kind == .typeRegular || kind == .typeDirectory else {
            throw ToolError("\(quoted(written)) is no plain file; name one, or \"-\" for standard input")
        }
        do {
            return try Data(contentsOf: url(written))
        } catch {
            throw ToolError("\(quoted(written)) cannot be read: \(FileSystem.reason(error))")
        }
    }
}
