import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Ranges")
final class RangeTests: CacheSuite {
    /// Writes a file that is large enough to be mapped, and returns its bytes.
    private func makeLargeFile() throws -> Data {
        let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: ($0 &* 7) >> 4) })
        try folder.write(bytes, to: "large.bin")
        return bytes
    }

    private let largeManifest = #"{ "https://example.com/l": "large.bin" }"#

    private func large(_ range: String? = nil, from cache: SubstitutionCache) throws -> Data {
        let request = try request("https://example.com/l", "GET", range.map { ["Range": $0] } ?? [:])
        return try #require(cache.cachedResponse(for: request)).data
    }

    @Test("A satisfiable range gets a 206 with its bytes, whose indices start at 0")
    func range() throws {
        let request = try request("https://example.com/site.css", "GET", ["Range": "bytes=5-29"])
        let part = try #require(cache().cachedResponse(for: request))
        let head = try head(part)
        #expect(head.statusCode == 206)
        #expect(head.value(forHTTPHeaderField: "Content-Range") == "bytes 5-29/\(body.utf8.count)")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "25")
        #expect(part.data == Data(body.utf8.dropFirst(5).prefix(25)) && part.data.startIndex == 0)
    }

    @Test("Parts of a mapped file, copied or mapped themselves, have the right bytes")
    func partOfMapped() throws {
        let bytes = try makeLargeFile()
        let (cache, limit) = (try cache(largeManifest), FileContents.partThreshold)
        for start in [0, 1, 4095, 4096, 4097, 300_000] {
            for count in [1, 4096, limit - 1, limit, limit + 5] {
                let part = try large("bytes=\(start)-\(start + count - 1)", from: cache)
                #expect(part == bytes[start..<start + count] && part.startIndex == 0, "\(start) \(count)")
            }
        }
    }

    @Test("A range of a mapped file has the loaded bytes, even if the file has changed", arguments: [false, true])
    func partOfReplaced(isGone: Bool) throws {
        let bytes = try makeLargeFile()
        let cache = try cache(largeManifest)
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("large.bin"))
        if !isGone { try folder.write(Data(count: bytes.count), to: "large.bin") }
        #expect(try large("bytes=5-500000", from: cache) == bytes[5...500_000])
    }

    @Test(
        "Reloads unmap the old versions of a replaced file, even after range requests",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/maps"), "needs /proc")
    )
    func oldVersions() throws {
        try folder.write(largeManifest, to: "manifest.json")
        let bytes = try makeLargeFile()
        let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        for _ in 0..<20 {
            try bytes.write(to: folder.url.appendingPathComponent("large.bin"), options: .atomic)
            try cache.reload()
            for range in ["bytes=1000-1999", "bytes=1000-400000"] { _ = try large(range, from: cache) }
        }
        cache.table.finishPreparation()
        let path = folder.url.resolvingSymlinksInPath().appendingPathComponent("large.bin").path
        // A file in /proc reports size 0. If Foundation reads a file by its path, it relies on this size and reads
        // nothing. So use a handle.
        let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps")).readToEnd() ?? Data()
        #expect(String(decoding: maps, as: UTF8.self).split(separator: "\n").count { $0.contains(path) } == 1)
    }

    @Test("Changing the bytes of an answer in place changes no other answer", arguments: [ReadingMode.mapped, .copied])
    func mutation(reading: ReadingMode) throws {
        let bytes = try makeLargeFile()
        var cache: SubstitutionCache? = try folder.cache(largeManifest, reading: reading)
        let ranges = [nil, "bytes=10-99", "bytes=50-149", "bytes=10-500000", "bytes=5-500000"]
        let expected = [bytes, bytes[10...99], bytes[50...149], bytes[10...500_000], bytes[5...500_000]]
        // In the first round the cache still exists and shares its bytes with the answers. In the second round the
        // cache is gone.
        for isGone in [false, true] {
            var answers = try ranges.map { try large($0, from: #require(cache)) }
            let later = isGone ? nil : cache
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

    @Test("If-Range allows the range only if it holds the response's strong ETag")
    func ifRange() throws {
        let cache = try cache()
        let tag = try #require(head(cache.cachedResponse(for: request())).value(forHTTPHeaderField: "ETag"))
        for (prefix, status) in [("", 206), ("W/", 200), ("x", 200)] {
            let fields = ["Range": "bytes=0-1", "If-Range": prefix + tag]
            let response = try cache.cachedResponse(for: request("https://example.com/site.css", "GET", fields))
            #expect(try head(response).statusCode == status)
        }
    }

    @Test("An empty file is answered with 200, also to a range request")
    func empty() throws {
        try folder.write("", to: "empty.txt")
        let cache = try cache(#"{ "https://example.com/e": "empty.txt" }"#)
        for headers in [[:], ["Range": "bytes=0-"]] {
            let response = try cache.cachedResponse(for: request("https://example.com/e", "GET", headers))
            #expect(try head(response).statusCode == 200 && response?.data == Data())
            #expect(try head(response).value(forHTTPHeaderField: "Content-Length") == "0")
        }
    }
}
