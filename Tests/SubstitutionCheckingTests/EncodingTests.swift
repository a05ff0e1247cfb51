import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstitutionChecking

@Suite("The encoding of a text")
struct EncodingTests {
    @Test(
        "The few encodings that can be distinguished are recognised",
        arguments: [
            ("Menu", .utf8, "ASCII"), ("Menü", .utf8, "UTF-8"), ("Menu du café", .windowsCP1252, "not UTF-8"),
            ("日本語のコメントです", .shiftJIS, "not UTF-8"), ("body { color: red }", .utf16LittleEndian, "UTF-16"),
        ] as [(String, String.Encoding, String)]
    )
    func table(text: String, encoding: String.Encoding, name: String) throws {
        let data = try #require(text.data(using: encoding))
        #expect(Encoding.name(of: data) == name)
    }

    @Test("The beginning of a large text is UTF-8 if it ends inside a character", arguments: [0, 1, 2, 3])
    func largeText(offset: Int) throws {
        let text = Data((String(repeating: "a", count: offset) + String(repeating: "😀", count: 70_000)).utf8)
        #expect(Encoding.name(of: text.prefix(Encoding.length)) == "UTF-8")
        #expect(Encoding.name(of: text.prefix(1001 + offset)) == "not UTF-8")
        #expect(Encoding.name(of: Data("inside".utf8)) == "ASCII")
    }
}
