package import Foundation

/// A folder that is removed when the test ends.
public final class TemporaryFolder: Sendable {
    package let url: URL

    /// A folder for what all tests share, or leave behind; it is removed when the process ends.
    package static let ofProcess: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: TemporaryFolder.ofProcess) }
        return url
    }()

    /// Creates the folder; use a short name if the path of a socket will include the name.
    package init(name: String = UUID().uuidString) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A program that is ending may remove a file at the same time. Foundation then stops with an error, so try
        // again.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: url.path) {
            try? FileManager.default.removeItem(at: url)
        }
    }

    /// Writes a file, and creates its parent folders.
    package func write(_ text: String, to path: String) throws { try write(Data(text.utf8), to: path) }

    /// Writes a file, and creates its parent folders.
    package func write(_ data: Data, to path: String) throws {
        let file = url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Returns an environment in which programs put their temporary files into this folder.
    ///
    /// Some programs leave temporary files behind.
    ///
    /// - Parameter variables: Further variables.
    /// - Returns: The variables, keyed by name.
    /// - Throws: An error if the folder for temporary files cannot be created.
    package func environment(_ variables: [String: String] = [:]) throws -> [String: String] {
        // The name is short because it becomes part of socket paths.
        let temporary = url.appendingPathComponent("t")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        return ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.path]) { $1 }.merging(variables) { $1 }
    }
}
