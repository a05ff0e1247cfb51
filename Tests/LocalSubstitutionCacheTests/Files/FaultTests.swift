import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Tests of files that change after their manifest is loaded and before they are requested.
@Suite("Faults")
struct FaultTests {
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("a.bin") }

    init() throws { folder = try TemporaryFolder() }

    enum Fault: CaseIterable {
        case deleted, replaced, unreadable, emptied, shortened, folder

        func inflict(on file: URL) throws {
            switch self {
            case .deleted: try FileManager.default.removeItem(at: file)
            case .replaced: try Data("other".utf8).write(to: file, options: .atomic)
            case .unreadable: #expect(chmod(file.path, 0) == 0)
            // Editors that write a file in place truncate it first.
            case .emptied: #expect(truncate(file.path, 0) == 0)
            case .shortened: #expect(truncate(file.path, 10) == 0)
            case .folder:
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            }
        }
    }

    @Test("The loaded bytes are answered, whatever happens to the file afterwards", arguments: Fault.allCases)
    func unchanged(fault: Fault) throws {
        // According to its documentation, `.mapped` must not be used for files that are shortened in place.
        let readings: [ReadingMode] = [.emptied, .shortened].contains(fault) ? [.copied] : [.mapped, .copied]
        var request = URLRequest(url: try #require(URL(string: "https://example.com/a")))
        // In the mode `.mapped`, large files are mapped and small files are read. In the mode `.copied`, all files are
        // read. The sizes cover less than one memory page, one page and several pages.
        for (reading, size) in readings.flatMap({ reading in [0, 1, 4095, 4096, 100_001].map { (reading, $0) } }) {
            let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 3) })
            try? FileManager.default.removeItem(at: file)
            try bytes.write(to: file)
            let cache = try folder.cache("{ \"https://example.com/a\": \"a.bin\" }", reading: reading)
            try fault.inflict(on: file)
            for range in [nil, "bytes=5-"] where range == nil || size > 10 {
                request.setValue(range, forHTTPHeaderField: "Range")
                #expect(cache.cachedResponse(for: request)?.data == (range == nil ? bytes : bytes.dropFirst(5)))
            }
        }
    }

    @Test("No file of a manifest stays open", .enabled(if: Self.showsDescriptors, "needs /proc"))
    func descriptors() throws {
        for number in 0..<20 { try folder.write(Data(count: number * 4000), to: "files/\(number).bin") }
        try folder.write("{ \"https://example.com/\": \"files/\" }", to: "manifest.json")
        let manifest = folder.url.appendingPathComponent("manifest.json")
        for reading in [ReadingMode.mapped, .copied] {
            let cache = try SubstitutionCache(manifest: manifest, reading: reading)
            try cache.reload()
            #expect(throws: ManifestError.self) {
                _ = try folder.cache("{ \"https://example.com/\": \"files/\", \"https://example.com/x\": \"y\" }")
            }
            #expect(openFiles() == [])
        }
    }

    private static var showsDescriptors: Bool { FileManager.default.fileExists(atPath: "/proc/self/fd") }

    /// Returns the paths of this process's open files below the folder.
    private func openFiles() -> [String] {
        let manager = FileManager.default
        let names = (try? manager.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let root = folder.url.resolvingSymlinksInPath().path
        return names.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(root) }
    }
}
