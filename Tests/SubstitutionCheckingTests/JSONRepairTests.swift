import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstitutionChecking

@Suite("Repairs of JSON")
struct JSONRepairTests {
    private static let texts = [
        #"{"a": "b", "c": ["d", 1], "e": {"f": true}, "g": null}"#,
        "{\n  \"//h.de/p\": \"img/a.png\",\n  \"x\": { \"file\": \"i\", \"when\": [404, \"offline\"] }\n}\n",
    ]

    private static let parts = [
        "", "\"", "'", "“", "”", "`", ",", ":", ";", "=", "=>", "{", "}", "[", "]", "(", ")", "//c\n", "/*c*/", "#",
        "\\", "\\n", "\\u0041", " ", "\n", "\t", "\u{A0}", "，", "：", "+", "-", ">", "1", "01", "a", "True", "nan",
        "b c", "é", "<!--c-->", "a: ", "\": ", "\",", "\" + \"", "```", "} {", "}, {",
    ]

    @Test("A text whose repairs all have a replacement is JSON with the value that was read", arguments: texts)
    func property(text: String) throws {
        let bytes = Array(text.utf8)
        var exact = 0
        for offset in stride(from: 0, through: bytes.count, by: Program.isLongRun ? 1 : 5) {
            for part in Self.parts {
                for removed in [0, 1] where offset + removed <= bytes.count {
                    let changed = Array(bytes[..<offset]) + part.utf8 + bytes[(offset + removed)...]
                    exact += try Self.check(changed) ? 1 : 0
                }
            }
        }
        #expect(exact > (Program.isLongRun ? 1200 : 240))
    }

    @Test(
        "No string ends in user information, of which a message would quote a part",
        arguments: [#"{ "URL: "a" }"#, #"{ URL": "a" }"#, "{ URL: a, b: URL }", "{ 'URL': 'URL' }", "{ “URL”: \"URL }"]
    )
    func userInformation(text: String) {
        let pairs = ["", "'", "”", "`", ":", ";"].flatMap { mark in Self.parts.map { mark + $0 } }
        for part in pairs where !part.contains("\\") {
            let url = "https://hush\(part)@h/a"
            guard hasUserInformation(url) else { continue }
            let (value, repairs) = RepairingJSONParser.read(Array(text.replacing("URL", with: url).utf8))
            let read = withoutUserInformation("\(value.plain)") + "\(repairs.map(\.error.message))"
            #expect(!read.contains("hush"), "\(url): \(read)")
        }
    }

    @Test("The property holds for each fixture, and for its beginnings", arguments: ["Invalid", "Valid"])
    func fixtures(kind: String) throws {
        for name in Fixtures.names(in: kind) {
            let text = try Data(contentsOf: Fixtures.folder.appendingPathComponent("\(kind)/\(name).json"))
            let step = text.count > 2000 ? text.count : Program.isLongRun ? 1 : 25
            for count in stride(from: text.count, to: 0, by: -step) { _ = try Self.check(Array(text.prefix(count))) }
        }
    }

    /// Checks the property for a text with mistakes; returns true if all its repairs have a replacement.
    private static func check(_ text: [UInt8]) throws -> Bool {
        let (value, repairs) = RepairingJSONParser.read(text)
        let strict = JSONParser.parse(text)
        #expect(strict.errors.count == (strict.isValid ? 0 : 1))
        #expect((strict.errors + repairs.map(\.error)).allSatisfy { (0...text.count).contains($0.offset) })
        if strict.isValid != repairs.isEmpty || strict.isValid && strict.value.plain != value.plain {
            Issue.record("\(String(decoding: text, as: UTF8.self))\n\(repairs)")
        }
        guard !repairs.isEmpty, repairs.allSatisfy({ $0.replacement != nil }) else { return false }
        let repaired = repairs.applied(to: text)
        let document = JSONParser.parse(repaired)
        if !document.isValid || document.value.plain != value.plain {
            let sentences = (document.errors + repairs.map(\.error)).map { "\n\($0.offset): \($0.message)" }.joined()
            Issue.record("\(String(decoding: text + Array(" → ".utf8) + repaired, as: UTF8.self))\(sentences)")
        }
        return true
    }
}
