// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// A judge of the commands that the tool advises.
///
/// Each is run in a copy of the folder, while the test's server runs. `RUN_ADVICE` turns it on, as in `.ci/long`. The
/// commands of `explain`, which asks no server, may also end with the server's answer, and so may those about a server
/// that sets a cookie. Of a server that no test has, only the line can be judged.
enum Advice {
    static let isJudged = ProcessInfo.processInfo.environment["RUN_ADVICE"] != nil

    /// Runs each command that a result advises, and records an issue for one that is wrong or changes nothing.
    static func judge(_ result: Program.Result, of words: [String], in folder: URL) async throws {
        let pages = words.filter { $0.hasSuffix(".html") }.map { folder.appendingPathComponent($0) }
        let folders = words.map { folder.appendingPathComponent("\($0)/index.html") }
        let reports = (pages + folders).compactMap { try? String(contentsOf: $0, encoding: .utf8) }
        let text = ([result.output + result.errors] + reports).joined(separator: "\n")
        for command in Set(text.matches(of: advised).map { String($0.1 ?? $0.2 ?? "") }) {
            let copy = try TemporaryFolder()
            let place = copy.url.appendingPathComponent("copy")
            try FileManager.default.copyItem(at: folder, to: place)
            let before = try SiteFolder.listing(of: place)
            let line = command.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
            let environment = ["PATH": "\(Tool.url.deletingLastPathComponent().path):/usr/bin:/bin"]
            let answer = try await Program.run("/bin/sh", ["-c", line], in: place, environment: environment)
            // This line says what the command itself does.
            if text.contains("substitute.json: \(line)") { continue }
            // Only servers of the test can answer.
            let isLocal = line.contains("://127.0.0.1:") || line.contains("://localhost:")
            #expect(answer.status != 2, "\(words) advises: \(line)\n\(answer)")
            let answers = ["its server sets a cookie"] + (words.first == "explain" ? ["\" was not loaded: "] : [])
            if !isLocal || answers.contains(where: answer.errors.contains) { continue }
            let isChanged = try SiteFolder.listing(of: place) != before
            #expect(answer.status == 0 && isChanged, "\(words) advises: \(line)\n\(answer)")
        }
    }

    /// A command at the end of a line, after the words that advise it, and one in a JSON object.
    nonisolated(unsafe) private static let advised =
        /(?:: |^ +)(substitute (?:add|update) [^\n]*?)(?:","|$)|"command":"(substitute .*?[^\\])"/
        .anchorsMatchLineEndings()
}
#endif
