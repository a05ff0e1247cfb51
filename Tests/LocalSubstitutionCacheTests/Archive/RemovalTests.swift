import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

@Suite("Removed copies do not come back", .serialized)
final class RemovalTests: ArchiveSuite, @unchecked Sendable {
    @Test("A removed copy is not listed, and a load that began before the removal is not kept")
    func removal() throws {
        for path in ["a", "b", "c"] { try keep(path, for: request(path)) }
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/b", "/c"])
        #expect(archive.copies.allSatisfy { $0.byteCount > 1 && abs($0.date.timeIntervalSinceNow) < 60 })
        try archive.remove(try #require(URL(string: "https://EXAMPLE.com/b")))
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c"])
        let response = try response("d")
        try archive.keep(response, Data(), for: request("d")) { try archive.removeAll() }
        #expect(archive.copies.isEmpty)
        try keep("d", for: request("d"))
        #expect(archive.copies.count == 1)
    }

    private func response(_ path: String) throws -> HTTPURLResponse {
        let url = try #require(try request(path).url)
        return try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
    }

    @Test("Removing one copy spares copies that wait for the disk, and discards loads in flight")
    func removalOfOne() throws {
        try archive.keep(response("a"), Data("a".utf8), for: request("a"))
        try archive.keep(response("b"), Data("b".utf8), for: request("b")) {
            try archive.remove(try #require(URL(string: "https://example.com/c")))
        }
        #expect(archive.copies.map(\.url.path) == ["/a"])
    }

    @Test("A copy that was read before a removal is not replayed after it")
    func readBefore() throws {
        try keep("a", for: request("a"))
        let load = IncomingCopy(of: try request("a"), version: 0, for: archive)
        #expect(load.copy(after: .offline) != nil)
        try archive.removeAll()
        #expect(load.copy(after: .offline) == nil)
    }

    @Test("A copy that another thread writes during removeAll() is removed, too")
    func removalWhileWritten() async throws {
        let written = ArchiveFolder(url: folder.url, capacity: 1_000_000_000)
        for number in 0..<3000 { try Data().write(to: folder.url.appendingPathComponent("\(number).offlinecopy")) }
        let file = folder.url.appendingPathComponent("victim.offlinecopy")
        let path = folder.url.path
        async let writing: Void = onThread { _ = written.write(Data(repeating: 1, count: 20_000_000), to: file) }
        try await onThread {
            while !((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
                .contains(where: { $0.hasSuffix(".offlinepart") || $0 == "victim.offlinecopy" })
            {
                // Leave the writer some processor time.
                usleep(1000)
            }
            try written.remove(nil)
        }
        try await writing
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("Archives of one directory share its removals, whatever paths they were opened with")
    func linkedDirectory() throws {
        let real = folder.url.appendingPathComponent("real")
        let link = folder.url.appendingPathComponent("link")
        let first = try OfflineArchive(directory: real, capacity: 1_000_000, hosts: ["example.com"])
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        let second = try OfflineArchive(directory: link, capacity: 1_000_000, hosts: ["example.com"])
        try first.keep(response("a"), Data(), for: request("a")) { try second.removeAll() }
        #expect(first.copies.isEmpty)
    }

    @Test("A copy that one archive of a directory writes is not replayed after another one has removed it")
    func removedByAnotherArchive() throws {
        let url = try #require(try request("a").url)
        let other = try makeArchive()
        let response = try response("a")
        for round in 0..<200 {
            try archive.keep(response, Data(count: 300_000), for: request("a"))
            try #require(archive.answer(to: request("a")) != nil)
            if round.isMultiple(of: 2) { try other.removeAll() } else { try other.remove(url) }
            for each in [archive, other] { #expect(try each.answer(to: request("a")) == nil, "\(round)") }
        }
        #expect(files.isEmpty)
    }

    // Only macOS and Linux can start processes, and only there can a test use up the descriptors of a process.
    #if os(macOS) || os(Linux)
    @Test("A removal without descriptors is told, and nothing is replayed until it is done")
    func withoutDescriptors() async throws {
        let path = folder.url.path
        for name in ["a", "b", "c"] { try keep(name, for: request(name)) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try RemovalTests().removeWithoutDescriptors(from: URL(fileURLWithPath: path))
        }
        #expect(files.isEmpty)
    }

    private func removeWithoutDescriptors(from directory: URL) throws {
        let archive = try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["example.com"])
        try #require(text(of: request("a"), in: archive) == "a")
        var limit = rlimit()
        getrlimit(Self.descriptors, &limit)
        limit.rlim_cur = min(limit.rlim_cur, 200)
        setrlimit(Self.descriptors, &limit)
        var held: [Int32] = []
        while let descriptor = Optional(open("/dev/null", O_RDONLY)), descriptor >= 0 { held.append(descriptor) }
        let problem = try #require(throws: RemovalProblem.self) { try archive.removeAll() }
        let sentence = problem.localizedDescription
        try #require(sentence.contains("\"\(directory.path)\" cannot be read: Too many open files."), "\(sentence)")
        for descriptor in held { close(descriptor) }
        let again = try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["example.com"])
        for archive in [archive, again] { try #require(try text(of: request("a"), in: archive) == nil) }
        try archive.removeAll()
    }

    // Glibc and Darwin declare the constant with different types.
    #if os(macOS)
    private static let descriptors = RLIMIT_NOFILE
    #else
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    #endif
}
