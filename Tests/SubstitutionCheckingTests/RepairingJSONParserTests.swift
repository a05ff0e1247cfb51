import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstitutionChecking

@Suite("The JSON parser that continues after a mistake")
struct RepairingJSONParserTests {
    @Test("More than 30 combining marks in a row are refused, in linear time", arguments: [marks, "\\u0301\\u0316"])
    func streamSafe(pair: String) {
        func text(_ count: Int) -> [UInt8] {
            Array("{\"https://h/a\(String(repeating: pair, count: count))\": 1}".utf8)
        }
        for (count, isValid) in [(15, true), (16, false)] {
            #expect(JSONParser.parse(text(count)).isValid == isValid)
            #expect(RepairingJSONParser.parse(text(count)).isValid == isValid)
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

    /// Texts with mistakes, the value that is read, and the number of errors.
    ///
    /// Every repair is a guess. The messages about manifests rely on the guesses that are tested here.
    private static let meant = [
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

    @Test("After a mistake, the parser reads what was probably meant", arguments: meant)
    func repaired(text: String, meant: String, errors: Int) throws {
        let document = RepairingJSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == errors, "\(document.errors.map(\.message))")
        let expected = try JSONSerialization.jsonObject(with: Data(meant.utf8)) as? NSObject
        #expect(document.value.plain == expected)
    }

    private static let lost = [
        #"{"a": <x>, "b": 1}"#, #"{"a": "\x", "b": 1}"#, #"{"a": 0404, "b": 1}"#, #"{"a": "\ud800", "b": 1}"#,
        "{\"a\": \"x\ty\", \"b\": 1}", #"{"a":, "b": 1}"#, #"{"a", "b": 1}"#, "{\"a\":\n \"b\": 1}",
    ]

    @Test("A value that cannot be guessed is marked as unreadable and causes one error", arguments: lost)
    func unreadable(text: String) {
        let document = RepairingJSONParser.parse(Array(text.utf8))
        #expect(document.errors.count == 1, "\(document.errors.map(\.message))")
        let (lost, one) = ("unreadable" as NSString, NSNumber(value: 1))
        let values: [[String: NSObject]] = [["a": lost, "b": one], ["b": one]]
        let plain = document.value.plain
        #expect(values.contains { plain.isEqual($0 as NSDictionary) }, "\(plain)")
    }

    @Test("The parser stops after a hundred mistakes, and reports a wrong encoding once")
    func bounded() {
        let text = "{" + String(repeating: "'a': 'b',", count: 200) + "}"
        let errors = RepairingJSONParser.parse(Array(text.utf8)).errors
        #expect(errors.count == RepairingJSONParser.maximumErrors + 1)
        #expect(errors.last?.message == "more than 100 errors; fix these first")
        let latin = Array("{\"a\": \"".utf8) + [0xE9] + Array("\", \"b\": \"".utf8) + [0xE8] + Array("\"}".utf8)
        #expect(RepairingJSONParser.parse(latin).errors.map(\.kind) == [.encoding])
    }

    @Test("No text with mistakes crashes")
    func crashes() {
        let texts = [
            "{\n \u{201C}a:\"\n}\n \"h/\0#}", "{\"", "{\":", "{\"a: {", "{\"\n:", "[\",", "{\"a\\", "{\"a\":1:\"",
            "{\"\"-:\"",
            "{\"a\": \"b\", \"c\" -:\"\n", "/*", "{'", "{//", "{/*", "<!--",
        ]
        for bytes in texts.map({ Array($0.utf8) }) {
            for count in bytes.indices {
                // A case that the fuzzer found: invalid UTF-8 in the middle of the text.
                var broken = bytes
                broken[count] = 0xAF
                #expect(!RepairingJSONParser.parse(broken).isValid && !JSONParser.parse(broken).isValid)
                for part in [bytes[...count], bytes[count...]] {
                    #expect(RepairingJSONParser.parse(part).isValid == JSONParser.parse(part).isValid)
                }
            }
        }
    }
}

/// Two combining marks in the order that is not normal; Swift takes quadratic time to compare many of them.
private let marks = "\u{301}\u{316}"
