import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("The cache")
final class CacheTests: CacheSuite {
    private var manifest: URL { folder.url.appendingPathComponent("manifest.json") }

    private func fields(_ response: CachedURLResponse?) throws -> [String: String]? {
        try head(response).allHeaderFields as? [String: String]
    }

    @Test("A request spelled as in the manifest gets the same instance each time, whatever its other headers")
    func sameInstance() throws {
        let cache = try cache()
        let first = try #require(cache.cachedResponse(for: request()))
        for header in ["Accept", "If-None-Match", "If-Modified-Since", "Cache-Control", "Pragma"] {
            let request = try request("https://example.com/site.css", "GET", [header: "no-cache"])
            #expect(cache.cachedResponse(for: request) === first)
        }
    }

    @Test("The head describes the body and names its source")
    func headFields() throws {
        let head = try head(cache().cachedResponse(for: request()))
        #expect(head.statusCode == 200)
        #expect(head.url?.absoluteString == "https://example.com/site.css")
        #expect(head.expectedContentLength == Int64(body.utf8.count))
        #expect(head.mimeType == "text/css")
        // Foundation on Linux spells the field "Etag".
        let named = (head.allHeaderFields as? [String: String] ?? [:]).map { ($0.key.lowercased(), $0.value) }
        let tag = try #require(head.value(forHTTPHeaderField: "ETag"))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 10)
        #expect(
            Dictionary(uniqueKeysWithValues: named) == [
                "accept-ranges": "bytes", "access-control-allow-origin": "*", "cache-control": "max-age=31536000",
                "cache-status": "LocalSubstitutionCache; hit; detail=\"site.css\"",
                "content-length": String(body.utf8.count), "content-type": "text/css; charset=utf-8", "etag": tag,
            ]
        )
    }

    @Test("The entry's type and headers are sent, and null removes Access-Control-Allow-Origin")
    func entryFields() throws {
        let manifest = """
            { "https://example.com/a": { "file": "site.css", "type": "application/json", "headers": { "X-A": "b" } },
              "https://example.com/b": { "file": "site.css", "headers": { "ACCESS-Control-allow-origin": null } },
              "https://example.com/c": { "file": "site.css", "headers": { "access-control-allow-origin": "https://x" } } }
            """
        let cache = try cache(manifest)
        let requests = try ["a", "b", "c"].map { try request("https://example.com/" + $0) }
        let heads = try requests.map { try head(cache.cachedResponse(for: $0)) }
        #expect(heads[0].value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(heads[0].value(forHTTPHeaderField: "X-A") == "b")
        #expect(heads.map { $0.value(forHTTPHeaderField: "Access-Control-Allow-Origin") } == ["*", nil, "https://x"])
    }

    @Test("Cache-Status holds only characters that a structured field allows")
    func cacheStatus() throws {
        for (file, detail) in [("a b.css", "a b.css"), (#"q"uote.css"#, "q%22uote.css"), ("é.css", "%C3%A9.css")] {
            try folder.write("x", to: file)
            let manifest = try JSONEncoder().encode(["https://example.com/x": file])
            let cache = try SubstitutionCache(manifestData: manifest, folder: folder.url)
            let status = try head(cache.cachedResponse(for: request("https://example.com/x")))
                .value(forHTTPHeaderField: "Cache-Status")
            #expect(status == "LocalSubstitutionCache; hit; detail=\"\(detail)\"")
        }
    }

    @Test("Another spelling gets the same bytes under its own URL")
    func otherSpelling() throws {
        let cache = try cache()
        let exact = try #require(cache.cachedResponse(for: request()))
        func start(of data: Data) -> UnsafeRawPointer? { data.withUnsafeBytes { $0.baseAddress } }
        for path in ["example.com/site.css#top", "EXAMPLE.com:443/%73ite.css", "example.com/x/../site.css"] {
            let other = try #require(cache.cachedResponse(for: request("https://" + path)))
            #expect(other.response.url?.absoluteString == "https://" + path)
            #expect(try fields(other) == fields(exact))
            #expect(start(of: other.data) == start(of: exact.data))
        }
    }

    @Test(
        "A key that Foundation spells differently is still answered with one instance",
        arguments: [
            "https://example.com/\u{E9}", "https://example.com/e\u{301}", "https://example.com/?a[]=1|2",
            "HTTPS://Example.com", "//h/\u{E9}",
        ]
    )
    func spelling(key: String) throws {
        let cache = try SubstitutionCache(manifestData: JSONEncoder().encode([key: "site.css"]), folder: folder.url)
        let url = key.hasPrefix("//") ? "https:" + key : key
        let request = try request(url.precomposedStringWithCanonicalMapping)
        let first = try #require(cache.cachedResponse(for: request))
        #expect(cache.cachedResponse(for: request) === first)
    }

    @Test("HEAD gets the same head and no body, and ignores Range")
    func headRequest() throws {
        let cache = try cache()
        let whole = try cache.cachedResponse(for: request())
        for headers in [[:], ["Range": "bytes=0-1"]] {
            let response = try cache.cachedResponse(for: request("https://example.com/site.css", "HEAD", headers))
            #expect(response?.data == Data())
            #expect(try head(response).statusCode == 200)
            #expect(try fields(response) == fields(whole))
        }
    }

    @Test("A request without an entry, or with another method, a user name or another scheme is left alone")
    func leftAlone() throws {
        let cache = try cache()
        for url in ["https://example.com/other", "http://example.com/site.css", "https://me@example.com/site.css"] {
            #expect(try cache.cachedResponse(for: request(url)) == nil)
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            #expect(try cache.cachedResponse(for: request("https://example.com/site.css", method)) == nil)
        }
    }

    @Test("A reload picks up new files, and keeps the old table if the manifest is wrong")
    func reload() throws {
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
        let old = try #require(cache.cachedResponse(for: request()))
        try folder.write("new", to: "site.css")
        #expect(try cache.cachedResponse(for: request()) === old)
        try cache.reload()
        #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
        #expect(old.data == Data(body.utf8))
        let mistakes: [(String, ManifestIssue.Code)] = [("\"gone.css\",", .syntax), ("\"gone.css\"", .missingFile)]
        for (mistake, code) in mistakes {
            try folder.write("{ \"https://example.com/site.css\": \(mistake) }", to: "manifest.json")
            let error = try #require(throws: ManifestError.self) { try cache.reload() }
            #expect(error.issues.map(\.code) == [code])
            #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
        }
    }

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

    /// A regression test: the construction failed on Apple's platforms in the past.
    ///
    /// So `.ci/apple` runs this test before all others.
    @Test("A cache can be constructed, from a bundle, from a file and from memory")
    func constructed() throws {
        _ = try SubstitutionCache(bundle: .module)
        try folder.write("{}", to: "manifest.json")
        _ = try SubstitutionCache(manifest: manifest)
        _ = try folder.cache("{}")
    }
}
