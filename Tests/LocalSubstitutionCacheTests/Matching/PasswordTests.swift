import Foundation
import LocalSubstitutionDevelopment
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("No description contains a password")
struct PasswordTests {
    private static let urls = [
        "https://user:s3cr3t@h/a.css", "ftp://user:s3cr3t@h/", "https://h/a.css?next=https://user:s3cr3t@h/",
        "HTTPS://s3cr3t@h/", "https://www.h/A.css?u=//u:s3cr3t@h",
    ]

    /// Returns a table whose entries are similar to the tested URLs; some entries contain a nested URL.
    private func table(_ folder: TemporaryFolder) throws -> SubstitutionTable {
        let text = """
            { "https://h/a.css": "a.css", "https://h/b?next=https://user:s3cr3t@h/": "a.css",
              "https://h/c?next=https://user:s3cr3t@h/": { "file": "a.css", "until": "2020-01-01" } }
            """
        try folder.write("a", to: "a.css")
        return try SubstitutionTable(SubstitutionManifest(Data(text.utf8), name: "manifest.json"), folder: folder.url)
    }

    @Test(
        "An explanation contains no password",
        arguments: Self.urls + [
            "https://h/b?next=https://user:s3cr3t@h/", "https://h/c?next=https://user:s3cr3t@h/",
            "https://h/a?n=https%3A%2F%2Fuser%3As3cr3t%40h%2F",
            "https://h/\(String(repeating: "a", count: 180))/u:s3cr3t@h",
        ]
    )
    func explanation(text: String) throws {
        let folder = try TemporaryFolder()
        let table = try table(folder)
        for method in ["GET", "POST", text] {
            var request = URLRequest(url: try #require(URL(string: text)))
            request.httpMethod = method
            let explanation = table.explain(request)
            #expect(!explanation.description.contains("s3cr3t"))
            #expect(!"\(explanation)".contains("s3cr3t"))
            if let substitution = explanation.substitution { #expect(!"\(substitution)".contains("s3cr3t")) }
        }
    }

    @Test("A manifest's error contains no password", arguments: Self.urls)
    func manifest(text: String) throws {
        let folder = try TemporaryFolder()
        let manifest = Data("{ \"\(text)\": \"missing.css\", \"//h\": \"\(text)\" }".utf8)
        let error = try #require(throws: ManifestError.self) {
            try LocalSubstitutionCache(manifestData: manifest, folder: folder.url)
        }
        #expect(!"\(error) \(error.localizedDescription)".contains("s3cr3t"))
        for issue in error.issues { #expect(!"\(issue) \(issue.message)".contains("s3cr3t")) }
        let remote = try #require(throws: ManifestError.self) {
            try LocalSubstitutionCache(manifest: #require(URL(string: text)))
        }
        #expect(!"\(remote) \(remote.localizedDescription)".contains("s3cr3t"))
    }

    @Test(
        "For a developer, the issues of a manifest contain no password in any spelling",
        arguments: Self.urls + [
            "https://h/a?n=https%3A%2F%2Fuser%3As3cr3t%40h%2F", "https:/user:s3cr3t@h/", "user:s3cr3t@h/a.css",
            "https:user:\(String(repeating: "s3cr3t", count: 50))@h/a.css", "https://user:s3cr3t/a@h/",
        ]
    )
    func issues(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("{ \"\(text)\": \"missing.css\", \"//h\": \"\(text)\" }", to: "manifest.json")
        let issues = try ManifestIssue.all(in: folder.url.appendingPathComponent("manifest.json"))
        #expect(!issues.isEmpty)
        for issue in issues { #expect(!"\(issue) \(issue.message)".contains("s3cr3t")) }
    }
}
