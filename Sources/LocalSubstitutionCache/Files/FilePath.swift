import Foundation

/// A path or name that is compared byte for byte.
///
/// Swift compares strings by canonical equivalence: "é" as one scalar and "é" as two scalars are equal. On disk they
/// may be the names of two files.
package struct FilePath: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Resolves `path` to an absolute path without symbolic links.
    ///
    /// - Throws: ``FileProblem`` if nothing exists at the path, or if symbolic links in it form a loop.
    package init(resolving path: String) throws(FileProblem) {
        guard let resolved = realpath(path, nil) else {
            let link = path.split(separator: "/").last.map(String.init) ?? path
            throw errno == ELOOP ? .endless(link: link) : FileProblem(errno: errno)
        }
        defer { free(resolved) }
        text = String(cString: resolved)
    }

    package static func == (first: Self, second: Self) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Returns whether this path is `folder` or lies below it.
    ///
    /// Both paths must be absolute, without symbolic links.
    package func isInside(_ folder: FilePath) -> Bool {
        guard text.utf8.starts(with: folder.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(folder.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") || folder.text == "/"
    }
}
