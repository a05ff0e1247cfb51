package import Foundation
package import Testing

/// The repository that contains the tests.
package enum Repository {
    /// The package's folder, with symbolic links resolved.
    package static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Compares `text` with a checked-in file below `Tests`.
    ///
    /// If the environment variable `UPDATE_GOLDEN_FILES` is set, the file is overwritten with `text` first.
    ///
    /// - Throws: An error if the file cannot be written.
    package static func compare(
        _ text: String,
        withFixture path: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let golden = folder.appendingPathComponent("Tests/\(path)")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil { try Data(text.utf8).write(to: golden) }
        let expected = try? String(contentsOf: golden, encoding: .utf8)
        #expect(text == expected, "\(path) differs", sourceLocation: sourceLocation)
    }
}
