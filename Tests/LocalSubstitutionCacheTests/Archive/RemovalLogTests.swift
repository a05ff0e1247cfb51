import Foundation
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("What was removed does not come back")
final class RemovalLogTests: ArchiveSuite, @unchecked Sendable {
    @Test("Listing and removing, and nothing of what began before")
    func removal() throws {
        for path in ["a", "b", "c"] { try keep(path, for: request(path)) }
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/b", "/c"])
        #expect(archive.copies.allSatisfy { $0.byteCount > 1 && abs($0.date.timeIntervalSinceNow) < 60 })
        archive.remove(try #require(URL(string: "https://EXAMPLE.com/b")))
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c"])
        let before = try archive.begin(request("d"))
        archive.removeAll()
        #expect(archive.copies.isEmpty)
        let url = try #require(try request("d").url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        archive.keep(response, Data(), for: try request("d"), since: before)
        #expect(archive.copies.isEmpty)
    }

    @Test("Removing one copy leaves alone what waits for the disk, and other loads on their way")
    func removalOfOne() throws {
        let moments = try ["a", "b"].map { try archive.begin(request($0)) }
        archive.remove(try #require(URL(string: "https://example.com/b")))
        for (path, moment) in zip(["a", "b"], moments) {
            let request = try request(path)
            let url = try #require(request.url)
            let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            archive.keep(response, Data(path.utf8), for: request, since: moment)
        }
        archive.remove(try #require(URL(string: "https://example.com/c")))
        #expect(archive.copies.map(\.url.path) == ["/a"])
    }

    @Test("A load that was announced began then, and the next one begins when it begins")
    func announced() throws {
        let removals = RemovalLog()
        removals.announce("a")
        removals.announce("a")
        removals.removeAll()
        #expect(!removals.allows("a", since: removals.begin("a")))
        #expect(!removals.allows("a", since: removals.begin("a")))
        #expect(removals.allows("a", since: removals.begin("a")))
        removals.announce("b")
        removals.remove("a")
        #expect(removals.allows("b", since: removals.begin("b")))
        #expect(removals.allows("a", since: removals.begin("a")))
    }

    @Test("Announcements that nobody can withdraw cost as many loads of their file, and no more")
    func orphaned() {
        let removals = RemovalLog()
        removals.announce("a")
        removals.announce("a")
        removals.orphanAnnounced()
        removals.removeAll()
        #expect(!removals.allows("a", since: removals.begin("a")))
        #expect(removals.allows("b", since: removals.begin("b")))
        #expect(!removals.allows("a", since: removals.begin("a")))
        #expect(removals.allows("a", since: removals.begin("a")))
    }

    @Test("Loads that are announced and never begin, and removals without end, take no memory without end")
    func bounded() throws {
        let removals = RemovalLog()
        let early = removals.moment
        for number in 0..<25_000 {
            removals.announce("\(number)")
            removals.remove("\(number)")
        }
        // What is not remembered any more counts as removed.
        #expect(!removals.allows("never heard of", since: early))
        #expect(removals.allows("never heard of", since: removals.moment))
    }

    @Test("A copy that another writer puts in its place while everything is removed goes, too")
    func removalWhileWritten() async throws {
        let written = ArchiveFolder(url: folder.url, capacity: 1_000_000_000)
        for number in 0..<3000 { try Data().write(to: folder.url.appendingPathComponent("\(number).offlinecopy")) }
        let file = folder.url.appendingPathComponent("victim.offlinecopy")
        let path = folder.url.path
        async let writing: Void = onThread { written.write(Data(repeating: 1, count: 20_000_000), to: file) }
        try await onThread {
            while !((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
                .contains(where: { $0.hasSuffix(".offlinepart") || $0 == "victim.offlinecopy" })
            {}
            written.removeAll()
        }
        try await writing
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("Archives of one directory share what was removed, by whatever path they were opened")
    func linkedDirectory() throws {
        let real = folder.url.appendingPathComponent("real")
        let link = folder.url.appendingPathComponent("link")
        let first = try OfflineArchive(directory: real, capacity: 1_000_000)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        let second = try OfflineArchive(directory: link, capacity: 1_000_000)
        let request = try request("a")
        let moment = first.begin(request)
        second.removeAll()
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        first.keep(response, Data(), for: request, since: moment)
        #expect(first.copies.isEmpty)
    }
}
