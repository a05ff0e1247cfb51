import Foundation
import LocalSubstitutionCache

/// What a launch costs.
struct Loading {
    let stopwatch: Stopwatch

    func files() throws -> [Row] {
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
        return stopwatch.rows("load, 1,000 files of 50 KB, each", load, against: [(sketch, .atMost(3))])
    }

    func parser(_ count: Int) throws -> [Row] {
        let fixture = try Fixture(count: count, size: 1, sharesFile: true)
        let data = try Data(contentsOf: fixture.manifest)
        // The parser is no part of the library's interface; links bring its files here.
        let ours = Contender("JSONParser", count: count) { use(try? JSONParser.parse(data)) }
        let manifest = fixture.manifest
        let whole = Contender("SubstitutionManifest", count: count) {
            use(try? SubstitutionManifest(contentsOf: manifest))
        }
        let foundation = Contender("JSONSerialization", count: count) {
            use(try? JSONSerialization.jsonObject(with: data))
        }
        return stopwatch.rows(
            "manifest of \(count) entries, parsed with places, each",
            ours,
            against: [(foundation, .atLeast(2))]
        )
            + stopwatch.rows(
                "manifest of \(count) entries, read and understood, each",
                whole,
                against: [(foundation, nil)]
            )
    }
}
