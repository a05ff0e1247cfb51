import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
        let before = try RemovalLog.shared.begin(request("d"))
        archive.removeAll()
        #expect(archive.copies.isEmpty)
        let url = try #require(try request("d").url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        archive.keep(response, Data(), for: try request("d"), since: before)
        #expect(archive.copies.isEmpty)
    }

    @Test("Removing one copy spares copies that wait for the disk, and discards loads in flight")
    func removalOfOne() throws {
        let moment = try RemovalLog.shared.begin(request("b"))
        for path in ["a", "b"] {
            let request = try request(path)
            let url = try #require(request.url)
            let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            if path == "b" { archive.remove(try #require(URL(string: "https://example.com/c"))) }
            archive.keep(response, Data(path.utf8), for: request, since: moment)
        }
        #expect(archive.copies.map(\.url.path) == ["/a"])
    }

    @Test("A load counts from its task's resume(), or from its own start if no resume() is recorded")
    func resumed() throws {
        let (log, a, b) = (RemovalLog(), try request("a"), try request("b"))
        log.resume(a)
        log.resume(a)
        log.remove(from: "folder")
        #expect(!log.allows("folder", since: log.begin(a)))
        #expect(!log.allows("folder", since: log.begin(a)))
        #expect(log.allows("folder", since: log.begin(a)))
        log.resume(b)
        log.remove(from: "another folder")
        #expect(log.allows("folder", since: log.begin(b)))
        log.resume(a)
        log.withdraw(a)
        log.remove(from: "folder")
        #expect(log.allows("folder", since: log.begin(a)))
    }

    @Test("Tasks that never begin to load take bounded memory, and bring no removed copy back")
    func bounded() throws {
        let log = RemovalLog()
        let requests = try (0..<10_001).map { try request("\($0)") }
        for request in requests { log.resume(request) }
        log.remove(from: "folder")
        #expect(!log.allows("folder", since: log.begin(requests[0])))
        // The log was full at the first `resume(_:)` call for this request, so the log did not record that call. Later
        // loads of the request are refused, although the log has room again.
        log.resume(requests[10_000])
        for _ in 0..<2 { #expect(!log.allows("folder", since: log.begin(requests[10_000]))) }
        #expect(log.allows("folder", since: log.begin(requests[0])))
    }

    @Test("A withdrawn load that was not recorded refuses later loads only if a removal came between")
    func unrecordedWithdrawal() throws {
        let log = RemovalLog()
        log.remove(from: "folder")
        let requests = try (0..<10_002).map { try request("\($0)") }
        for request in requests.dropLast() { log.resume(request) }
        for request in requests.dropLast() { log.withdraw(request) }
        log.resume(requests[10_001])
        log.remove(from: "another folder")
        let moment = log.begin(requests[10_001])
        #expect(log.allows("folder", since: moment) && !log.allows("another folder", since: moment))
    }

    @Test("A copy that another thread writes during removeAll() is removed, too")
    func removalWhileWritten() async throws {
        let written = ArchiveFolder(url: folder.url, capacity: 1_000_000_000)
        for number in 0..<3000 { try Data().write(to: folder.url.appendingPathComponent("\(number).offlinecopy")) }
        let file = folder.url.appendingPathComponent("victim.offlinecopy")
        let path = folder.url.path
        async let writing: Void = onThread { written.write(Data(repeating: 1, count: 20_000_000), to: file) }
        try await onThread {
            while !((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
                .contains(where: { $0.hasSuffix(".offlinepart") || $0 == "victim.offlinecopy" })
            {
                // Leave the writer some processor time.
                usleep(1000)
            }
            written.removeAll()
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
        let moment = RemovalLog.shared.begin(request)
        second.removeAll()
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        first.keep(response, Data(), for: request, since: moment)
        #expect(first.copies.isEmpty)
    }
}
