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
    @Test("A request spelled as in the manifest gets the same instance each time, whatever its other headers")
    func sameInstance() throws {
        let cache = try cache()
        let first = try #require(cache.cachedResponse(for: request()))
        #expect(try cache.cachedResponse(for: request()) === first)
        #expect(
            try cache.cachedResponse(for: request("https://example.com/site.css", "GET", ["Accept": "*/*"])) === first
        )
        for header in ["If-None-Match", "If-Modified-Since", "Cache-Control", "Pragma"] {
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
        let fields = Dictionary(uniqueKeysWithValues: named)
        let tag = try #require(head.value(forHTTPHeaderField: "ETag"))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 10)
        #expect(
            fields == [
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
              "https://example.com/b": { "file": "site.css", "headers": { "access-control-allow-origin": null } },
              "https://example.com/c": { "file": "site.css", "headers": { "access-control-allow-origin": "https://x" } } }
            """
        let cache = try cache(manifest)
        let a = try head(cache.cachedResponse(for: request("https://example.com/a")))
        #expect(a.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(a.value(forHTTPHeaderField: "X-A") == "b")
        #expect(a.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "*")
        let b = try head(cache.cachedResponse(for: request("https://example.com/b")))
        #expect(b.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == nil)
        let c = try head(cache.cachedResponse(for: request("https://example.com/c")))
        #expect(c.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "https://x")
    }

    @Test(
        "Cache-Status holds only characters that a structured field allows",
        arguments: [
            ("a b.css", "a b.css"), (#"q"uote.css"#, "q%22uote.css"), ("é.css", "%C3%A9.css"),
            ("😀.css", "%F0%9F%98%80.css"),
        ]
    )
    func cacheStatus(file: String, detail: String) throws {
        try folder.write("x", to: file)
        let manifest = try JSONEncoder().encode(["https://example.com/x": file])
        let cache = try SubstitutionCache(manifestData: manifest, folder: folder.url)
        let head = try head(cache.cachedResponse(for: request("https://example.com/x")))
        #expect(
            head.value(forHTTPHeaderField: "Cache-Status") == "LocalSubstitutionCache; hit; detail=\"\(detail)\""
        )
    }

    @Test(
        "Another spelling gets the same bytes under its own URL",
        arguments: [
            "HTTPS://example.com/site.css", "https://EXAMPLE.com:443/%73ite.css", "https://example.com/x/../site.css",
            "https://example.com/site.css#top",
        ]
    )
    func otherSpelling(url: String) throws {
        let cache = try cache()
        let exact = try #require(cache.cachedResponse(for: request()))
        let other = try #require(cache.cachedResponse(for: request(url)))
        #expect(other !== exact)
        #expect(other.response.url?.absoluteString == url)
        #expect(
            try head(other).allHeaderFields as? [String: String] == head(exact).allHeaderFields as? [String: String]
        )
        #expect(start(of: other.data) == start(of: exact.data))
    }

    @Test(
        "A key that Foundation spells differently is still answered with one instance",
        arguments: [
            "https://example.com/\u{E9}", "https://example.com/e\u{301}", "https://example.com/?a[]=1|2",
            "HTTPS://Example.com", "//h/\u{E9}",
        ]
    )
    func spelling(key: String) throws {
        let cache = try SubstitutionCache(
            manifestData: JSONEncoder().encode([key: "site.css"]),
            folder: folder.url
        )
        let url = key.hasPrefix("//") ? "https:" + key : key
        let request = try request(url.precomposedStringWithCanonicalMapping)
        let first = try #require(cache.cachedResponse(for: request))
        #expect(cache.cachedResponse(for: request) === first)
    }

    @Test("HEAD gets the same head and no body, and ignores Range")
    func headRequest() throws {
        let cache = try cache()
        let whole = try head(cache.cachedResponse(for: request()))
        for headers in [[:], ["Range": "bytes=0-1"]] {
            let response = try cache.cachedResponse(for: request("https://example.com/site.css", "HEAD", headers))
            #expect(response?.data == Data())
            #expect(try head(response).statusCode == 200)
            #expect(
                try head(response).allHeaderFields as? [String: String] == whole.allHeaderFields as? [String: String]
            )
        }
    }

    @Test("A request without an entry, or with another method, a user name or another scheme is left alone")
    func leftAlone() throws {
        let cache = try cache()
        #expect(try cache.cachedResponse(for: request("https://example.com/other")) == nil)
        #expect(try cache.cachedResponse(for: request("https://other.example/site.css")) == nil)
        #expect(try cache.cachedResponse(for: request("http://example.com/site.css")) == nil)
        #expect(try cache.cachedResponse(for: request("https://me@example.com/site.css")) == nil)
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            #expect(try cache.cachedResponse(for: request("https://example.com/site.css", method)) == nil)
        }
    }

    /// A regression test: the construction failed on Apple's platforms in the past.
    ///
    /// So `.ci/apple` runs this test before all others.
    @Test("A cache can be constructed, from a bundle, from a file and from memory")
    func constructed() throws {
        _ = try SubstitutionCache(bundle: .module)
        try folder.write("{}", to: "manifest.json")
        _ = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        _ = try folder.cache("{}")
    }

    private func start(of data: Data) -> UnsafeRawPointer? {
        data.withUnsafeBytes { $0.baseAddress }
    }
}
