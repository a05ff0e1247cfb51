import Foundation
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// A folder with one style sheet, and caches of manifests that name it.
class CacheSuite {
    let folder: TemporaryFolder
    let body = "body { margin: 0 } /* long enough to be more than a few words, which Data keeps in itself */\n"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(body, to: "site.css")
    }

    func cache(_ manifest: String = #"{ "https://example.com/site.css": "site.css" }"#) throws
        -> LocalSubstitutionCache
    {
        try folder.cache(manifest)
    }

    func request(
        _ url: String = "https://example.com/site.css",
        _ method: String = "GET",
        _ headers: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)), cachePolicy: policy)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    func head(_ response: CachedURLResponse?) throws -> HTTPURLResponse {
        try #require(response?.response as? HTTPURLResponse)
    }
}
