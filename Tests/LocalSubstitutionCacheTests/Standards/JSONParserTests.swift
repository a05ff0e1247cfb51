import Foundation
import Testing

@testable import LocalSubstitutionCache

@Suite("The JSON parser")
struct JSONParserTests {
    /// The value in a form that can be compared with what Foundation reads.
    private func plain(_ value: JSONValue) -> NSObject {
        switch value.kind {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .number(let digits): NSNumber(value: Double(digits) ?? .nan)
        case .string(let text): text as NSString
        case .array(let elements): elements.map(plain) as NSArray
        case .object(let members):
            Dictionary(members.map { ($0.name, plain($0.value)) }, uniquingKeysWith: { $1 }) as NSDictionary
        case .unreadable: "unreadable" as NSString
        }
    }

    @Test(
        "What RFC 8259 allows is read as Foundation reads it",
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
        #expect(plain(document.value) == expected as? NSObject)
    }

    @Test(
        "What RFC 8259 does not allow is refused",
        arguments: [
            "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1,,2]", "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\":}", "{a:1}",
            "{\"a\" 1}", "{1:2}", "[1 2]", "[1}", "{\"a\":1]", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1a",
            "1.2.3",
            "--1", "NaN", "Infinity", "-Infinity", "True", "nul", "truee", "'a'", "\"", "\"a", "\"\\", "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"", "\"\\u12G4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"", "\"\t\"",
            "\"\n\"",
            "\"\0\"", "1 2", "{} {}", "//", "/**/1", "1//", "#", "\u{FEFF}\u{FEFF}1", "\u{A0}1", "\u{B}1", "[1;2]",
            "\"\\u 041\"",
            "\"\\u+041\"",
        ]
    )
    func refused(text: String) {
        #expect(!JSONParser.parse(Array(text.utf8)).errors.isEmpty)
    }

    @Test(
        "Invalid UTF-8 is refused where it stands",
        arguments: [
            [0x22, 0x80, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xC3, 0x22], [0x22, 0xE2, 0x82, 0x22], [0x22, 0xFF, 0x22],
        ] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) throws {
        let errors = JSONParser.parse(bytes).errors
        #expect(errors.map(\.kind) == [.encoding])
        #expect(errors.first?.offset == 1)
    }

    @Test("Every value knows where it begins, in lines and in bytes")
    func places() throws {
        let text = "{\n  \"é\": [1,\r\n\ttrue],\n\"b\" : {\"c\":\"d\"}}"
        let value = JSONParser.parse(Array(text.utf8)).value
        let source = SourceText(name: "m", bytes: Data(text.utf8))
        guard case .object(let members) = value.kind, members.count == 2, case .array(let list) = members[0].value.kind,
            case .object(let inner) = members[1].value.kind
        else {
            Issue.record("the value was read wrongly")
            return
        }
        let offsets = [
            value.offset, members[0].nameOffset, members[0].value.offset, list[0].offset, list[1].offset,
            members[1].nameOffset, members[1].value.offset, inner[0].nameOffset, inner[0].value.offset,
        ]
        let places = offsets.map { source.place(of: $0) }.map { [$0.line, $0.column] }
        #expect(places == [[1, 1], [2, 3], [2, 9], [2, 10], [3, 2], [4, 1], [4, 7], [4, 8], [4, 12]])
    }

    @Test("Nesting up to the limit is read, and one more is refused")
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

    @Test("Every beginning of a manifest is refused in its place, and none crashes")
    func truncated() throws {
        let url = Fixtures.folder.appendingPathComponent("Valid/every-field.json")
        let bytes = [UInt8](try Data(contentsOf: url))
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
        for count in 0...end {
            let errors = JSONParser.parse(bytes.prefix(count)).errors
            #expect(!errors.isEmpty)
            #expect(errors.allSatisfy { (0...count).contains($0.offset) })
        }
    }

    // MARK: - After a mistake

