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
        try folder.write(
            "{ \"https://h/a\": \"a.json\", \"https://h/b\": \"b.html\", \"https://h/c\": \"c.png\" }",
            to: "manifest.json"
        )
        let result = await Tool.run(["check", "--format", "json"], in: folder.url)
        let codes = result.output.matches(of: /"code":"([a-z-]+)"/).map { String($0.1) }
        #expect(
            codes == ["published-key", "repeated-name", "php-source", "published-key", "wrong-format"],
            "\(result)"
        )
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

    @Test(
        "A folder silences one code for its paths, and hears of what it silences in vain",
        arguments: [
            (#"{ "ignore": { "repeated-name": ["data/a.json"] } }"#, [], false),
            (#"{ "ignore": { "repeated-name": ["data/*"] } }"#, [], false),
            (
                #"{ "ignore": { "repeated-name": ["data/[a].json"] } }"#,
                [#"1:33: warning: no file at "data/[a].json" has the warning "repeated-name"; remove this path"#], true
            ),
            (#"{ "ignore": { "repeated-name": ["*.json"] }, "pages": ["https://h/"] }"#, [], false),
            (
                #"{ "ignore": { "repeated-name": ["data/b.json"] } }"#,
                [#"1:33: warning: no file at "data/b.json" has the warning "repeated-name"; remove this path"#], true
            ),
            (
                "{\n  \"ignore\": { \"repeated-names\": [\"*\"] }\n}",
                [
                    #"2:15: warning: "repeated-names" is no code of a warning about the content of a file; did you mean "#
                ], true
            ),
            (#"{ "ignore": ["repeated-name"] }"#, ["1:3: warning: write lists of paths, such as "], true),
            (#"{ "ignore": { "repeated-name": [1] } }"#, ["1:3: warning: write lists of paths"], true),
            (#"{ "ignore": { }, }"#, ["1:16: warning: there is a comma"], true),
        ]
    )
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
        #expect(
            result.output.hasSuffix(
                count == 0 ? "no errors, no warnings\n" : "no errors, \(count) warning\(count == 1 ? "" : "s")\n"
            )
        )
        // A build checks in the same way.
        let manifest = folder.url.appendingPathComponent("Substitutions/manifest.json").path
        let issues = ManifestCheck(try Tool.manifest(manifest), on: Date()).issues
        #expect(issues.count == count, "\(issues)")
    }
}
#endif
