import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Measurements of what a launch costs.
struct Loading {
    let stopwatch: Stopwatch

    func files() throws -> [MeasuredRow] {
        let fixture = try Fixture(count: 1000, size: 50_000)
        let paths = (0..<1000).map { fixture.folder.appendingPathComponent("file\($0).png").path }
        let load = Contender("LocalSubstitutionCache", count: 1000) { use(try? fixture.cache()) }
        let sketch = Contender("open, fstat, mmap, close", count: 1000) {
            for path in paths {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                var status = stat()
                fstat(descriptor, &status)
                let size = Int(status.st_size)
                let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
                close(descriptor)
                munmap(start, size)
            }
        }
        let responses = Contender("also building HTTPURLResponse", count: 1000) {
            for (path, url) in zip(paths, fixture.urls) { use(Self.leastResponse(to: url, path: path)) }
        }
        return stopwatch.rows(
            "load, each of 1,000 files of 50 KB",
            load,
            against: [(sketch, .atMost(3)), (responses, .atMost(2))]
        )
    }

    /// Builds a response at the lowest possible cost.
    ///
    /// This function only brings the file into memory, and creates Foundation's objects. The response has the header
    /// fields that the library promises.
    static func leastResponse(to url: URL, path: String) -> CachedURLResponse? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        let size = Int(status.st_size)
        guard let data = size < 4096 ? read(size, from: descriptor) : map(size, of: descriptor) else { return nil }
        let fields = [
            "Accept-Ranges": "bytes", "Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=31536000",
            "Cache-Status": "LocalSubstitutionCache; hit; detail=\"file.png\"", "Content-Length": String(size),
            "Content-Type": "image/png", "ETag": "\"c350-189d0123456789ab\"",
        ]
        return HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields).map {
            CachedURLResponse(response: $0, data: data)
        }
    }

    private static func map(_ size: Int, of descriptor: Int32) -> Data? {
        guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED else {
            return nil
        }
        return Data(bytesNoCopy: start, count: size, deallocator: .custom { start, size in munmap(start, size) })
    }

    private static func read(_ size: Int, from descriptor: Int32) -> Data? {
        guard let buffer = malloc(max(1, size)), Foundation.read(descriptor, buffer, size) == size else { return nil }
        return Data(bytesNoCopy: buffer, count: size, deallocator: .free)
    }

    func parser(_ count: Int) throws -> [MeasuredRow] {
        let fixture = try Fixture(count: count, size: 1, sharesFile: true)
        let data = try Data(contentsOf: fixture.manifest)
        let ours = Contender("JSONParser", count: count) { use(JSONParser.parse(data)) }
        let manifest = fixture.manifest
        let whole = Contender("SubstitutionManifest", count: count) {
            use((try? SubstitutionManifest.text(of: manifest, name: "m")).map { SubstitutionManifest($0, name: "m") })
        }
        let foundation = Contender("JSONSerialization", count: count) {
            use(try? JSONSerialization.jsonObject(with: data))
        }
        return stopwatch.rows(
            "manifest of \(count) entries, parsed, each",
            ours,
            against: [(foundation, .atLeast(2))]
        )
            + stopwatch.rows(
                "manifest of \(count) entries, read, each",
                whole,
                against: [(foundation, .atMost(1.8))]
            )
    }
}
