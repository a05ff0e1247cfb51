import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("The extension of web views")
final class PageExtensionTests: CacheSuite {
    private func pages(_ manifest: String, maximum: Int = PageExtension.maximumRules) throws -> PageExtension {
        try PageExtension(cache(manifest).substitutions, name: "manifest.json", maximum: maximum)
    }

    @Test("Each rule redirects a URL to its mirror, and the extension requests no other permission")
    func rules() throws {
        let pages = try pages(
            """
            { "//h/a.css": "site.css", "https://h/b": { "file": "site.css", "type": "font/woff2", "headers": { "X": "1" } },
              "https://h/c": { "file": "site.css", "when": "offline" } }
            """
        )
        let json = try #require(pages.files["rules.json"])
        let rules = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        let filters = [
            #"^https://substitution\.invalid/self-test$"#, #"^https://h/a\.css$"#, #"^http://h/a\.css$"#,
            #"^https://h/b$"#, #"^https://h/b#.*"#,
        ]
        #expect(rules.compactMap { $0["id"] as? Int } == Array(1...filters.count))
        for (rule, filter) in zip(rules, filters) {
            let action = try #require(rule["action"] as? [String: Any])
            #expect(action["type"] as? String == "redirect")
            #expect(action["redirect"] as? [String: String] == ["regexSubstitution": #"substitution-\0"#])
            let condition = try #require(rule["condition"] as? [String: Any])
            #expect(condition["regexFilter"] as? String == filter && condition.count == 3)
            #expect(condition["isUrlFilterCaseSensitive"] as? Bool == true)
            #expect(condition["excludedResourceTypes"] as? [String] == ["main_frame", "sub_frame", "object"])
        }
        #expect(pages.omissions.map(\.line) == [2])
        let manifest = try JSONSerialization.jsonObject(with: try #require(pages.files["manifest.json"]))
        #expect((manifest as? [String: Any])?["permissions"] as? [String] == ["declarativeNetRequestWithHostAccess"])
    }

    @Test("A manifest has its own folder, which is repaired; one that cannot be written is an error with its path")
    func folders() throws {
        let caches = folder.url.appendingPathComponent("Caches")
        let manifest = #"{ "https://h/a": "site.css" }"#
        let first = try pages(manifest).write(below: caches)
        let rules = first.appendingPathComponent("rules.json")
        let date = { try FileManager.default.attributesOfItem(atPath: rules.path)[.modificationDate] as? Date }
        let (text, written) = (try Data(contentsOf: rules), try date())
        #expect(try pages(manifest).write(below: caches) == first)
        #expect(try date() == written)
        for damaged in ["[", nil] {
            try FileManager.default.removeItem(at: rules)
            try damaged.map { try Data($0.utf8).write(to: rules) }
            #expect(try pages(manifest).write(below: caches) == first)
            #expect(try Data(contentsOf: rules) == text)
        }
        #expect(try pages(#"{ "https://h/b": "site.css" }"#).write(below: caches) != first)
        let error = #expect(throws: (any Error).self) { try self.pages(manifest).write(below: rules) }
        #expect(error.map { "\($0)" }?.contains(rules.path) == true)
    }

    @Test("More rules than WebKit accepts are an error that names the costliest entry")
    func tooMany() throws {
        let manifest = """
            { "https://h/a": "site.css",
              "//h/b": { "file": "site.css", "ignoreQuery": true } }
            """
        #expect(try pages(manifest, maximum: 6).files.count == 2)
        let error = #expect(throws: ManifestError.self) { try self.pages(manifest, maximum: 5) }
        #expect(
            error?.description
                == #"manifest.json:2:3: error: its URLs need 6 rules, but WebKit accepts 5; most are needed by "//h/b""#
        )
    }
}
