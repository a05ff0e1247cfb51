import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstitutionChecking

@Suite("The JSON parser that continues after a mistake")
struct RepairingJSONParserTests {
    @Test(
        "Text with more than 30 combining marks in a row is refused, in linear time",
        arguments: [marks, "\\u0301\\u0316"]
    )
    func streamSafe(pair: String) {
        func text(_ count: Int) -> [UInt8] {
            Array("{\"https://h/a\(String(repeating: pair, count: count))\": 1}".utf8)
        }
        for count in [15, 16] {
            #expect(JSONParser.parse(text(count)).isValid == (count == 15))
            #expect(RepairingJSONParser.parse(text(count)).isValid == (count == 15))
        }
        let growth = Growth.whenEightfold(500) { count in
            #expect(!RepairingJSONParser.parse(text(count)).isValid)
            #expect(throws: ManifestError.self) {
                _ = try SubstitutionCache(manifestData: Data(text(count)), folder: Fixtures.folder)
            }
        }
        #expect(growth < Growth.limit)
    }

    // MARK: - After a mistake

    /// Compares the value and the number of errors for a text with mistakes.
    ///
    /// Every repair is a guess. The messages about manifests rely on the guesses that are tested here.
    @Test(
        "After a mistake, the parser reads what was probably meant",
        arguments: [
            (#"{"a": "b",}"#, #"{"a":"b"}"#, 1), (#"{"a": "b" "c": 1}"#, #"{"a":"b","c":1}"#, 1),
            (#"{"a": 1,, "b": 2}"#, #"{"a":1,"b":2}"#, 1), (#"{, "a": 1}"#, #"{"a":1}"#, 1),
            (#"{"a": 1; "b": 2}"#, #"{"a":1,"b":2}"#, 1), (#"{"a" 1, "b" = 2}"#, #"{"a":1,"b":2}"#, 2),
            (#"{a: b, "c": 'd', “e”: “f”}"#, #"{"a":"b","c":"d","e":"f"}"#, 5),
            ("{\"a: \"b\",\n\"c\": \"d,\n\"e\": f\"}", #"{"a":"b","c":"d","e":"f"}"#, 3),
            (#"{"a": ["v, "w"], "b": ["x", "y}"#, #"{"a":["v","w"],"b":["x","y"]}"#, 3),
            (#"{"a": {"x": [1, 2}, "b": {"c": 3]}"#, #"{"a":{"x":[1,2]},"b":{"c":3}}"#, 2),
            ("{ // one\n \"a\": 1, /* two */ # three\n \"b\": 2 <!-- four --> }", #"{"a":1,"b":2}"#, 3),
            (#"{"a": {"b": 1}}, "c": 2}"#, #"{"a":{"b":1}}"#, 1),
            (#"{"a": True, "b": yes, "c": OFF, "d": Null}"#, #"{"a":true,"b":true,"c":false,"d":null}"#, 4),
            (#"{"a": "b" + "c", "d": 1}"#, #"{"a":"b","d":1}"#, 1),
            ("const x = {\"a\": 1};", #"{"a":1}"#, 2),
            (#"{""a": "b", "c"": "d", "e": "f"", "g": ""h"}"#, #"{"a":"b","c":"d","e":"f","g":"h"}"#, 4),
            (#"{"a": 1}, {"b": 2}"#, #"{"a":1}"#, 1),
            (#"{"a"; "b", "c": "d"}"#, #"{"a":"b","c":"d"}"#, 1),
            (#"{"": "", "a": ["", ""]}"#, #"{"":"","a":["",""]}"#, 0),
            ("{\u{A0}\"a\":\u{200B}\u{200B}1}", #"{"a":1}"#, 2), ("{//h.de/p\": \"a\"}", #"{"//h.de/p":"a"}"#, 1),
        ]
    )
    func repaired(text: String, meant: String, errors: Int) throws {
        let document = RepairingJSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == errors, "\(document.errors.map(\.message))")
        let expected = try JSONSerialization.jsonObject(with: Data(meant.utf8)) as? NSObject
        #expect(document.value.plain == expected)
    }

    @Test(
        "A value that cannot be guessed is marked as unreadable and causes one error",
        arguments: [
            #"{"a": <x>, "b": 1}"#, #"{"a": "\x", "b": 1}"#, #"{"a": 0404, "b": 1}"#, #"{"a": "\ud800", "b": 1}"#,
            "{\"a\": \"x\ty\", \"b\": 1}", #"{"a":, "b": 1}"#, #"{"a", "b": 1}"#, "{\"a\":\n \"b\": 1}",
        ]
    )
    func unreadable(text: String) {
        let document = RepairingJSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == 1, "\(document.errors.map(\.message))")
        guard case .object(let members) = document.value.kind, let last = members.last, last.name == "b",
            case .number("1") = last.value.kind
        else {
            Issue.record("what follows is lost")
            return
        }
        #expect(members.dropLast().allSatisfy { if case .unreadable = $0.value.kind { true } else { false } })
    }

    @Test("The parser stops after a hundred mistakes, and reports a wrong encoding once")
    func bounded() {
        let errors = RepairingJSONParser.parse(Array(("{" + String(repeating: "'a': 'b',", count: 200) + "}").utf8))
            .errors
        #expect(errors.count == RepairingJSONParser.maximumErrors + 1)
        #expect(errors.last?.message == "more than 100 errors; fix these first")
        let latin = Array("{\"a\": \"".utf8) + [0xE9] + Array("\", \"b\": \"".utf8) + [0xE8] + Array("\"}".utf8)
        #expect(RepairingJSONParser.parse(latin).errors.map(\.kind) == [.encoding])
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
        // Test each prefix and each suffix.
        for count in 0...bytes.count {
            for part in [bytes.prefix(count), bytes.suffix(count)] {
                #expect(RepairingJSONParser.parse(part).isValid == JSONParser.parse(part).isValid)
            }
        }
        // A case that the fuzzer found: invalid UTF-8 in the middle of the text.
        for offset in bytes.indices {
            var broken = bytes
            broken[offset] = 0xAF
            #expect(!RepairingJSONParser.parse(broken).isValid && !JSONParser.parse(broken).isValid)
        }
    }

    @Test(
        "A long line of one character is read in a time that does not grow like a power of two",
        .timeLimit(.minutes(1)),
        arguments: ["\t", " ", ",", ";", "/", "-", "=", ":", ".", "[", "<", "a ", "\" ", "//x\t"]
    )
    func longLines(character: String) {
        // A case that the fuzzer found: a row of empty cells.
        for start in ["", "\"https://example.com", "https://example.com/a"] {
            let text = start + String(repeating: character, count: 200) + "\" \u{0}}"
            #expect(!RepairingJSONParser.parse(Array(text.utf8)).isValid)
        }
    }
}

/// Two combining marks in the order that is not normal; Swift takes quadratic time to compare many of them.
private let marks = "\u{301}\u{316}"
