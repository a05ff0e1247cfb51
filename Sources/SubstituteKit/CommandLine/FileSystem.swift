import Foundation
import LocalSubstitutionCache

/// What Foundation says of files, in fewer words.
enum FileSystem {
    /// What lies at a path, a link as such; nil when nothing does.
    static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// The place of a path that a person wrote, without "." and "..".
    ///
    /// A "~" at its beginning is a name: shells have replaced those that stand for a home, and Foundation would do it
    /// again.
    static func place(of path: String) -> URL {
        URL(fileURLWithPath: path.hasPrefix("~") ? "./\(path)" : path).standardizedFileURL
    }

    /// The bytes of a file that a person named.
    ///
    /// - Throws: ``ToolError`` when it cannot be read, or is none: a pipe may never end.
    static func contents(of path: String) throws(ToolError) -> Data {
        let kind = kind(of: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        guard kind == nil || kind == .typeRegular || kind == .typeDirectory else {
            throw ToolError("\(quoted(path)) is no plain file; name one, or \"-\" for standard input")
        }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError("\(quoted(path)) cannot be read: \(reason(error))")
        }
    }

    /// What the system says of an error.
    static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return underlying.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(underlying.code))) : error.localizedDescription
    }
}
