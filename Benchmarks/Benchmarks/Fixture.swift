import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A manifest and its files, in a temporary folder.
final class Fixture {
    let folder: URL
    let manifest: URL
    let urls: [URL]

    /// Writes a manifest with `count` entries, and its files.
    ///
    /// - Parameters:
    ///   - count: The number of entries.
    ///   - size: The length of each file, in bytes.
    ///   - sharesFile: True if all entries name one file.
    ///   - base: The beginning of all URLs.
    /// - Throws: An error if a file cannot be written.
    init(count: Int, size: Int, sharesFile: Bool = false, base: String = "https://example.com/assets") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Benchmarks-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        manifest = folder.appendingPathComponent("manifest.json")
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var lines: [String] = []
        var urls: [URL] = []
        for index in 0..<count {
            let file = sharesFile ? "file.png" : "file\(index).png"
            if index == 0 || !sharesFile { try data.write(to: folder.appendingPathComponent(file)) }
            let url = "\(base)/images/picture\(index).png"
            lines.append("  \"\(url)\": \"\(file)\"")
            if let url = URL(string: url) { urls.append(url) }
        }
        self.urls = urls
        try Data("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8).write(to: manifest)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func cache() throws -> SubstitutionCache { try SubstitutionCache(manifest: manifest) }
}

/// The lowest possible cost of an answer: one call for the URL's string, and one lookup in a dictionary.
final class Floor {
    private let responses: [String: CachedURLResponse]

    init(_ cache: URLCache, _ urls: [URL]) {
        let pairs = urls.compactMap { url in
            cache.cachedResponse(for: URLRequest(url: url)).map { (url.absoluteString, $0) }
        }
        responses = Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    @inline(never)
    func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        request.url.flatMap { responses[$0.absoluteString] }
    }
}

/// The technique of a substituting `URLCache`, as published in 2010.
///
/// The cache has a dictionary of paths. It reads a file on first use, and keeps the response in a second dictionary.
final class DirectPort: URLCache, @unchecked Sendable {
    private let paths: [String: String]
    private var responses: [String: CachedURLResponse] = [:]

    init(_ paths: [String: String]) {
        self.paths = paths
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let url = request.url else { return super.cachedResponse(for: request) }
        let spelling = url.absoluteString
        guard let path = paths[spelling] else { return super.cachedResponse(for: request) }
        if let response = responses[spelling] { return response }
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let response = URLResponse(
            url: url,
            mimeType: "image/png",
            expectedContentLength: data.count,
            textEncodingName: nil
        )
        let cached = CachedURLResponse(response: response, data: data)
        responses[spelling] = cached
        return cached
    }
}

/// Creates a plain `URLCache` in memory, and fills it with the responses of `cache` for `urls`.
func makeStockCache(_ cache: URLCache? = nil, _ urls: [URL] = []) -> URLCache {
    let stock = URLCache(memoryCapacity: 200_000_000, diskCapacity: 0, diskPath: nil)
    for url in urls {
        let request = URLRequest(url: url)
        if let response = cache?.cachedResponse(for: request) { stock.storeCachedResponse(response, for: request) }
    }
    return stock
}
