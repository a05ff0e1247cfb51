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
final class RemovalLogTests: ArchiveSuite, @unchecked Sendable {
    @Test("A removed copy is not listed, and a load that began before the removal is not kept")
    func removal() throws {
        for path in ["a", "b", "c"] { try keep(path, for: request(path)) }
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/b", "/c"])
        #expect(archive.copies.allSatisfy { $0.byteCount > 1 && abs($0.date.timeIntervalSinceNow) < 60 })
        archive.remove(try #require(URL(string: "https://EXAMPLE.com/b")))
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c"])
        let before = RemovalLog.shared.last
        archive.removeAll()
        #expect(archive.copies.isEmpty)
        let url = try #require(try request("d").url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        archive.keep(response, Data(), for: try request("d"), since: before)
        #expect(archive.copies.isEmpty)
    }

    @Test("Removing one copy spares copies that wait for the disk, and discards loads in flight")
    func removalOfOne() throws {
        let moment = RemovalLog.shared.last
        for path in ["a", "b"] {
            let request = try request(path)
            let url = try #require(request.url)
            let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            if path == "b" { archive.remove(try #require(URL(string: "https://example.com/c"))) }
            archive.keep(response, Data(path.utf8), for: request, since: moment)
        }
        #expect(archive.copies.map(\.url.path) == ["/a"])
    }

    @Test("A removal that begins while another one is being done is not lost")
    func removedTwice() throws {
        let log = RemovalLog()
        log.postpone(nil, in: "folder")
        let moment = log.last
        log.postpone(nil, in: "folder")
        log.finish(nil, in: "folder", upTo: moment)
        #expect(log.undone(in: "folder") == [nil])
        log.finish(nil, in: "folder", upTo: log.last)
        #expect(log.undone(in: "folder") == [])
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
        let first = try OfflineArchive(directory: real, capacity: 1_000_000)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        let second = try OfflineArchive(directory: link, capacity: 1_000_000)
        let request = try request("a")
        let moment = RemovalLog.shared.last
        second.removeAll()
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        first.keep(response, Data(), for: request, since: moment)
        #expect(first.copies.isEmpty)
    }

    @Test(
        "Copies of a folder that was away during a removal are not replayed when it is back",
        arguments: [true, false]
    )
    func folderAway(isAll: Bool) throws {
        try keep("a", for: request("a"))
        archive.waitUntilWritten()
        let away = try TemporaryFolder()
        try FileManager.default.moveItem(at: folder.url, to: away.url.appendingPathComponent("a"))
        let url = try #require(try request("a").url)
        try (isAll ? archive.removeAll() : archive.remove(url)).get()
        try FileManager.default.moveItem(at: away.url.appendingPathComponent("a"), to: folder.url)
        #expect(try archive.answer(to: request("a")) == nil)
        archive.waitUntilWritten()
        #expect(files.isEmpty)
        // Without the folder, a removal prevents no new copy.
        try FileManager.default.removeItem(at: folder.url)
        try (isAll ? archive.removeAll() : archive.remove(url)).get()
        try keep("b", for: request("a"))
        archive.waitUntilWritten()
        #expect(try archive.answer(to: request("a")) != nil && files.count == 1)
    }

    @Test("A copy that one archive of a directory writes is not replayed after another one has removed it")
    func removedByAnotherArchive() throws {
        let url = try #require(try request("a").url)
        let other = try OfflineArchive(directory: folder.url, capacity: 1_000_000)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        for round in 0..<200 {
            try archive.keep(response, Data(count: 300_000), for: request("a"))
            try #require(archive.answer(to: request("a")) != nil)
            if round.isMultiple(of: 2) { other.removeAll() } else { other.remove(url) }
            for each in [archive, other] { #expect(try each.answer(to: request("a")) == nil, "\(round)") }
        }
        archive.waitUntilWritten()
        #expect(files.isEmpty)
    }

    // Only macOS and Linux can start processes, and only there can a test use up the descriptors of a process.
    #if os(macOS) || os(Linux)
    @Test("A removal without descriptors is told, replays nothing older, and is done as soon as that is possible")
    func withoutDescriptors() async throws {
        let path = folder.url.path
        for leavesUndone in [false, true] {
            for name in ["a", "b", "c"] { try keep(name, for: request(name)) }
            await #expect(processExitsWith: .success) { [path = path as String, leaves = leavesUndone as Bool] in
                try RemovalLogTests().removeWithoutDescriptors(from: URL(fileURLWithPath: path), leaves)
            }
            // Here, too, nothing is replayed, and the first use of the archive finishes the removal.
            #expect(files.count == (leavesUndone ? 4 : 0))
            #expect(try text(of: request("a")) == nil)
            archive.waitUntilWritten()
            #expect(files.isEmpty)
            try keep("new", for: request("a"))
            #expect(try text(of: request("a")) == "new")
        }
    }

    private func removeWithoutDescriptors(from directory: URL, _ leavesUndone: Bool) throws {
        let archive = try OfflineArchive(directory: directory, capacity: 1_000_000)
        try #require(text(of: request("a"), in: archive) == "a")
        var limit = rlimit()
        getrlimit(Self.descriptors, &limit)
        limit.rlim_cur = min(limit.rlim_cur, 200)
        setrlimit(Self.descriptors, &limit)
        var held: [Int32] = []
        while let descriptor = Optional(open("/dev/null", O_RDONLY)), descriptor >= 0 { held.append(descriptor) }
        guard case .failure(let problem) = archive.removeAll() else { throw CocoaError(.featureUnsupported) }
        let sentence = problem.localizedDescription
        try #require(sentence.contains("\"\(directory.path)\" cannot be read: Too many open files."), "\(sentence)")
        for descriptor in held { close(descriptor) }
        if leavesUndone { return }
        let again = try OfflineArchive(directory: directory, capacity: 1_000_000)
        for archive in [archive, again] { try #require(try text(of: request("a"), in: archive) == nil) }
        try #require(archive.copies.isEmpty)
        try archive.removeAll().get()
    }

    // Glibc and Darwin declare the constant with different types.
    #if os(macOS)
    private static let descriptors = RLIMIT_NOFILE
    #else
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    #endif
}
