import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Reloading")
final class ReloadTests: CacheSuite {
    @Test("A reload picks up new files, and keeps the old table if the manifest is wrong")
    func reload() throws {
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let cache = try SubstitutionCache(
            manifest: folder.url.appendingPathComponent("manifest.json"),
            reading: .copied
        )
        let old = try #require(cache.cachedResponse(for: request()))
        try folder.write("new", to: "site.css")
        #expect(try cache.cachedResponse(for: request()) === old)
        try cache.reload()
        #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
        #expect(old.data == Data(body.utf8))

        let mistakes: [(String, ManifestIssue.Code)] = [
            (#"{ "https://example.com/site.css": "gone.css", }"#, .syntax),
            (#"{ "https://example.com/site.css": "gone.css" }"#, .missingFile),
        ]
        for (manifest, code) in mistakes {
            try folder.write(manifest, to: "manifest.json")
            let error = try #require(throws: ManifestError.self) { try cache.reload() }
            #expect(error.issues.map(\.code) == [code])
            #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
        }
    }
}
