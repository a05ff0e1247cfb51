import Foundation
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("The cache")
struct CacheTests {
    private let folder: TemporaryFolder
    private let body = "body { margin: 0 } /* long enough to be more than a few words, which Data keeps in itself */\n"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(body, to: "site.css")
    }

    private func cache(_ manifest: String = #"{ "https://example.com/site.css": "site.css" }"#) throws
        -> LocalSubstitutionCache
    {
        try folder.cache(manifest)
    }

    private func request(
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

    private func head(_ response: CachedURLResponse?) throws -> HTTPURLResponse {
        try #require(response?.response as? HTTPURLResponse)
    }

    // MARK: - What is answered

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

    @Test("The head says what is sent, and where it came from")
    func headFields() throws {
        let head = try head(cache().cachedResponse(for: request()))
        #expect(head.statusCode == 200)
        #expect(head.url?.absoluteString == "https://example.com/site.css")
        #expect(head.expectedContentLength == Int64(body.utf8.count))
        #expect(head.mimeType == "text/css")
        // Linux writes "Etag".
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
        "Cache-Status holds only what a structured field may hold",
        arguments: [
            ("a b.css", "a b.css"), (#"q"uote.css"#, #"q\"uote.css"#), ("é.css", "%C3%A9.css"),
            ("😀.css", "%F0%9F%98%80.css"),
        ]
    )
    func cacheStatus(file: String, detail: String) throws {
        try folder.write("x", to: file)
        let manifest = try JSONEncoder().encode(["https://example.com/x": file])
        let cache = try LocalSubstitutionCache(manifest: manifest, folder: folder.url)
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
        let cache = try LocalSubstitutionCache(
            manifest: JSONEncoder().encode([key: "site.css"]),
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

    @Test("A URL that no entry names, another method, a user name and another scheme are left alone")
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

    /// What Apple's platforms did not let happen; `.ci/apple` asks this first.
    @Test("A cache can be constructed, from a bundle, from a file and from memory")
    func constructed() throws {
        _ = try LocalSubstitutionCache(bundle: .module)
        try folder.write("{}", to: "manifest.json")
        _ = try LocalSubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        _ = try folder.cache("{}")
    }

    // MARK: - Ranges

    /// A file that is mapped, and its bytes.
    private func makeLargeFile() throws -> Data {
        let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: ($0 &* 7) >> 4) })
        try folder.write(bytes, to: "large.bin")
        return bytes
    }

    private let largeManifest = #"{ "https://example.com/l": "large.bin" }"#

    private func large(_ range: String? = nil, from cache: LocalSubstitutionCache) throws -> Data {
        let request = try request("https://example.com/l", "GET", range.map { ["Range": $0] } ?? [:])
        return try #require(cache.cachedResponse(for: request)).data
    }

    @Test("A satisfiable range gets a 206 with its bytes, indices from 0")
    func range() throws {
        let request = try request("https://example.com/site.css", "GET", ["Range": "bytes=5-29"])
        let part = try #require(cache().cachedResponse(for: request))
        #expect(try head(part).statusCode == 206)
        #expect(try head(part).value(forHTTPHeaderField: "Content-Range") == "bytes 5-29/\(body.utf8.count)")
        #expect(try head(part).value(forHTTPHeaderField: "Content-Length") == "25")
        #expect(part.data == Data(body.utf8.dropFirst(5).prefix(25)))
        #expect(part.data.startIndex == 0)
    }

    @Test("Parts of a mapped file, copied or mapped themselves, have the right bytes", arguments: parts)
    func partOfMapped(range: ClosedRange<Int>) throws {
        let bytes = try makeLargeFile()
        let part = try large("bytes=\(range.lowerBound)-\(range.upperBound)", from: cache(largeManifest))
        #expect(part == bytes[range])
        #expect(part.startIndex == 0)
    }

    private static let parts: [ClosedRange<Int>] = [0, 1, 4095, 4096, 4097, 300_000].flatMap { start in
        [1, 4096, MappedFile.partThreshold - 1, MappedFile.partThreshold, MappedFile.partThreshold + 5].map {
            start...(start + $0 - 1)
        }
    }

    @Test("A part of a mapped file is the one that was loaded, whatever lies there by now", arguments: [false, true])
    func partOfReplaced(isGone: Bool) throws {
        let bytes = try makeLargeFile()
        let cache = try cache(largeManifest)
        let file = folder.url.appendingPathComponent("large.bin")
        try FileManager.default.removeItem(at: file)
        if !isGone { try folder.write(Data(count: bytes.count), to: "large.bin") }
        #expect(try large("bytes=5-500000", from: cache) == bytes[5...500_000])
    }

    @Test(
        "After reloads with ranges of a replaced file the old versions are let go",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/maps"), "needs /proc")
    )
    func oldVersions() throws {
        let manifest = folder.url.appendingPathComponent("manifest.json")
        try folder.write(largeManifest, to: "manifest.json")
        _ = try makeLargeFile()
        let cache = try LocalSubstitutionCache(manifest: manifest)
        for _ in 0..<20 {
            let bytes = try Data(contentsOf: folder.url.appendingPathComponent("large.bin"))
            try bytes.write(to: folder.url.appendingPathComponent("large.bin"), options: .atomic)
            try cache.reload()
            for range in ["bytes=1000-1999", "bytes=1000-400000"] { _ = try large(range, from: cache) }
        }
        let path = folder.url.resolvingSymlinksInPath().appendingPathComponent("large.bin").path
        // Foundation takes the length of such a file for nothing.
        let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps")).readToEnd() ?? Data()
        #expect(String(decoding: maps, as: UTF8.self).split(separator: "\n").count { $0.contains(path) } == 1)
    }

    @Test("Changing the bytes of an answer in place changes no other answer", arguments: [ReadingMode.mapped, .copied])
    func mutation(reading: ReadingMode) throws {
        let bytes = try makeLargeFile()
        var cache: LocalSubstitutionCache? = try folder.cache(largeManifest, reading: reading)
        let ranges = [nil, "bytes=10-99", "bytes=50-149", "bytes=10-500000", "bytes=5-500000"]
        let expected = [bytes, bytes[10...99], bytes[50...149], bytes[10...500_000], bytes[5...500_000]]
        // Once while the cache has the bytes too, and once when it is gone.
        for _ in 0..<2 {
            var answers = try ranges.map { try large($0, from: #require(cache)) }
            let later = cache
            cache = nil
            for index in answers.indices {
                answers[index][0] = 255
                #expect(answers[index].dropFirst() == expected[index].dropFirst())
                for other in answers.indices where other > index { #expect(answers[other] == expected[other]) }
            }
            if let later { #expect(try ranges.map { try large($0, from: later) } == expected) }
            cache = try folder.cache(largeManifest, reading: reading)
        }
    }

    @Test(
        "Changing an answer in place after a reload changes no other answer",
        arguments: [ReadingMode.mapped, .copied]
    )
    func mutationAfterReload(reading: ReadingMode) throws {
        let bytes = try makeLargeFile()
        let cache = try folder.cache(largeManifest, reading: reading)
        let whole = try large(from: cache)
        var part = try large("bytes=10-500000", from: cache)
        let other = try large("bytes=5-500000", from: cache)
        try cache.reload()
        part[0] = 255
        #expect(whole == bytes)
        #expect(other == bytes[5...500_000])
        #expect(part.first == 255)
    }

    @Test(
        "If-Range lets the range through only when it is our strong validator",
        arguments: [
            ("", 206), ("W/", 200), ("x", 200),
        ]
    )
    func ifRange(prefix: String, status: Int) throws {
        let cache = try cache()
        let tag = try #require(head(cache.cachedResponse(for: request())).value(forHTTPHeaderField: "ETag"))
        let request = try request(
            "https://example.com/site.css",
            "GET",
            ["Range": "bytes=0-1", "If-Range": prefix + tag]
        )
        #expect(try head(cache.cachedResponse(for: request)).statusCode == status)
    }

    @Test(
        "A range that is not one gets the prepared whole",
        arguments: ["bytes=9999-", "bytes=0-1,3-4", "items=0-1", "x"]
    )
    func noRange(range: String) throws {
        let cache = try cache()
        let response = try cache.cachedResponse(for: request("https://example.com/site.css", "GET", ["Range": range]))
        #expect(try response === cache.cachedResponse(for: request()))
        #expect(try head(response).statusCode == 200)
        #expect(response?.data == Data(body.utf8))
    }

    @Test("An empty file is answered, also when a range of it is asked for")
    func empty() throws {
        try folder.write("", to: "empty.txt")
        let cache = try cache(#"{ "https://example.com/e": "empty.txt" }"#)
        for headers in [[:], ["Range": "bytes=0-"]] {
            let response = try cache.cachedResponse(for: request("https://example.com/e", "GET", headers))
            #expect(try head(response).statusCode == 200)
            #expect(try head(response).value(forHTTPHeaderField: "Content-Length") == "0")
            #expect(response?.data == Data())
        }
    }

    // MARK: - Policies, storing, removing

    @Test(
        "Policies keep their documented meaning",
        arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, true), (.returnCacheDataElseLoad, true),
            (.returnCacheDataDontLoad, true), (.reloadIgnoringLocalCacheData, false),
            (.reloadIgnoringLocalAndRemoteCacheData, false), (.reloadRevalidatingCacheData, false),
        ]
    )
    func policy(policy: URLRequest.CachePolicy, isAnswered: Bool) throws {
        let cache = try cache()
        let stored = try stored("https://example.com/stored")
        cache.storeCachedResponse(stored, for: try request("https://example.com/stored"))
        #expect(try (cache.cachedResponse(for: request(policy: policy)) != nil) == isAnswered)
        let other = try request("https://example.com/stored", policy: policy)
        #expect((cache.cachedResponse(for: other) != nil) == isAnswered)
        cache.removeCachedResponse(for: other)
    }

    @Test("A request with Authorization is not answered from the manifest")
    func authorization() throws {
        let cache = try cache()
        for method in ["GET", "HEAD"] {
            let request = try request("https://example.com/site.css", method, ["authorization": "Basic eDp5"])
            #expect(cache.cachedResponse(for: request) == nil)
        }
    }

    @Test("Storing and removing never touch a substitution, and work for everything else")
    func storing() throws {
        let cache = try cache(
            #"{ "https://example.com/site.css": "site.css", "https://example.com/c": { "file": "site.css", "when": 404 } }"#
        )
        let exact = try #require(cache.cachedResponse(for: request()))
        cache.storeCachedResponse(try stored("https://example.com/site.css"), for: try request())
        #expect(try cache.cachedResponse(for: request()) === exact)
        cache.removeCachedResponse(for: try request())
        #expect(try cache.cachedResponse(for: request()) === exact)
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

    @Test("What is stored or removed for a substituted URL does not reach URLCache")
    func notStored() throws {
        let cache = try cache()
        let before = cache.currentMemoryUsage
        cache.storeCachedResponse(try stored("https://example.com/site.css"), for: try request())
        #expect(cache.currentMemoryUsage == before)
        // On Linux URLCache does not look at the query, so this would be removed with the other.
        let neighbour = try request("https://example.com/site.css?other")
        cache.storeCachedResponse(try stored("https://example.com/site.css?other"), for: neighbour)
        cache.removeCachedResponse(for: try request())
        #expect(cache.cachedResponse(for: neighbour)?.data == Data("stored".utf8))
        cache.removeCachedResponse(for: neighbour)
    }

    private func stored(_ url: String) throws -> CachedURLResponse {
        let response = HTTPURLResponse(
            url: try #require(URL(string: url)),
            statusCode: 200,
            httpVersion: nil,
            headerFields: nil
        )
        return CachedURLResponse(
            response: try #require(response),
            data: Data("stored".utf8),
            userInfo: nil,
            storagePolicy: .allowedInMemoryOnly
        )
    }

    // MARK: - Reloading

    @Test("Reloading brings new files, and keeps the old table when something is wrong")
    func reload() throws {
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let cache = try LocalSubstitutionCache(
            manifest: folder.url.appendingPathComponent("manifest.json"),
            reading: .copied
        )
        let old = try #require(cache.cachedResponse(for: request()))
        try folder.write("new", to: "site.css")
        #expect(try cache.cachedResponse(for: request()) === old)
        try cache.reload()
        #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
        #expect(old.data == Data(body.utf8))

        try folder.write(#"{ "https://example.com/site.css": "gone.css", }"#, to: "manifest.json")
        let error = try #require(throws: ManifestError.self) { try cache.reload() }
        #expect(error.issues.count == 1)
        #expect(try cache.cachedResponse(for: request())?.data == Data("new".utf8))
    }

    @Test("A manifest with an error installs nothing and lists every error")
    func refused() throws {
        let error = try #require(throws: ManifestError.self) {
            try cache(#"{ "https://example.com/site.css": "site.css", "https://example.com/b": "b", "c": "d" }"#)
        }
        #expect(error.issues.map(\.code) == [.missingFile, .badURL, .missingFile])
        #expect("\(error)".hasPrefix("manifest.json:1:72: error: \"b\" does not exist"))
        #expect(error.localizedDescription == error.description)
    }

    // MARK: - Where the manifest is looked for

    @Test("A localised Substitutions folder is found, with the files beside it")
    func localisedBundle() throws {
        for (path, text) in [("xx.lproj/", "nobody's language"), ("en.lproj/", "English")] {
            try folder.write(
                #"{ "https://example.com/a": "a.txt" }"#,
                to: "L.bundle/\(path)Substitutions/manifest.json"
            )
            try folder.write(text, to: "L.bundle/\(path)Substitutions/a.txt")
        }
        let bundle = try #require(Bundle(url: folder.url.appendingPathComponent("L.bundle")))
        let cache = try LocalSubstitutionCache(bundle: bundle)
        #expect(try cache.cachedResponse(for: request("https://example.com/a"))?.data == Data("English".utf8))
    }

    @Test("A bundle's Substitutions folder is found")
    func bundle() throws {
        try folder.write(#"{ "https://example.com/a": "a.txt" }"#, to: "App.bundle/Substitutions/manifest.json")
        try folder.write("plain", to: "App.bundle/Substitutions/a.txt")
        let bundle = try #require(Bundle(url: folder.url.appendingPathComponent("App.bundle")))
        let cache = try LocalSubstitutionCache(bundle: bundle)
        #expect(try cache.cachedResponse(for: request("https://example.com/a"))?.data == Data("plain".utf8))
    }

    @Test("A bundle without the folder, or with the folder flattened, says what to do")
    func bundleWithout() throws {
        try folder.write("x", to: "Empty.bundle/x.txt")
        try folder.write("{}", to: "Group.bundle/manifest.json")
        let empty = try #require(Bundle(url: folder.url.appendingPathComponent("Empty.bundle")))
        let group = try #require(Bundle(url: folder.url.appendingPathComponent("Group.bundle")))
        let missing = try #require(throws: ManifestError.self) { try LocalSubstitutionCache(bundle: empty) }
        #expect(missing.description.contains("Empty.bundle/Substitutions/manifest.json:1:1: error:"))
        #expect(missing.description.contains(".module"))
        let flat = try #require(throws: ManifestError.self) { try LocalSubstitutionCache(bundle: group) }
        #expect(flat.description.contains("Build Folder Contents"))
        #expect(flat.description.contains("flattened"))
        #expect([missing, flat].flatMap { $0.issues.map(\.code) } == [.unreadableManifest, .unreadableManifest])
    }

    @Test("A manifest that does not exist, is a folder or a FIFO is an error, not a wait")
    func unreadable() throws {
        try folder.write("x", to: "folder/x")
        #expect(mkfifo(folder.url.appendingPathComponent("fifo").path, 0o600) == 0)
        for name in ["none.json", "folder", "fifo"] {
            let error = try #require(throws: ManifestError.self) {
                try LocalSubstitutionCache(manifest: folder.url.appendingPathComponent(name))
            }
            #expect(error.issues.map(\.code) == [.unreadableManifest])
        }
    }

    private func start(of data: Data) -> UnsafeRawPointer? {
        data.withUnsafeBytes { $0.baseAddress }
    }
}