    /// What is read of a text with mistakes, and how many errors it has.
    ///
    /// Every repair is a guess; these are the ones that a manifest's messages rely on.
    @Test(
        "After a mistake the text is taken for what was probably meant",
        arguments: [
            (#"{"a": "b",}"#, #"{"a":"b"}"#, 1), (#"{"a": "b" "c": 1}"#, #"{"a":"b","c":1}"#, 1),
            (#"{"a": 1,, "b": 2}"#, #"{"a":1,"b":2}"#, 1), (#"{, "a": 1}"#, #"{"a":1}"#, 1),
            (#"{"a": 1; "b": 2}"#, #"{"a":1,"b":2}"#, 1), (#"{"a" 1, "b" = 2, "c" => 3}"#, #"{"a":1,"b":2,"c":3}"#, 3),
            (#"{a: b, "c": 'd', “e”: “f”}"#, #"{"a":"b","c":"d","e":"f"}"#, 5),
            ("{\"a: \"b\",\n\"c\": \"d,\n\"e\": f\"}", #"{"a":"b","c":"d","e":"f"}"#, 3),
            (#"{"a": ["v, "w"], "b": ["x", "y}"#, #"{"a":["v","w"],"b":["x","y"]}"#, 3),
            (#"{"a": {"x": [1, 2}, "b": {"c": 3]}"#, #"{"a":{"x":[1,2]},"b":{"c":3}}"#, 2),
            ("{ // one\n \"a\": 1, /* two */ # three\n \"b\": 2 <!-- four --> }", #"{"a":1,"b":2}"#, 3),
            (#"{"a": {"b": 1}}, "c": 2}"#, #"{"a":{"b":1},"c":2}"#, 1), (#""a": 1, "b": 2}"#, #"{"a":1,"b":2}"#, 1),
            (#"{"a": True, "b": yes, "c": OFF, "d": Null}"#, #"{"a":true,"b":true,"c":false,"d":null}"#, 4),
            ("const x = {\"a\": 1};", #"{"a":1}"#, 2), (#"{"a": ("b": 1)}"#, #"{"a":{"b":1}}"#, 1),
            (#"{""a": "b", "c"": "d", "e": "f"", "g": ""h"}"#, #"{"a":"b","c":"d","e":"f","g":"h"}"#, 4),
            ("{\n<<<<<<< HEAD\n\"a\": 1,\n=======\n\"b\": 2,\n>>>>>>> x\n\"c\": 3}", #"{"a":1,"b":2,"c":3}"#, 3),
            (#"{"a": 1}, {"b": 2}"#, #"{"a":1,"b":2}"#, 1), (#"{"a": 1} {"b": 2}"#, #"{"a":1,"b":2}"#, 1),
            (#"{"a"; "b", "c": "d"}"#, #"{"a":"b","c":"d"}"#, 1),
            (#"{"": "", "a": ["", ""]}"#, #"{"":"","a":["",""]}"#, 0),
            ("{\u{A0}\"a\":\u{200B}\u{200B}1}", #"{"a":1}"#, 2), ("{//h.de/p\": \"a\"}", #"{"//h.de/p":"a"}"#, 1),
        ]
    )
    func repaired(text: String, meant: String, errors: Int) throws {
        let document = JSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == errors, "\(document.errors.map(\.message))")
        let expected = try JSONSerialization.jsonObject(with: Data(meant.utf8)) as? NSObject
        #expect(plain(document.value) == expected)
    }

    @Test(
        "What cannot be guessed is marked, and tells one error",
        arguments: [
            #"{"a": <x>, "b": 1}"#, #"{"a": "\x", "b": 1}"#, #"{"a": 0404, "b": 1}"#, #"{"a": "\ud800", "b": 1}"#,
            "{\"a\": \"x\ty\", \"b\": 1}", #"{"a":, "b": 1}"#, #"{"a", "b": 1}"#, "{\"a\":\n \"b\": 1}",
            "{\"a\nc\": 2, \"b\": 1}",
        ]
    )
    func unreadable(text: String) {
        let document = JSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == 1, "\(document.errors.map(\.message))")
        guard case .object(let members) = document.value.kind, let last = members.last, last.name == "b",
            case .number("1") = last.value.kind
        else {
            Issue.record("what follows is lost")
            return
        }
        #expect(members.dropLast().allSatisfy { if case .unreadable = $0.value.kind { true } else { false } })
    }

    @Test("A hundred mistakes are enough, and the encoding is told once")
    func bounded() {
        let errors = JSONParser.parse(Array(("{" + String(repeating: "'a': 'b',", count: 200) + "}").utf8)).errors
        #expect(errors.count == JSONParser.maximumErrors + 1)
        #expect(errors.last?.message == "more than 100 mistakes; mend these first")
        let latin = Array("{\"a\": \"".utf8) + [0xE9] + Array("\", \"b\": \"".utf8) + [0xE8] + Array("\"}".utf8)
        #expect(JSONParser.parse(latin).errors.map(\.kind) == [.encoding])
    }

    @Test(
        "No text with mistakes crashes",
        arguments: [
            "{\n \u{201C}a:\"\n}\n \"h/\0#}", "{\"", "{\":", "{\"a: {", "{\"\n:", "[\",", "{\"a\\", "{\"a\":1:\"",
            "{\"\"-:\"", "{\"a\": \"b\", \"c\" -:\"\n", "/*", "{'", "{//", "{/*",
            "<!--",
        ]
    )
    func crashes(text: String) {
        let bytes = Array(text.utf8)
        // Each beginning, and each end.
        for count in 0...bytes.count {
            _ = JSONParser.parse(bytes.prefix(count))
            _ = JSONParser.parse(bytes.suffix(count))
        }
        // As the fuzzer found it: what is no UTF-8 in the middle.
        for offset in bytes.indices {
            var broken = bytes
            broken[offset] = 0xAF
            #expect(!JSONParser.parse(broken).errors.isEmpty)
        }
    }
}
