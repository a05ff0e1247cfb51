package import Foundation
package import Testing

/// The files that the tests belong to.
package enum Repository {
    /// The folder of the package, also where a link leads here.
    package static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Compares `text` with a checked-in file below `Tests`, or writes it anew when `UPDATE_GOLDEN_FILES` is set in the
    /// environment.
    ///
    /// - Throws: What keeps the file from being written.
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
