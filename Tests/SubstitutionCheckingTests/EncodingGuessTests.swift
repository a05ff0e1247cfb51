import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstitutionChecking

@Suite("The guess at a text's encoding")
struct EncodingGuessTests {
    @Test(
        "The few encodings that can be distinguished are recognised",
        arguments: [
            ("Menu", .utf8, .ascii), ("Menü", .utf8, .utf8), ("Menu du café", .windowsCP1252, .other),
            ("日本語のコメントです", .shiftJIS, .other), ("body { color: red }", .utf16LittleEndian, .utf16),
        ] as [(String, String.Encoding, EncodingGuess)]
    )
    func table(text: String, encoding: String.Encoding, guess: EncodingGuess) throws {
        let data = try #require(text.data(using: encoding))
        #expect(EncodingGuess(data) == guess)
    }

    @Test("The beginning of a large text is UTF-8 if it ends inside a character", arguments: [0, 1, 2, 3])
    func largeText(offset: Int) throws {
        let text = Data((String(repeating: "a", count: offset) + String(repeating: "😀", count: 70_000)).utf8)
        #expect(EncodingGuess(text.prefix(EncodingGuess.length)) == .utf8)
        #expect(EncodingGuess(text.prefix(1001 + offset)) == .other)
        #expect(EncodingGuess(Data("inside".utf8)) == .ascii)
    }
}
