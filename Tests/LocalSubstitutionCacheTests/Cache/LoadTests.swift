import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@Suite("Loading off the caller's thread")
final class LoadTests: CacheSuite {
    @Test("A cache can be created off the main actor, as each initialiser creates it")
    @MainActor func load() async throws {
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let (folder, manifest) = (folder.url, folder.url.appendingPathComponent("manifest.json"))
        let text = try Data(contentsOf: manifest)
        let caches = [
            try await SubstitutionCache.load(manifest: manifest),
            try await SubstitutionCache.load(manifest: manifest, reading: .copied),
            try await SubstitutionCache.load(manifestData: text, folder: folder),
            // In an asynchronous function, an initialiser is still called without `await`.
            try SubstitutionCache(manifest: manifest),
        ]
        for cache in caches { #expect(cache.substitutions.count == 1) }
    }
}
