import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("The JSON parser")
struct JSONParserTests {
    @Test(
        "JSON that RFC 8259 allows is read as Foundation reads it",
        arguments: [
            "{}", "[]", " \t\r\n[ ] ", "0", "-0", "1.5", "-1.25e3", "1E+2", "12e-1", "true", "false", "null", "\"\"",
            #""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC""#, #""\ud83d\ude00""#, "\"é€😀\"", #"{"a":{"b":[1,{"c":null}]}}"#,
            "[1,[2,[3,[]]],{}]", #"{"":""}"#, "\"\u{7F}\u{2028}\"", #""é\u00e9""#,
        ]
    )
    func accepted(text: String) throws {
        let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        let document = JSONParser.parse(Array(text.utf8))
        #expect(document.errors == [])
        #expect(document.value.plain == expected as? NSObject)
    }

    @Test(
        "JSON that RFC 8259 does not allow is refused",
        arguments: [
            "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1,,2]", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\":}", "{a:1}",
            "{\"a\" 1}", "{1:2}", "[1 2]", "[1}", "{\"a\":1]", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1a",
            "1.2.3", "--1", "NaN", "-Infinity", "True", "nul", "truee", "'a'", "\"", "\"a", "\"\\", "\"\\\"",
            "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"",
            "\"\t\"", "\"\n\"", "\"\0\"", "1 2", "{} {}", "//", "/**/1", "#", "\u{FEFF}\u{FEFF}1", "\u{A0}1", "[1;2]",
            "\"\\u 041\"", "\"\\u+041\"",
        ]
    )
    func refused(text: String) {
        #expect(!JSONParser.parse(Array(text.utf8)).errors.isEmpty)
    }

    @Test(
        "Invalid UTF-8 is reported at its offset",
        arguments: [
            [0x22, 0x80, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xFF, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xE2, 0x82, 0x22],
        ] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) throws {
        let errors = JSONParser.parse(bytes).errors
        #expect(errors.map(\.kind) == [.encoding] && errors.first?.offset == 1)
    }

    @Test("Every value knows its offset, and thereby its line and column")
    func places() throws {
        let text = "{\n  \"é\": [1,\r\n\ttrue],\n\"b\" : {\"c\":\"d\"}}"
        let value = JSONParser.parse(Array(text.utf8)).value
        let source = SourceText(name: "m", bytes: Data(text.utf8))
        guard case .object(let members) = value.kind, members.count == 2, case .array(let list) = members[0].value.kind,
            case .object(let inner) = members[1].value.kind
        else { throw POSIXError(.EINVAL) }
        let offsets = [
            value.offset, members[0].nameOffset, members[0].value.offset, list[0].offset, list[1].offset,
            members[1].nameOffset, members[1].value.offset, inner[0].nameOffset, inner[0].value.offset,
        ]
        let places = offsets.map { source.position(of: $0) }.map { [$0.line, $0.column] }
        #expect(places == [[1, 1], [2, 3], [2, 9], [2, 10], [3, 2], [4, 1], [4, 7], [4, 8], [4, 12]])
    }

    @Test("Nesting up to the limit is read, and one level more is refused")
    func nesting() throws {
        let limit = JSONParser.maximumDepth
        let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(JSONParser.parse(Array(deepest.utf8)).errors == [])
        #expect(JSONParser.parse(Array("[\(deepest)]".utf8)).errors.map(\.kind) == [.nesting])
        for character in ["[", "{\"a\":"] {
            let bytes = Array(String(repeating: character, count: 100_000).utf8)
            #expect(JSONParser.parse(bytes).errors.map(\.kind) == [.nesting])
        }
    }

    @Test(
        "The cost is linear",
        arguments: ["[", "{\"a\":", "\"", "\\n", "\"a\",", "1,", "é", " ", "{\"a\":1},", "\\u0041"]
    )
    func cost(part: String) {
        let growth = Growth.whenEightfold(5000) { count in
            let text = "[\"" + String(repeating: part, count: count) + "\"]"
            _ = JSONParser.parse(Array(text.utf8))
            _ = JSONParser.parse(Array(text.dropFirst(2).utf8))
        }
        #expect(growth < Growth.limit)
    }
}
