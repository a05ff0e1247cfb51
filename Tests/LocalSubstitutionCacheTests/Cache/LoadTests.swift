import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@Suite("Loading off the caller's thread")
final class LoadTests: CacheSuite {
    private nonisolated static func make(_ manifest: URL) throws(ManifestError) -> SubstitutionCache {
        #expect(!Thread.isMainThread)
        return try SubstitutionCache(manifest: manifest)
    }

    @Test("Each initialiser can run off the main actor")
    @MainActor func load() async throws {
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let (folder, manifest) = (folder.url, folder.url.appendingPathComponent("manifest.json"))
        let text = try Data(contentsOf: manifest)
        let caches = [
            try await SubstitutionCache.load(Self.make(manifest)),
            try await SubstitutionCache.load(.init(manifest: manifest, reading: .copied)),
            try await SubstitutionCache.load(.init(manifestData: text, folder: folder)),
            // In an asynchronous function, an initialiser is still called without `await`.
            try SubstitutionCache(manifest: manifest),
        ]
        for cache in caches { #expect(cache.substitutions.count == 1) }
    }

    @Test("The error of an initialiser keeps its type")
    @MainActor func error() async {
        do throws(ManifestError) {
            _ = try await SubstitutionCache.load(.init(bundle: .main))
            Issue.record("the test has a manifest")
        } catch {
            #expect(error.issues.count == 1)
        }
    }
}
