public import LocalSubstitutionCache
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A suite whose folder contains one stylesheet.
open class CacheSuite {
    /// The suite's folder; removed with the suite's instance.
    public let folder: TemporaryFolder
    /// The text of `site.css`.
    public let body = "body { margin: 0 } /* long enough to be more than a few words, which Data keeps in itself */\n"

    /// Creates the folder and writes the stylesheet.
    public init() throws {
        folder = try TemporaryFolder()
        try folder.write(body, to: "site.css")
    }

    /// Returns a cache for a manifest, which by default maps the stylesheet.
    public func cache(
        _ manifest: String = #"{ "https://example.com/site.css": "site.css" }"#
    ) throws -> SubstitutionCache { try folder.cache(manifest) }

    open func request(
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

    /// Returns the HTTP response that is part of a cached response; throws if there is none.
    public func head(_ response: CachedURLResponse?) throws -> HTTPURLResponse {
        try #require(response?.response as? HTTPURLResponse)
    }
}

extension TemporaryFolder {
    /// Returns a cache for the manifest in `text`, which is not written to disk.
    package func cache(_ text: String, reading: ReadingMode = .mapped) throws -> SubstitutionCache {
        try SubstitutionCache(manifestData: Data(text.utf8), folder: url, reading: reading)
    }
}
