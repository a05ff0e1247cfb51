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

    static let pages = [
        "README.md", "\(catalog)/LocalSubstitutionCache.md", "\(catalog)/GuideForDesigners.md",
        "\(catalog)/WhenTheCacheIsAsked.md", "\(catalog)/ManifestReference.md", "\(catalog)/TestingYourApp.md",
        "\(catalog)/FromAPage.md",
    ]

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
        #expect(!code.isEmpty || ["Designers.md", "Reference.md"].contains(where: page.hasSuffix))
        for block in code {
            #expect(snippets.contains { $0.contains(trimmed(block)) }, "not in a snippet: \(block)")
        }
    }

    @Test("All manifests in the documentation are valid, except that their files do not exist", arguments: pages)
    func manifests(page: String) throws {
        let folder = try TemporaryFolder()
        // The tool's options, with the pages to load, are no manifest.
        let manifests = try blocks(of: "json", in: page).filter { !$0.contains("\"pages\"") }
        #expect(
            !manifests.isEmpty
                || ["Cache.md", "Asked.md", "App.md", "APage.md"].contains(where: page.hasSuffix)
        )
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
        for link in links {
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
}
