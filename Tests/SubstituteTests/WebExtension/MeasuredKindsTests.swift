// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Compares the tables in the documents with the measured results of the engines.
///
/// A table has two columns of results: of two engines, or of one engine that is used in two ways. With
/// `UPDATE_GOLDEN_FILES=1`, the test updates the tables in the documents.
@Suite("Statements about engines in the documents")
struct MeasuredKindsTests {
    /// The documents; each column has a title, and a file with the measured results.
    private static let documents: [(path: String, columns: [(title: String, file: String)])] = [
        ("SubstituteTests/Fixtures/WebExtension.md", ["Chromium", "Firefox"].map { ($0, "WebExtension-\($0)") }),
        ("WebKitGTK/README.md", [("with rules", "WebKitGTK-rules"), ("as a mirror", "WebKitGTK-mirror")]),
    ]

    /// Returns the result for each kind of resource on each page.
    private static func answers(in file: String) throws -> [String: [String: String]] {
        let file = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/\(file).txt")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let starts = KindsSite.pages.map { page in
            lines[0].range(of: " \(page)").map { lines[0][..<$0.lowerBound].count + 1 } ?? 0
        }
        var answers: [String: [String: String]] = [:]
        for line in lines.dropFirst().prefix(while: { !$0.isEmpty }) {
            let kind = line.prefix(starts[0]).trimmingCharacters(in: .whitespaces)
            for (page, start) in zip(KindsSite.pages, starts) {
                let word = line.dropFirst(start).prefix { $0 != " " }
                if !word.isEmpty { answers[kind, default: [:]][page] = String(word) }
            }
        }
        return answers
    }

    /// Returns the text of a cell, for example `bundle`, or `bundle; never with a policy`.
    private static func cell(_ answers: [String: String]) -> String {
        let usual = answers["https"] ?? answers["http"] ?? ""
        let names = ["http": "on http", "policy": "with a policy", "isolated": "isolated"]
        let others = KindsSite.pages.compactMap { page in
            answers[page].flatMap { $0 == usual ? nil : "\($0) \(names[page] ?? "")" }
        }
        return ([usual] + others).joined(separator: "; ")
    }

    private static func table(_ columns: [(title: String, file: String)]) throws -> String {
        let measured = try columns.map { try answers(in: $0.file) }
        let rows = Set(measured.flatMap(\.keys)).map { kind in (kind, measured.map { cell($0[kind] ?? [:]) }) }
            .sorted { $0.0.lowercased() < $1.0.lowercased() }
        let isPlain: ((String, [String])) -> Bool = { $0.1.allSatisfy { $0 == "bundle" } }
        let titles = columns.map(\.title).joined(separator: " | ")
        let head = ["| kind | \(titles) |", "| --- |" + columns.map { _ in " --- |" }.joined()]
        let lines = head + rows.filter { !isPlain($0) }.map { "| \($0.0) | \($0.1.joined(separator: " | ")) |" }
        let plain = rows.filter(isPlain).map(\.0).joined(separator: "; ")
        return lines.joined(separator: "\n")
            + "\n\nBoth columns are *bundle*, on every page, for these kinds: \(plain).\n"
    }

    @Test("The tables show the measured results", arguments: documents.indices)
    func table(index: Int) throws {
        let (path, columns) = Self.documents[index]
        let document = Repository.folder.appendingPathComponent("Tests/\(path)")
        let parts = try String(contentsOf: document, encoding: .utf8).components(separatedBy: "<!-- measured -->\n")
        try #require(parts.count == 3)
        let table = try Self.table(columns)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil {
            try Data([parts[0], table, parts[2]].joined(separator: "<!-- measured -->\n").utf8).write(to: document)
        }
        #expect(parts[1] == table)
    }
}
#endif
