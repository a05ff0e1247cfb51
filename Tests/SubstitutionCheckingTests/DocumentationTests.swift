import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstitutionChecking

/// Tests that the examples in the README and in the guides work.
@Suite("Documentation")
struct DocumentationTests {
    static let root = Repository.folder

    private static let catalog = "Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc"

    static var pages: [String] { ["README.md"] + documents.filter { $0.hasPrefix(catalog) } }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the code blocks of one language.
    private func blocks(of language: String, in page: String) throws -> [String] {
        try Self.text(page).components(separatedBy: "\n```\(language)\n").dropFirst().compactMap { rest in
            rest.range(of: "\n```").map { String(rest[..<$0.lowerBound]) }
        }
    }

    private func trimmed(_ code: String) -> String {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("All Swift code is part of a snippet, which every build compiles", arguments: pages)
    func snippets(page: String) throws {
        let folder = Self.root.appendingPathComponent("Snippets").path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let snippets = try names.map { trimmed(try Self.text("Snippets/\($0)")) }
        // A snippet cannot have a Package.swift or resources.
        for block in try blocks(of: "swift", in: page)
        where !block.contains("// Package.swift") && !block.contains(".module") {
            #expect(snippets.contains { $0.contains(trimmed(block)) }, "not in a snippet: \(block)")
        }
    }

    @Test("All manifests in the documentation are valid, except that their files do not exist", arguments: pages)
    func manifests(page: String) throws {
        let folder = try TemporaryFolder()
        // The tool's options, with the pages to load, are no manifest.
        for manifest in try blocks(of: "json", in: page) where !manifest.contains("\"pages\"") {
            let issues = issuesOf(Data(manifest.utf8), named: "manifest.json", in: folder.url)
            #expect(issues.filter { $0.code != .missingFile } == [])
        }
    }

    @Test("The README is short, and each of its links leads to a file")
    func readme() throws {
        let text = try Self.text("README.md")
        #expect(text.components(separatedBy: "\n").count <= 121)
        let links = text.matches(of: /\]\(([^)#]+)\)|(?m)^\[\w+\]: (\S+)$/).compactMap { $0.output.1 ?? $0.output.2 }
        #expect(links.count > 15)
        for link in links where !link.hasPrefix("https://") {
            let file = Self.root.appendingPathComponent(String(link)).path
            #expect(FileManager.default.fileExists(atPath: file), "\(link)")
        }
    }

    /// The repository's Markdown files; `.github` is the only hidden folder that is searched.
    private static var documents: [String] {
        let found = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return found.filter { path in
            path.hasSuffix(".md") && !path.split(separator: "/").contains { $0.hasPrefix(".") && $0 != ".github" }
        }.sorted()
    }

    @Test("Each reference link is defined in its document, once and on a separate line", arguments: documents)
    func references(document: String) throws {
        // Code contains no links.
        let prose = try Self.text(document).replacing(/(?ms)^```.*?^```$/, with: "").replacing(/`[^`\n]*`/, with: "")
        let defined = prose.matches(of: /(?m)^\[([^\]\n]+)\]: +\S+$/).map { $0.output.1.lowercased() }
        #expect(Set(defined).count == defined.count, "defined twice: \(defined)")
        let lines = prose.matches(of: /(?m)^ {0,3}\[[^\]\n]+\]:(.*)$/).map(\.output.1)
        #expect(lines.count == defined.count, "a definition has more than an address: \(lines)")
        let used = Set(prose.matches(of: /\]\[([^\]\n]+)\]/).map { $0.output.1.lowercased() })
        #expect(used == Set(defined), "used and not defined, or defined and not used")
    }

    @Test("The page shows who answers as it was measured on Linux")
    func answers() throws {
        let page = try Self.text("\(Self.catalog)/WhenTheCacheIsAsked.md")
        let table = "Tests/LocalSubstitutionCacheTests/Fixtures/WhoAnswers-Linux.txt"
        let lines = try Self.text(table).split(separator: "\n")
        for (shown, session) in [
            ("`URLSession.shared`", "shared"), ("`.default`", "default"), ("`.ephemeral`", "ephemeral"),
            ("`.default`, before `install()`", "default, early"), ("with the protocol", "default, protocol"),
            ("with the protocol", "ephemeral, protocol"),
        ] {
            func cell(_ header: String, _ column: Int) throws -> String {
                let row = session.padding(toLength: 21, withPad: " ", startingAt: 0) + "GET     \(header) "
                let line = try #require(lines.first { $0.hasPrefix("async       \(row)") })
                return String(line.dropFirst(56 + 13 * column).prefix { $0 != " " })
            }
            let cells = try [cell("-", 0), cell("Authorization", 0), cell("-", 3)].joined(separator: " | ")
            #expect(page.contains("| \(shown) | \(cells) | not yet |\n"))
        }
    }

    @Test("What an article says of resources in web views is what a real WebKit did")
    func measured() throws {
        func rows(_ page: String) throws -> [[String]] {
            let lines = try Self.text(page).split(separator: "\n")
            return lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.map { row in
                row.replacing("`", with: "").split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        let words = ["network": "network", "bundle": "file", "broken": "fails"]
        var told = 0
        let measured = try rows("Tests/WebKitGTK/README.md").filter { $0.count == 3 }
        for row in try rows("\(Self.catalog)/WebViews.md") {
            let kinds = row[0].split(separator: ", ").map(String.init)
            for found in measured where kinds.contains(found[0]) {
                told += 1
                for column in 1...2 { #expect(row[column].hasPrefix(words[found[column]] ?? "?"), "\(found)") }
            }
        }
        #expect(told == 6)
    }

    /// The limits that a page tells, each with the code that sets it; the page is in the root or is an article.
    private static let limits = [
        "SECURITY.md": [
            "200,000 URLs": "urls = 200_000", "150 MB": "bytes = 150_000_000", "1,000,000 names": "names = 1_000_000",
            "100 MB of": "copies = 100_000_000", "a manifest of 16 MB": "maximumSize: 16_000_000",
            "Files of 4 KB and above": "mappingThreshold = 4 * 1024",
        ],
        "ManifestReference.md": [
            "at most 200,000 URLs": "urls = 200_000", "at most 150 MB": "bytes = 150_000_000",
            "a URL counts three times": "3 * (files * pattern.spelling.utf8.count + paths)",
            "each of its header fields its length and 64 bytes": "$0 + 64 + $1.key.utf8.count",
            "a path in a folder twice its length": "2 * (prefix.utf8.count + name.utf8.count)",
            "at most 100 names": "maximumNames = 100", "for one URL at most 16 lists": "maximumRules = 16",
            "A `type` has at most 1,000 bytes": "text.utf8.count <= 1000", "from 0 to 2⁵³ − 1": "0..<(1 << 53)",
            "a header's value 8,000": "bytes.count <= 8000", "by its first 4 KB": "headLength = 4096",
            "pictures over 5 MB": "pictureSize = 5_000 * 1024", "files over 20 MB": "largestSize = 20_000_000",
        ],
        "TestingYourApp.md": [
            "files below 4 KB": "mappingThreshold = 4 * 1024", "20 MB in total": "maximumFileSize = 20_000_000",
            "up to 2 MB each and 20 MB": "maximumBodySize = 2_000_000",
        ],
        "WebViews.md": [
            "150,000 rules": "maximumRules = 150_000", "up to 64 MB": "longestBody = 64 << 20",
            "up to 8 MB": "longestRewritten = 8 << 20",
        ],
        "FromAPage.md": ["30,000 rules, 1,000 of": "(maximumRules, maximumExpressions) = (30_000, 1_000)"],
        "README.md": [
            "Swift 6.2": "swift-tools-version: 6.2",
            "iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1":
                ".macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)",
        ],
        "Benchmarks/README.md": ["mapped, 16,384 at most": "maximumMappings = 16_384"],
        "CONTRIBUTING.md": ["twenty runs": "runs=${1:-20}"], "CHANGELOG.md": ["30 combining marks": "count > 30"],
    ]

    @Test("A limit that a page tells is the one in the code")
    func limit() throws {
        let sources = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent("Sources").path)
        let paths = (sources?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }
        let files = paths.map { "Sources/\($0)" } + ["Package.swift", ".ci/long"]
        let code = try files.map(Self.text).joined()
        for (page, limits) in Self.limits {
            let found = [page, "\(Self.catalog)/\(page)"].compactMap { try? Self.text($0) }.first
            let text = try #require(found).replacing(/\s+/, with: " ")
            for (words, limit) in limits {
                #expect(text.contains(words) && code.contains(limit), "\(page): \(words), \(limit)")
            }
        }
    }
}
