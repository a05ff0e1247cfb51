package import Foundation
package import LocalSubstitutionCache

extension Substitution {
    /// Returns the first bytes of the file as it is now; nil if it cannot be read, or is no longer a file.
    package func bytes(upTo count: Int) -> Data? { try? contents(upTo: count) }

    /// Returns the first bytes of the file as it is now.
    package func contents(upTo count: Int) throws(FileProblem) -> Data {
        try OpenedFile(foundFile.realPath.text).part(0..<count)
    }

    /// Returns the file's bytes as they are now, or only those in a range.
    ///
    /// The file is opened only if it lies in `folder`. The result is nil if the file cannot be read, or is no longer a
    /// regular file.
    package func data(in folder: URL, _ range: Range<Int>? = nil) -> Data? {
        guard let opened = try? OpenedFolder(folder.path), let file = try? opened.file(foundFile) else { return nil }
        return try? file.part(range ?? 0..<file.size)
    }
}
