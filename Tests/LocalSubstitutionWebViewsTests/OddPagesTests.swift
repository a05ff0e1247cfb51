// Only macOS and Linux can start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// Compares the page scanner with html5lib, an independent parser.
@Suite("Pages as browsers read them")
struct OddPagesTests {
    private static let needsParser = ConditionTrait.enabled("needs Python with html5lib") {
        guard !Program.isEverythingRequired, Program.find("python3") != nil else { return Program.isEverythingRequired }
        return (try? await python(["-c", "import html5lib"])) != nil
    }

    /// The addresses and styles that html5lib found in one page.
    private struct Page: Decodable {
        let page: String
        let found: [[String]]
        /// The number with which the address of each `base` element begins.
        let bases: [String]
        let styles: [String]
        /// The kinds of misnested markup in the page that the scanner does not follow.
        let misnesting: [String]
    }

    private static let addresses: Set = [
        "src", "href", "xlink:href", "poster", "action", "formaction", "background", "data", "srcset", "imagesrcset",
        "style",
    ]

    /// Runs Python, and returns its output.
    private static func python(_ arguments: [String]) async throws -> String {
        let result = try await Program.run(try #require(Program.find("python3")), arguments)
        try #require(result.status == 0)
        return result.output
    }

    /// Returns the text with newlines normalised as in the parser's input stream (HTML §13.2.3.5), and NUL replaced.
    private static func normal(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n", scalars.last == "\r" { scalars.removeLast() }
            scalars.append(scalar == "\0" ? "\u{FFFD}" : scalar)
        }
        return String(String.UnicodeScalarView(scalars.map { $0 == "\r" ? "\n" : $0 }))
    }

    /// Returns the results as bytes.
    ///
    /// A comparison of strings would not be exact. Swift joins a letter and a following accent into one character,
    /// which equals the single accented letter.
    private static func lines(_ found: [[String]], _ bases: [String], _ styles: [String]) -> [[UInt8]] {
        let texts = found.map { $0.joined(separator: "\u{1F}") } + styles.map(normal).filter { !$0.isEmpty }.sorted()
        return (texts + bases).map { Array($0.utf8) }
    }

    private static func read(_ page: String) -> [[UInt8]] {
        var (found, styles): ([[String]], [String]) = ([], [])
        PageScanner.read(Array(page.utf8)) { tag, style in
            if let style { return styles.append(style.string) }
            for attribute in tag.attributes where addresses.contains(attribute.name) {
                found.append([tag.name, attribute.name, attribute.value.string].map(normal))
            }
        }
        let bases = PageScanner.references(in: Array(page.utf8)).bases.map {
            $0.place.bytes.prefix(while: \.isASCIIDigit)
        }
        return lines(found, bases.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }, styles)
    }

    @Test("html5lib finds the same addresses and styles in odd pages, and almost all in misnested SVG", needsParser)
    func oddPages() async throws {
        let script = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures/oddpages.py").path
        let count = Program.isLongRun ? 100_000 : 1000
        let output = try await Self.python([script, String(count), "1"])
        let pages = try output.utf8.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Page.self, from: Data($0))
        }
        #expect(pages.count > count * 98 / 100)
        let different = pages.filter {
            Self.read($0.page) != Self.lines($0.found.map { $0.map(Self.normal) }, $0.bases, $0.styles)
        }
        #expect(different.filter(\.misnesting.isEmpty).prefix(5).map(\.page) == [])
        let kinds = Dictionary(different.flatMap(\.misnesting).map { ($0, 1) }, uniquingKeysWith: +)
        #expect(different.count < pages.count / 50, "\(different.count) of \(pages.count) pages: \(kinds)")
    }
}
#endif
