import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Policies, storing and removing")
final class StoringTests: CacheSuite {
    @Test(
        "Policies keep their documented meaning",
        arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, true), (.returnCacheDataElseLoad, true),
            (.returnCacheDataDontLoad, true), (.reloadIgnoringLocalCacheData, false),
            (.reloadIgnoringLocalAndRemoteCacheData, false), (.reloadRevalidatingCacheData, false),
        ]
    )
    func policy(policy: URLRequest.CachePolicy, isAnswered: Bool) throws {
        let (cache, url) = (try cache(), "https://example.com/stored")
        cache.storeCachedResponse(try stored(url), for: try request(url))
        #expect(try (cache.cachedResponse(for: request(policy: policy)) != nil) == isAnswered)
        let other = try request(url, policy: policy)
        #expect((cache.cachedResponse(for: other) != nil) == isAnswered)
        cache.removeCachedResponse(for: other)
    }

    @Test("A request with Authorization is not answered from the manifest")
    func authorization() throws {
        for method in ["GET", "HEAD"] {
            let request = try request("https://example.com/site.css", method, ["authorization": "Basic eDp5"])
            #expect(try cache().cachedResponse(for: request) == nil)
        }
    }

    @Test("Storing and removing never touch a substitution, and work for everything else")
    func storing() throws {
        let conditional = #""https://example.com/c": { "file": "site.css", "when": 404 }"#
        let cache = try cache("{ \"https://example.com/site.css\": \"site.css\", \(conditional) }")
        let exact = try #require(cache.cachedResponse(for: request()))
        cache.storeCachedResponse(try stored("https://example.com/site.css"), for: try request())
        #expect(try cache.cachedResponse(for: request()) === exact)
        cache.removeCachedResponse(for: try request())
        for url in ["https://example.com/other", "https://example.com/c"] {
            cache.storeCachedResponse(try stored(url), for: try request(url))
            #expect(try cache.cachedResponse(for: request(url))?.data == Data("stored".utf8))
            cache.removeCachedResponse(for: try request(url))
            #expect(try cache.cachedResponse(for: request(url)) == nil)
        }
        cache.removeAllCachedResponses()
        cache.removeCachedResponses(since: .distantPast)
        #expect(try cache.cachedResponse(for: request()) === exact)
    }

    @Test("Storing or removing a response for a substituted URL does not reach URLCache")
    func notStored() throws {
        let cache = try cache()
        let before = cache.currentMemoryUsage
        // The result is the same for any policy, with and without credentials.
        for policy in [.useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData]
            as [URLRequest.CachePolicy]
        {
            for headers in [[:], ["Authorization": "Basic eDp5"]] {
                let request = try request("https://example.com/site.css", "GET", headers, policy: policy)
                cache.storeCachedResponse(try stored("https://example.com/site.css"), for: request)
                #expect(cache.currentMemoryUsage == before)
            }
        }
        // On Linux URLCache ignores the query. If the removal of the mapped URL's response reached URLCache, URLCache
        // would also remove this URL's response.
        let neighbour = try request("https://example.com/site.css?other")
        cache.storeCachedResponse(try stored("https://example.com/site.css?other"), for: neighbour)
        cache.removeCachedResponse(for: try request())
        #expect(cache.cachedResponse(for: neighbour)?.data == Data("stored".utf8))
        cache.removeCachedResponse(for: neighbour)
    }

    @Test("An answer may be stored in another cache, also on disk")
    func storedElsewhere() throws {
        let answer = try #require(cache().cachedResponse(for: request()))
        // URLCache encodes `userInfo` with the response, so everything in `userInfo` would have to be encodable.
        #expect(answer.userInfo == nil)
        let disk = folder.url.appendingPathComponent("disk").path
        let other = URLCache(memoryCapacity: 1_000_000, diskCapacity: 1_000_000, diskPath: disk)
        let elsewhere = try request("https://example.com/elsewhere")
        other.storeCachedResponse(answer, for: elsewhere)
        #expect(other.cachedResponse(for: elsewhere)?.data == answer.data)
    }

    private func stored(_ url: String) throws -> CachedURLResponse {
        let url = try #require(URL(string: url))
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let data = Data("stored".utf8)
        return CachedURLResponse(response: head, data: data, userInfo: nil, storagePolicy: .allowedInMemoryOnly)
    }
}
