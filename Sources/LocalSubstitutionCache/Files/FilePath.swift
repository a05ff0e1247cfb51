import Foundation

/// A path or name as a file system tells them apart: byte for byte.
///
/// Swift's strings are equal when they are canonically equivalent, so "é" as one scalar and as two would be one key.
package struct FilePath: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The absolute path of what lies at `path`, without symbolic links.
    ///
    /// - Throws: ``FileProblem`` when nothing does.
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

    /// Whether this is `folder` or lies below it.
    ///
    /// Both are absolute, without symbolic links.
    package func isInside(_ folder: FilePath) -> Bool {
        guard text.utf8.starts(with: folder.text.utf8) else { return false }
        let rest = text.utf8.dropFirst(folder.text.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") || folder.text == "/"
    }
}
