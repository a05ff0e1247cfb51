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

    /// Returns the code blocks of one language.
    private func blocks(of language: String, in page: String) throws -> [String] {
        let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
        return text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap { rest in
            rest.range(of: "\n```").map { String(rest[..<$0.lowerBound]) }
        }
    }

    private func trimmed(_ code: String) -> String {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }

    @Test("All Swift code is part of a snippet, which every build compiles", arguments: pages)
    func snippets(page: String) throws {
        let folder = Self.root.appendingPathComponent("Snippets")
        let snippets = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            trimmed(try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
        }
        // A snippet cannot have a Package.swift or resources.
        let code = try blocks(of: "swift", in: page).filter {
            !$0.contains("// Package.swift") && !$0.contains(".module")
        }
        for block in code {
            #expect(snippets.contains { $0.contains(trimmed(block)) }, "not in a snippet: \(block)")
        }
    }

    @Test("All manifests in the documentation are valid, except that their files do not exist", arguments: pages)
    func manifests(page: String) throws {
        let folder = try TemporaryFolder()
        // The tool's options, with the pages to load, are no manifest.
        let manifests = try blocks(of: "json", in: page).filter { !$0.contains("\"pages\"") }
        for manifest in manifests {
            #expect(
                issuesOf(Data(manifest.utf8), named: "manifest.json", in: folder.url).filter { $0.code != .missingFile }
                    == []
            )
        }
    }

    @Test("The README is short, and each of its links leads to a file")
    func readme() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        let links = text.matches(of: /\]\(([^)#]+)\)|(?m)^\[\w+\]: (\S+)$/).compactMap { $0.output.1 ?? $0.output.2 }
        #expect(links.count > 15)
        for link in links where !link.hasPrefix("https://") {
            #expect(
                FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(String(link)).path),
                "\(link)"
            )
        }
    }

    /// The repository's Markdown files; `.github` is the only hidden folder that is searched.
    private static var documents: [String] {
        let found = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return found.filter { path in
            path.hasSuffix(".md") && !path.split(separator: "/").contains { $0.hasPrefix(".") && $0 != ".github" }
        }
        .sorted()
    }

    @Test("Each reference link is defined in its document, once and on a separate line", arguments: documents)
    func references(document: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(document), encoding: .utf8)
        // Code contains no links.
        let prose = text.replacing(/(?ms)^```.*?^```$/, with: "").replacing(/`[^`\n]*`/, with: "")
        let defined = prose.matches(of: /(?m)^\[([^\]\n]+)\]: +\S+$/).map { $0.output.1.lowercased() }
        #expect(Set(defined).count == defined.count, "defined twice: \(defined)")
        let lines = prose.matches(of: /(?m)^ {0,3}\[[^\]\n]+\]:(.*)$/).map(\.output.1)
        #expect(lines.count == defined.count, "a definition has more than an address: \(lines)")
        let used = Set(prose.matches(of: /\]\[([^\]\n]+)\]/).map { $0.output.1.lowercased() })
        #expect(used.subtracting(defined) == [], "used, and not defined")
        #expect(Set(defined).subtracting(used) == [], "defined, and not used")
    }

    @Test("The page shows who answers as it was measured on Linux")
    func answers() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        }
        let page = try text("\(Self.catalog)/WhenTheCacheIsAsked.md")
        let lines = try text("Tests/LocalSubstitutionCacheTests/Fixtures/WhoAnswers-Linux.txt").split(separator: "\n")
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
            let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
            return text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.map { row in
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

    @Test("The memory of an answered URL is what Benchmarks measured")
    func memory() throws {
        let table = try String(contentsOf: Self.root.appendingPathComponent("Benchmarks/README.md"), encoding: .utf8)
        let bytes = try #require(table.firstMatch(of: /entries, built\|(\d+) bytes/).flatMap { Double($0.output.1) })
        let page = try String(contentsOf: Self.root.appendingPathComponent("SECURITY.md"), encoding: .utf8)
        let told = try #require(page.firstMatch(of: /([\d.]+) KB for each answered/).flatMap { Double($0.output.1) })
        #expect(abs(told - bytes / 1000) <= 0.1)
    }

    /// A limit as a page tells it, and the line of code that sets it.
    ///
    /// The page is in the repository's root or is an article; the source file is given by its name.
    struct Limit: CustomTestStringConvertible {
        let page: String
        let words: String
        let source: String
        let code: String

        init(_ words: String, _ page: String, _ code: String, _ source: String) {
            (self.page, self.words, self.source, self.code) = (page, words, source, code)
        }

        var testDescription: String { "\(page): \(words)" }
    }

    static let limits = [
        Limit("200,000 URLs", "SECURITY.md", "urls = 200_000", "FileProblem.swift"),
        Limit("150 MB", "SECURITY.md", "bytes = 150_000_000", "FileProblem.swift"),
        Limit("1,000,000 names", "SECURITY.md", "names = 1_000_000", "FileProblem.swift"),
        Limit("a manifest of 16 MB", "SECURITY.md", "maximumSize: 16_000_000", "SubstitutionTable.swift"),
        Limit("100 MB of", "SECURITY.md", "copies = 100_000_000", "FileProblem.swift"),
        Limit("Files of 4 KB and above", "SECURITY.md", "mappingThreshold = 4 * 1024", "FileContents.swift"),
        Limit("files below 4 KB", "TestingYourApp.md", "mappingThreshold = 4 * 1024", "FileContents.swift"),
        Limit("mapped, 16,384 at most", "Benchmarks/README.md", "maximumMappings = 16_384", "FileContents.swift"),
        Limit("at most 200,000 URLs", "ManifestReference.md", "urls = 200_000", "FileProblem.swift"),
        Limit("at most 150 MB", "ManifestReference.md", "bytes = 150_000_000", "FileProblem.swift"),
        Limit(
            "a URL counts three times its length, each of its header fields its length and 64 bytes",
            "ManifestReference.md",
            "3 * (files * pattern.spelling.utf8.count + paths)",
            "ManifestResolver.swift"
        ),
        Limit("its length and 64 bytes", "ManifestReference.md", "$0 + 64 + $1.key.utf8.count", "ManifestEntry.swift"),
        Limit(
            "a path in a folder twice its length",
            "ManifestReference.md",
            "2 * (prefix.utf8.count + name.utf8.count)",
            "ManifestFolder.swift"
        ),
        Limit("at most 100 names", "ManifestReference.md", "maximumNames = 100", "QueryRule.swift"),
        Limit("for one URL at most 16 lists", "ManifestReference.md", "maximumRules = 16", "ManifestReader.swift"),
        Limit("A `type` has at most 1,000 bytes", "ManifestReference.md", "text.utf8.count <= 1000", "MediaType.swift"),
        Limit("a header's value 8,000", "ManifestReference.md", "bytes.count <= 8000", "ManifestReader+Fields.swift"),
        Limit("from 0 to 2⁵³ − 1", "ManifestReference.md", "0..<(1 << 53)", "ManifestReader.swift"),
        Limit("by its first 4 KB", "ManifestReference.md", "headLength = 4096", "FileFormat.swift"),
        Limit(
            "pictures over 5 MB",
            "ManifestReference.md",
            "pictureSize = 5_000 * 1024",
            "ContentRules+Pictures.swift"
        ),
        Limit("files over 20 MB", "ManifestReference.md", "largestSize = 20_000_000", "ScannedFile.swift"),
        Limit("up to 2 MB each and 20 MB", "TestingYourApp.md", "maximumBodySize = 2_000_000", "Recording.swift"),
        Limit("20 MB in total", "TestingYourApp.md", "maximumFileSize = 20_000_000", "Recording.swift"),
        Limit(
            "30,000 rules, 1,000 of them",
            "FromAPage.md",
            "(maximumRules, maximumExpressions) = (30_000, 1_000)",
            "WebExtension.swift"
        ),
        Limit("150,000 rules", "WebViews.md", "maximumRules = 150_000", "PageExtension.swift"),
        Limit("up to 64 MB", "WebViews.md", "longestBody = 64 << 20", "ForwardedHead.swift"),
        Limit("Swift 6.2", "README.md", "swift-tools-version: 6.2", "Package.swift"),
        Limit(
            "iOS 16, macOS 13, tvOS 16, watchOS 9, visionOS 1",
            "README.md",
            ".macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)",
            "Package.swift"
        ),
        Limit("twenty runs", "CONTRIBUTING.md", "runs=${1:-20}", "long"),
        Limit("30 combining marks", "CHANGELOG.md", "count > 30", "Quoting.swift"),
        Limit("up to 8 MB", "WebViews.md", "longestRewritten = 8 << 20", "ForwardedReply.swift"),
    ]

    /// The files in which limits are set.
    private static let sources: [String] = {
        let found = FileManager.default.enumerator(atPath: root.appendingPathComponent("Sources").path)
        let paths = found?.compactMap { $0 as? String }.map { "Sources/\($0)" } ?? []
        return paths + ["Package.swift", ".ci/long"]
    }()

    @Test("A limit that a page tells is the one in the code", arguments: limits)
    func limit(_ limit: Limit) throws {
        let files = [Self.root, Self.root.appendingPathComponent(Self.catalog)].map {
            $0.appendingPathComponent(limit.page)
        }
        let page = try #require(files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }.first)
        #expect(page.replacing(/\s+/, with: " ").contains(limit.words))
        let path = try #require(Self.sources.first { "/\($0)".hasSuffix("/\(limit.source)") })
        let source = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        #expect(source.contains(limit.code))
    }
}
