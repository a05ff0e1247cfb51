// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstituteCheckKit

@Suite("Rules for the content of files")
struct ContentRulesTests {
    @Test("All mistakes of a file are told, and one that is something else has one message")
    func allMistakes() async throws {
        let folder = try TemporaryFolder()
        let key = "AKIA" + String(repeating: "A1", count: 8)
        try folder.write("{\n  \"a\": 1,\n  \"a\": \"\(key)\"\n}\n", to: "a.json")
        try folder.write("<!doctype html><p>\(key)<?php ?>", to: "b.html")
        try folder.write("<!doctype html><p>\(key)", to: "c.png")
        let entries = #""https://h/a": "a.json", "https://h/b": "b.html", "https://h/c": "c.png""#
        try folder.write("{ \(entries) }", to: "manifest.json")
        let result = await Tool.run(["check", "--format", "json"], in: folder.url)
        let codes = result.output.matches(of: /"code":"([a-z-]+)"/).map { String($0.1) }
        let expected = ["published-key", "repeated-name", "php-source", "published-key", "wrong-format"]
        #expect(codes == expected, "\(result)")
    }

    @Test("A key is found in each kind of text, unless it is an example")
    func keys() throws {
        let key = "ghp_" + String(repeating: "a", count: 36)
        for name in ["a.css", "a.js", "a.json", "a.html", "a.txt", "a.xml"] {
            let type = try #require(MediaType(fileName: name))
            let remarks = ContentRules.remarks(on: Data("\n\(key)\n".utf8), named: name, as: type)
            #expect(remarks.contains { $0.hasPrefix("has a key (\"ghp_\") in line 2") }, "\(name): \(remarks)")
            let example = "ghp_example" + String(repeating: "a", count: 36)
            let others = ContentRules.remarks(on: Data("\(example)\n".utf8), named: name, as: type)
            #expect(!others.contains { $0.hasPrefix("has a key") }, "\(name)")
        }
    }

    private static let unused = #" has the warning "repeated-name"; remove this path"#
    private static let table: [(text: String, sentences: [String], isTold: Bool)] = [
        (#"{ "ignore": { "repeated-name": ["data/*"] } }"#, [], false),
        (#"{ "ignore": { "repeated-name": ["*.json"] }, "pages": ["https://h/"] }"#, [], false),
        (
            #"{ "ignore": { "repeated-name": ["data/[a].json"] } }"#,
            [#"1:33: warning: no file at "data/[a].json"\#(unused)"#], true
        ),
        (
            "{\n  \"ignore\": { \"repeated-names\": [\"*\"] }\n}",
            [#"2:15: warning: "repeated-names" is no code of a warning about the content of a file; did you mean "#],
            true
        ),
        (#"{ "ignore": ["repeated-name"] }"#, ["1:3: warning: write lists of paths, such as "], true),
        (#"{ "ignore": { "repeated-name": [1] } }"#, ["1:3: warning: write lists of paths"], true),
        (#"{ "ignore": { }, }"#, ["1:16: warning: there is a comma"], true),
    ]

    @Test("A folder silences one code for its paths, and hears of what it silences in vain", arguments: table)
    func ignored(text: String, sentences: [String], isTold: Bool) async throws {
        let folder = try TemporaryFolder()
        try folder.write("{ \"a\": 1, \"a\": 2 }", to: "Substitutions/data/a.json")
        try folder.write("{ \"https://h/\": \"data/\" }", to: "Substitutions/manifest.json")
        try folder.write(text, to: "Substitutions/substitute.json")
        let result = await Tool.run(["check"], in: folder.url)
        #expect(result.output.contains("has \"a\" in line 1 a second time") == isTold, "\(result)")
        for sentence in sentences {
            #expect(("\n" + result.output).contains("\nSubstitutions/substitute.json:\(sentence)"), "\(result)")
        }
        let count = sentences.count + (isTold ? 1 : 0)
        #expect(result.output.hasSuffix("no errors, \(["no warnings", "1 warning", "2 warnings"][count])\n"))
        // A build checks in the same way.
        let manifest = folder.url.appendingPathComponent("Substitutions/manifest.json").path
        let issues = ManifestCheck(try Tool.manifest(manifest), on: Date()).issues
        #expect(issues.count == count, "\(issues)")
    }

    // MARK: - Damaged files

    /// The names of files, and bytes with which they may begin.
    private static let beginnings: [(name: String, bytes: [UInt8])] = [
        ("a.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D] + Array("IHDR".utf8)),
        ("a.jpg", [0xFF, 0xD8, 0xFF, 0xC0]),
        ("b.jpg", [0xFF, 0xD8, 0xFF, 0xE1, 0, 0x30] + Array("Exif\0\0II*\0".utf8)),
        ("a.gif", Array("GIF89a".utf8)), ("a.webp", Array("RIFF".utf8)), ("a.bmp", Array("BM".utf8)),
        ("a.woff2", Array("wOF2".utf8)), ("a.woff", Array("wOFF".utf8)), ("a.ttf", [0, 1, 0, 0]),
        ("a.mp4", [0, 0, 0, 0x10] + Array("ftypisom".utf8)), ("b.mp4", [0, 0, 0, 1] + Array("mdat".utf8)),
        ("a.avif", [0, 0, 0, 0x10] + Array("ftypavif".utf8)), ("a.webm", [0x1A, 0x45, 0xDF, 0xA3]),
        ("a.wav", Array("RIFF".utf8)), ("a.pdf", Array("%PDF-1.4".utf8)), ("a.zip", [0x50, 0x4B, 3, 4]),
        ("a.ico", [0, 0, 1, 0]), ("a.mp3", Array("ID3".utf8)), ("a.ogg", Array("OggS".utf8)),
        ("a.wasm", Array("\0asm".utf8)), ("a.gz", [0x1F, 0x8B]), ("a.bin", []),
    ]

    @Test("No bytes after the beginning of a format end the check", arguments: beginnings)
    func anyBytes(name: String, bytes: [UInt8]) {
        let type = MediaType(fileName: name) ?? MediaType(essence: "application/octet-stream")
        func check(_ rest: [UInt8]) { _ = ContentRules.remarks(on: Data(bytes + rest), named: name, as: type) }
        for byte in [0, 1, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] {
            for count in [0, 1, 7, 8, 20, 300] { check([UInt8](repeating: byte, count: count)) }
        }
        var generator = Numbers(state: 1)
        for _ in 0..<60 {
            // Many fields are lengths, so most bytes are extreme.
            check(
                (0..<64).map { _ in
                    [0, 0xFF, .random(in: 0...UInt8.max, using: &generator)].randomElement(using: &generator) ?? 0
                }
            )
        }
    }
}
#endif
