package import Foundation

/// A folder that is removed when the test ends.
public final class TemporaryFolder: Sendable {
    package let url: URL

    /// Makes it; a short name is for paths that become part of a socket's.
    package init(name: String = UUID().uuidString) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A program that ends meanwhile may remove a file itself, which Foundation takes for a failure.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: url.path) {
            try? FileManager.default.removeItem(at: url)
        }
    }

    /// Writes a file, and the folders on the way to it.
    package func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a file, and the folders on the way to it.
    package func write(_ data: Data, to path: String) throws {
        let file = url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// An environment in which programs put their temporary files into this folder; some leave them behind.
    ///
    /// - Parameter variables: Further variables.
    /// - Returns: The variables by their names.
    /// - Throws: What keeps the folder for them from being made.
    package func environment(_ variables: [String: String] = [:]) throws -> [String: String] {
        // Short, as it becomes part of the paths of sockets.
        let temporary = url.appendingPathComponent("t")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        return ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.path]) { $1 }.merging(variables) { $1 }
    }
}
