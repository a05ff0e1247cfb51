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
            ("Menu", .utf8, .utf8), ("Menü", .utf8, .utf8), ("Menu du café", .windowsCP1252, .western),
            ("Menu du café\n", .windowsCP1252, .western), ("größer", .windowsCP1252, .western),
            ("日本語のコメントです", .shiftJIS, .other), ("body { color: red }", .utf16LittleEndian, .utf16),
        ] as [(String, String.Encoding, EncodingGuess)]
    )
    func table(text: String, encoding: String.Encoding, guess: EncodingGuess) throws {
        let data = try #require(text.data(using: encoding))
        #expect(EncodingGuess(data) == guess)
    }

    @Test("A large text is checked for UTF-8 in chunks, wherever a chunk ends", arguments: [0, 1, 2, 3])
    func largeText(offset: Int) throws {
        let text = String(repeating: "a", count: offset) + String(repeating: "😀", count: 40_000)
        let folder = try TemporaryFolder()
        try folder.write(text, to: "good.txt")
        try folder.write(Data(text.utf8.dropLast()), to: "bad.txt")
        try folder.write("inside", to: "real.txt")
        func encoding(_ name: String) throws -> OpenedFile.Encoding {
            try OpenedFile(folder.url.appendingPathComponent(name).path).encoding()
        }
        #expect(try encoding("good.txt") == .utf8)
        #expect(try encoding("bad.txt") == .unknown)
        #expect(try encoding("real.txt") == .ascii)
    }
}
