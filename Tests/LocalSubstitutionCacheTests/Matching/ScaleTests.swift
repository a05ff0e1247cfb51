import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Large tables and large files", .serialized)
struct ScaleTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func answer(_ cache: SubstitutionCache, _ url: String, range: String? = nil) throws -> Data? {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue(range, forHTTPHeaderField: "Range")
        return cache.cachedResponse(for: request)?.data
    }

    /// Creates a file of zeros that takes no space on disk.
    private func makeSparseFile(_ path: String, size: Int) throws {
        let descriptor = open(folder.url.appendingPathComponent(path).path, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(ftruncate(descriptor, off_t(size)) == 0)
    }

    @Test("A hundred thousand entries load and answer")
    func entries() throws {
        // Without optimisation each entry takes a tenth of a millisecond.
        let count = Program.isLongRun ? 100_000 : 10_000
        for number in 0..<1000 { try folder.write("file \(number)", to: "\(number).txt") }
        let entries = (0..<count).map { "\"https://example.com/\($0)\": \"\($0 % 1000).txt\"" }
        let cache = try folder.cache("{" + entries.joined(separator: ",\n") + "}")
        #expect(cache.substitutions.count == count)
        for number in stride(from: 0, to: count, by: 97) {
            let expected = Data("file \(number % 1000)".utf8)
            #expect(try answer(cache, "https://example.com/\(number)") == expected)
            #expect(try answer(cache, "https://EXAMPLE.com/\(number)") == expected)
        }
        #expect(try answer(cache, "https://example.com/\(count)") == nil)
    }

    @Test("A file that many URLs name is read once")
    func readOnce() throws {
        try folder.write(String(repeating: "x", count: 1000), to: "x.txt")
        let cache = try folder.cache(#"{ "//h/a": "x.txt", "https://h/b": "x.txt", "https://h/f/": "./" }"#)
        let starts = try ["http://h/a", "https://h/a", "https://h/b", "https://h/f/x.txt"].map { url in
            try answer(cache, url)?.withUnsafeBytes { $0.baseAddress }
        }
        #expect(Set(starts).count == 1)
    }

    // Only macOS and Linux can start processes.
    #if os(macOS) || os(Linux)
    @Test("A sparse file of 2 GB is mapped, and not read into memory")
    func sparse() async {
        // Measure in a separate process, because other tests use memory of the tests' own process.
        await #expect(processExitsWith: .success) { try ScaleTests().mapSparseFile() }
    }
    #endif

    /// Requests a large file and ranges of it, and measures how the memory of the process grows.
    private func mapSparseFile() throws {
        let size = 2_147_483_648
        try makeSparseFile("huge.bin", size: size)
        let before = try residentMemory()
        let cache = try folder.cache(#"{ "https://h/huge": "huge.bin" }"#)
        #expect(try answer(cache, "https://h/huge")?.count == size)
        let range = "bytes=\(size - 10)-99999999999999999999"
        #expect(try answer(cache, "https://h/huge", range: range) == Data(count: 10))
        #expect(try answer(cache, "https://h/huge", range: "bytes=1000-")?.count == size - 1000)
        #expect(try residentMemory() - before < 256 * 1024 * 1024)
    }

    @Test("Files beyond the limit of mappings are read instead")
    func mappingLimit() throws {
        for number in 0..<20 { try makeSparseFile("\(number).bin", size: FileContents.mappingThreshold) }
        let manifest = SubstitutionManifest(Data(#"{ "https://h/": "./" }"#.utf8), name: "m.json")
        let contents = try manifest.resolved(in: folder.url).contents(.mapped, maximumMappings: 8)
        #expect(contents.map(\.isMapped) == Array(repeating: true, count: 8) + Array(repeating: false, count: 12))
        #expect(contents.allSatisfy { $0.data == Data(count: FileContents.mappingThreshold) })
    }

    @Test("Files from 4 KB on are mapped, smaller ones and copied ones are read")
    func threshold() throws {
        #expect(FileContents.mappingThreshold == 4096)
        try folder.write(Data(count: FileContents.mappingThreshold), to: "large")
        try folder.write(Data(count: FileContents.mappingThreshold - 1), to: "small")
        func isMapped(_ name: String, _ reading: ReadingMode) throws -> Bool {
            let path = folder.url.appendingPathComponent(name).path
            return try FileContents(of: OpenedFile(path), reading: reading, path: FilePath(path)).isMapped
        }
        #expect(try isMapped("large", .mapped))
        #expect(try !isMapped("small", .mapped))
        #expect(try !isMapped("large", .copied))
    }
}
