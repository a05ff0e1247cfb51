import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Measurements of a single lookup.
struct Lookups {
    let stopwatch: Stopwatch
    let batch: Int

    private func contender(
        _ name: String,
        _ requests: [URLRequest],
        _ look: @escaping (URLRequest) -> CachedURLResponse?
    )
        -> Contender
    {
        Contender(name, count: batch * requests.count) {
            for _ in 0..<batch { for request in requests { use(look(request)) } }
        }
    }

    private func request(_ url: String, _ headers: [String: String] = [:]) -> URLRequest {
        var request = URLRequest(url: URL(string: url) ?? URL(fileURLWithPath: "/"))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    func hits() throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 1000, size: 1000)
        let cache = try fixture.cache()
        let floor = Floor(cache, fixture.urls)
        let stock = makeStockCache(cache, fixture.urls)
        let paths = fixture.urls.enumerated().map { index, url in
            (url.absoluteString, fixture.folder.appendingPathComponent("file\(index).png").path)
        }
        let port = DirectPort(Dictionary(uniqueKeysWithValues: paths))
        let plain = fixture.urls.prefix(10).map { request($0.absoluteString) }
        let headers = ["Accept": "image/png", "User-Agent": "Benchmarks"]
        let withHeaders = fixture.urls.prefix(10).map { request($0.absoluteString, headers) }
        let ours = "LocalSubstitutionCache"
        return stopwatch.rows(
            "hit",
            contender(ours, plain, cache.cachedResponse),
            against: [
                (contender("floor", plain, floor.cachedResponse), .atMost(1.9)),
                (contender("URLCache subclass with a dictionary", plain, port.cachedResponse), nil),
                (contender("stock", plain, stock.cachedResponse), .atLeast(8)),
            ]
        )
            + stopwatch.rows(
                "hit, with header fields",
                contender(ours, withHeaders, cache.cachedResponse),
                against: [(contender("floor", withHeaders, floor.cachedResponse), .atMost(3.5))]
            )
    }

    func otherSpellings() throws -> [MeasuredRow] {
        let folder = try Fixture(count: 1, size: 100_000)
        let text = """
            { "https://example.com/a.png": "file0.png",
              "https://example.com/b.png": { "file": "file0.png", "ignoreQuery": true } }
            """
        let cache = try SubstitutionCache(manifestData: Data(text.utf8), folder: folder.folder)
        let rows = [
            ("hit, other spelling", request("HTTPS://Example.com:443/%61.png")),
            ("hit, ignored query", request("https://example.com/b.png?v=12")),
            ("hit, range", request("https://example.com/a.png", ["Range": "bytes=10-99"])),
        ]
        return rows.flatMap { name, request in
            let head = cache.cachedResponse(for: request)?.response as? HTTPURLResponse
            let fields = head?.allHeaderFields as? [String: String] ?? [:]
            let url = request.url ?? folder.folder
            let build = Contender("building HTTPURLResponse", count: batch / 10) {
                for _ in 0..<(batch / 10) {
                    use(HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
                }
            }
            let look = Contender("LocalSubstitutionCache", count: batch / 10) {
                for _ in 0..<(batch / 10) { use(cache.cachedResponse(for: request)) }
            }
            return stopwatch.rows(name, look, against: [(build, .atMost(1.3))])
        }
    }

    func misses() throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 1000, size: 100)
        let cache = try fixture.cache()
        let stock = makeStockCache()
        let floor = Floor(cache, fixture.urls)
        let requests = (0..<10).map { request("https://example.com/assets/images/missing\($0).png") }
        // The cache also does the system's own lookup. The protocol consults only the library's table. The protocol's
        // time is therefore the time that the library adds.
        let own = { (request: URLRequest) -> CachedURLResponse? in
            use(SubstitutionURLProtocol.canInit(with: request))
            return nil
        }
        cache.install()
        let paired = Stopwatch(rounds: max(stopwatch.rounds, 15))
        let few = Lookups(stopwatch: paired, batch: max(1, batch / 20))
        return paired.rows(
            "miss",
            few.contender("LocalSubstitutionCache", requests, cache.cachedResponse),
            against: [(few.contender("stock", requests, stock.cachedResponse), .atMost(1.05))]
        )
            + stopwatch.rows(
                "miss, the library's own part",
                contender("SubstitutionURLProtocol", requests, own),
                against: [(contender("floor", requests, floor.cachedResponse), .atMost(11))]
            )
    }

    func sizes(_ counts: [Int]) throws -> [MeasuredRow] {
        let caches = try counts.map { try Fixture(count: $0, size: 100, sharesFile: true).cache() }
        let requests = (0..<10).map { request("https://example.com/assets/images/picture\($0).png") }
        let contenders = zip(caches, counts).map { cache, count in
            contender("\(count) entries", requests, cache.cachedResponse)
        }
        let times = stopwatch.times(of: contenders)
        return (1..<counts.count).map { index in
            MeasuredRow(
                name: "the same ten requests, \(counts[index]) entries",
                value: median(times.map { $0[index] }),
                unit: "ns",
                baseline: contenders[0].name,
                ratio: median(times.map { $0[index] / $0[0] }),
                target: .atMost(1.5)
            )
        }
    }

    func threads() throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 1000, size: 100)
        let cache = try fixture.cache()
        let requests = fixture.urls.map { request($0.absoluteString) }
        let count = batch * 20
        let run = { @Sendable (range: Range<Int>) in
            for index in 0..<count { use(cache.cachedResponse(for: requests[range.lowerBound + index % range.count])) }
        }
        let one = Contender("one thread", count: count) { run(0..<500) }
        let two = Contender("two threads, different rows", count: 2 * count) {
            DispatchQueue.concurrentPerform(iterations: 2) { run($0 * 500..<($0 + 1) * 500) }
        }
        return stopwatch.rows("hits of two threads, each", two, against: [(one, .atLeast(1.3))])
    }
}
