// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Output replaces only what the tool wrote")
struct OutputFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("{ \"https://h/a.css\": \"a.css\" }", to: "Substitutions/manifest.json")
        try folder.write("a { }", to: "Substitutions/a.css")
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: folder.url.appendingPathComponent(path)) }

    private static let commands = [["init", "--schema", "-o", "out"], ["preview", "-o", "out"]]

    @Test("A file of the user's own, or one that was edited, is kept", arguments: commands)
    func own(words: [String]) async throws {
        try folder.write("mine", to: "out")
        let refused = await Tool.run(words, in: folder.url)
        #expect(refused.status == 1 && refused.errors.contains("was not written by this tool, or was edited since"))
        #expect(try bytes("out") == Data("mine".utf8))
        try folder.write("", to: "out")
        for _ in 0..<2 { #expect(await Tool.run(words, in: folder.url).status == 0) }
        let written = try bytes("out")
        for edit in [Data("<!-- mine -->".utf8) + written, written + Data("mine".utf8)] {
            try folder.write(edit, to: "out")
            #expect(await Tool.run(words, in: folder.url).status == 1)
            #expect(try bytes("out") == edit)
        }
        // What a shell wrote is the same.
        let printed = await Tool.run(words.dropLast(2), in: folder.url)
        try folder.write(printed.output, to: "out")
        #expect(await Tool.run(words, in: folder.url).status == 0)
        #expect(await Tool.run(words.dropLast() + ["/dev/null"], in: folder.url).status == 0)
    }

    @Test("An edit in an extension's folder is not lost")
    func webExtension() async throws {
        let words = ["extension", "-o", "Out"]
        for _ in 0..<2 { #expect(await Tool.run(words, in: folder.url).status == 0) }
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.appendingPathComponent("Out").path)
        let copy = try #require(names.first { $0.hasSuffix("a.css") })
        try folder.write("a { edited: here }", to: "Out/\(copy)")
        let refused = await Tool.run(words, in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains("or it was edited since"), "\(refused)")
        #expect(try bytes("Out/\(copy)") == Data("a { edited: here }".utf8))
    }
}
#endif
