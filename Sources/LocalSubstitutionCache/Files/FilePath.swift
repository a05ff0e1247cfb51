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
        guard let resolved = realpath(path, nil) else { throw FileProblem(errno: errno) }
        defer { free(resolved) }
        text = String(cString: resolved)
    }

    /// Asks the system where an open directory lies now.
    ///
    /// Unlike the path with which the directory was opened, the answer cannot be exchanged meanwhile. It is checked,
    /// because it can be ambiguous: on Linux, the answer for a deleted directory ends in " (deleted)", which may also
    /// be the name of another directory, and the answer for a directory in another mount namespace may be the path of a
    /// different directory in this one.
    ///
    /// - Throws: ``FileProblem`` if the system cannot say it, or if its answer is not the path of this directory.
    init(ofOpen descriptor: Int32) throws(FileProblem) {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        // Apple's systems have no /proc, and Linux has no F_GETPATH.
        #if canImport(Darwin)
        let isKnown = fcntl(descriptor, F_GETPATH, &path) == 0
        #else
        let isKnown = readlink("/proc/self/fd/\(descriptor)", &path, path.count - 1) >= 0
        #endif
        guard isKnown else {
            throw errno == ENOENT
                ? .unreadable("the system cannot say where it lies; on Linux, /proc must be mounted")
                : FileProblem(errno: errno)
        }
        var (own, found) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, lstat(path, &found) == 0 else {
            throw errno == ENOENT ? .replaced : FileProblem(errno: errno)
        }
        guard own.st_dev == found.st_dev, own.st_ino == found.st_ino else { throw .replaced }
        let bytes = path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        guard bytes.firstInvalidUTF8() == nil else { throw .unreadable("its path is not UTF-8") }
        text = String(decoding: bytes, as: UTF8.self)
    }

    @inline(never) package static func == (first: Self, second: Self) -> Bool {
        // `elementsEqual` takes many times longer for paths.
        first.text.utf8.count == second.text.utf8.count && memcmp(first.text, second.text, first.text.utf8.count) == 0
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

    /// Returns the path of an item in the directory at this path.
    func appending(_ name: String) -> FilePath { FilePath((text == "/" ? "" : text) + "/" + name) }

    /// Splits a path after its last "/"; the directory is empty if there is none.
    static func split(_ path: String) -> (directory: String, name: String) {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        return (String(path[..<start]), String(path[start...]))
    }
}
