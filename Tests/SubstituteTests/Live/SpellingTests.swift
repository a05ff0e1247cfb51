// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("The spellings of URLs that browsers send", .serialized)
struct SpellingTests {
    /// The ASCII characters that are neither letters nor digits, and characters beyond ASCII, in NFC and in NFD.
    static let characters =
        (0x20...0x7E).map { Unicode.Scalar(UInt8($0)) }.map(String.init)
        .filter { !$0.allSatisfy { $0.isLetter || $0.isNumber } } + ["é", "e\u{301}", "ß", "語", "😀", "\u{200D}"]

    /// Addresses with each character in the path or in the query, raw or encoded, beside a percent-encoded byte.
    ///
    /// The number in each path keeps the addresses apart.
    static let addresses: [String] = characters.enumerated().flatMap { number, character in
        let encoded = character.utf8.map { String(format: "%%%02x", $0) }.joined()
        // A manifest cannot contain a path with a "%" that is not followed by two hexadecimal digits.
        let raw = character == "%" ? "%25" : character
        return [
            "/any/\(number)/a\(raw)%41%2C", "/any/\(number)/b\(encoded)%41%2C", "/any/\(number)/c?v=\(character)%41%2C",
            "/any/\(number)/d?v=\(encoded)%41%2C", "/any/\(number)/e?\(character)[]={%20}|\\^`",
        ]
    }

    @Test("What capture has added, verify finds, however the page spells its URL", .startsChromium)
    func captured() async throws {
        let site = try LiveSite()
        let list = String(decoding: try JSONEncoder().encode(Self.addresses), as: UTF8.self)
        site.page("/", "<meta charset=utf-8><script>for (const address of \(list)) fetch(address)</script>")
        let elsewhere = try TemporaryFolder()
        let recording = elsewhere.url.appendingPathComponent("page.har").path
        let captured = try await site.run("add", "--in-browser", "--har", recording, site.url)
        let count = Self.addresses.count + 1
        #expect(captured.status == 0 && captured.output.hasPrefix("\(count) entries"), "\(captured)")
        let verified = try await site.run("verify", "--at-least", "100%", site.url)
        #expect(verified.status == 0 && verified.output.contains("\(count) of \(count) requests"), "\(verified)")
        let explained = await Tool.run(["explain", "--require", recording], in: site.folder.url)
        #expect(explained.status == 0, "\(explained)")
    }
}
#endif
