import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Files in memory")
struct ScaleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A file that many URLs name is read once")
    func readOnce() throws {
        try folder.write(String(repeating: "x", count: 1000), to: "x.txt")
        let cache = try folder.cache(#"{ "//h/a": "x.txt", "https://h/b": "x.txt", "https://h/f/": "./" }"#)
        let starts = try ["http://h/a", "https://h/a", "https://h/b", "https://h/f/x.txt"].map { url in
            let request = URLRequest(url: try #require(URL(string: url)))
            return cache.cachedResponse(for: request)?.data.withUnsafeBytes { $0.baseAddress }
        }
        #expect(Set(starts).count == 1)
    }

    @Test("Files beyond the limit of mappings are read instead")
    func mappingLimit() throws {
        for number in 0..<20 { try folder.write(Data(count: FileContents.mappingThreshold), to: "\(number).bin") }
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
        #expect(try isMapped("large", .mapped) && !isMapped("small", .mapped) && !isMapped("large", .copied))
    }
}
