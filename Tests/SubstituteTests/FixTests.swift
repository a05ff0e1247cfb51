// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("check --fix")
struct FixTests {
    /// The manifests of the mistakes that designers make.
    private static func manifests() throws -> [String] {
        try ["Mistakes", "FreshMistakes", "MoreMistakes", "StrangersMistakes"].flatMap { name in
            let file = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/\(name).md")
            return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n```json\n").dropFirst()
                .map { $0.components(separatedBy: "\n```")[0] }
        }
    }

    private static func text(_ name: String, in folder: TemporaryFolder) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("What was repaired has no such error any more, and what was not repaired keeps each byte")
    func golden() async throws {
        let folder = try TemporaryFolder()
        for name in ["img/logo.png", "img/header.png", "icons/ferry.svg", "css/site.css"] {
            try folder.write("x", to: name)
        }
        let (file, kept) = (folder.url.appendingPathComponent("manifest.json"), ".manifest.json.old")
        var fixed = 0
        for text in try Self.manifests() {
            try Data(text.utf8).write(to: file)
            let before = await Tool.run(["check", "--format", "json"], in: folder.url)
            let result = await Tool.run(["check", "--fix", "--format", "json"], in: folder.url)
            let after = try String(contentsOf: file, encoding: .utf8)
            guard FileManager.default.fileExists(atPath: folder.url.appendingPathComponent(kept).path) else {
                #expect(after == text)
                #expect(result.status == before.status)
                continue
            }
            fixed += 1
            #expect(try Self.text(kept, in: folder) == text)
            #expect(after != text)
            #expect(!result.output.contains("\"code\":\"syntax\""), "\(text)\n\(result.output)")
            let again = await Tool.run(["check", "--fix"], in: folder.url)
            #expect(again.status == result.status)
            #expect(try String(contentsOf: file, encoding: .utf8) == after)
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent(kept))
        }
        #expect(fixed > 20)
    }

    @Test("Each repair is a line; the old text is kept, and the status is that of the repaired manifest")
    func lines() async throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "img/logo.css")
        let text = "{\n  // The logo.\n  'https://example.com/a.css': \"img/Logo.css\",\n}\n"
        try folder.write(text, to: "manifest.json")
        let result = await Tool.run(["check", "--fix"], in: folder.url)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(
            try Self.text("manifest.json", in: folder)
                == "{\n  \"https://example.com/a.css\": \"img/logo.css\"\n}\n"
        )
        #expect(result.output.contains("manifest.json:2:32: fixed: \"img/Logo.css\" → \"img/logo.css\""))
        #expect(result.output.components(separatedBy: " fixed: ").count == 5, "\(result.output)")
        #expect(try Self.text(".manifest.json.old", in: folder) == text)
    }

    @Test("Standard input cannot be repaired")
    func standardInput() async throws {
        #expect(await Tool.run(["check", "--fix", "-"], input: Data("{}".utf8)).status == 2)
    }
}
#endif
