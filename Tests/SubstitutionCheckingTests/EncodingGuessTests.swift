import Foundation
import Testing

@testable import SubstitutionChecking

@Suite("The guess at a text's encoding")
struct EncodingGuessTests {
    @Test(
        "The few encodings that can be distinguished are recognised, even if the text ends inside a character",
        arguments: [
            ("Menu", .utf8, .utf8), ("Menü", .utf8, .utf8), ("Menu du café", .windowsCP1252, .western),
            ("Menu du café\n", .windowsCP1252, .western), ("größer", .windowsCP1252, .western),
            ("日本語のコメントです", .shiftJIS, .shiftJIS), ("body { color: red }", .utf16LittleEndian, .utf16),
        ] as [(String, String.Encoding, EncodingGuess)]
    )
    func table(text: String, encoding: String.Encoding, guess: EncodingGuess) throws {
        let data = try #require(text.data(using: encoding))
        #expect(EncodingGuess(data) == guess)
        // Only the beginning of a long file is examined. This beginning may end in the middle of a character.
        if guess == .shiftJIS { #expect(EncodingGuess(data.dropLast()) == guess) }
    }
}
