public import LocalSubstitutionCache
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A folder with one style sheet, and caches of manifests that name it.
open class CacheSuite {
    /// Removed with the suite's instance.
    public let folder: TemporaryFolder
    /// The text of `site.css`.
    public let body = "body { margin: 0 } /* long enough to be more than a few words, which Data keeps in itself */\n"

    /// Writes the style sheet.
    public init() throws {
        folder = try TemporaryFolder()
        try folder.write(body, to: "site.css")
    }

    /// A cache of a manifest; without one it maps the style sheet.
    public func cache(_ manifest: String = #"{ "https://example.com/site.css": "site.css" }"#) throws
        -> LocalSubstitutionCache
    {
        try folder.cache(manifest)
    }

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

    /// The head of a response that is there.
    public func head(_ response: CachedURLResponse?) throws -> HTTPURLResponse {
        try #require(response?.response as? HTTPURLResponse)
    }
}

extension TemporaryFolder {
    /// A cache of the manifest in `text`, which is not written to disk.
    package func cache(
        _ text: String,
        reading: ReadingMode = .mapped
    ) throws -> LocalSubstitutionCache {
        try LocalSubstitutionCache(manifestData: Data(text.utf8), folder: url, reading: reading)
    }
}
