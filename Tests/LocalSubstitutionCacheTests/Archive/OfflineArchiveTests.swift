import Foundation
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Offline archive")
struct OfflineArchiveTests {
    private let folder: TemporaryFolder
    private let archive: OfflineArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try OfflineArchive(directory: folder.url, capacity: 1_000_000)
    }

    private func request(_ path: String, _ headers: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://example.com/\(path)")))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func keep(
        _ body: String,
        for request: URLRequest,
        status: Int = 200,
        _ headers: [String: String] = [:],
        in archive: OfflineArchive? = nil
    ) throws {
        let archive = archive ?? self.archive
        let url = try #require(request.url)
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers)
        archive.keep(try #require(response), Data(body.utf8), for: request, since: archive.begin(request))
        archive.waitUntilWritten()
    }

    private func text(of request: URLRequest, in archive: OfflineArchive? = nil) -> String? {
        (archive ?? self.archive).answer(to: request).map { String(decoding: $0.data, as: UTF8.self) }
    }

    private var files: [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return names.map { folder.url.appendingPathComponent($0) }
    }

    @Test("A copy has body and head, but no cookies, and says that it is one; another archive finds it again")
    func replayed() throws {
        let request = try request("a?b=1")
        let fields = ["Content-Type": "text/html", "Set-Cookie": "a=b", "Cache-Status": "edge; hit", "X-Own": "ü"]
        try keep("hello", for: request, fields)
        #expect(text(of: request) == "hello")
        let again = try OfflineArchive(directory: folder.url, capacity: 1_000_000)
        let head = try #require(again.answer(to: request)?.response as? HTTPURLResponse)
        #expect(head.statusCode == 200)
        #expect(head.url == request.url)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html")
        #expect(head.value(forHTTPHeaderField: "X-Own") == "ü")
        #expect(head.value(forHTTPHeaderField: "Set-Cookie") == nil)
        let status = try #require(head.value(forHTTPHeaderField: "Cache-Status"))
        #expect(status.hasPrefix("edge; hit, LocalSubstitutionCache; fwd=bypass; detail=\"copy of 20"))
        #expect(status.hasSuffix("Z (offline)\""))
    }

    @Test("What waits for the disk is replayed, and forgotten with the rest")
    func pending() throws {
        let request = try request("a")
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        for number in 0..<200 {
            archive.keep(response, Data("\(number)".utf8), for: request, since: archive.begin(request))
            #expect(text(of: request) == "\(number)")
        }
        archive.removeAll()
        #expect(text(of: request) == nil)
        archive.waitUntilWritten()
        #expect(text(of: request) == nil)
    }

    @Test("A body of another length than the head says is not kept")
    func wrongLength() throws {
        try keep("hello", for: request("a"), ["Content-Length": "4"])
        try keep("hello", for: request("b"), ["Content-Length": "4", "Content-Encoding": "gzip"])
        #expect(try text(of: request("a")) == nil)
        #expect(try text(of: request("b")) == "hello")
    }

    @Test("Spellings of one URL have one copy, and other URLs have none of it")
    func identity() throws {
        try keep("hello", for: request("%7ea/../b?x"))
        let same = try #require(URL(string: "HTTPS://EXAMPLE.com:443/b?x#top"))
        #expect(text(of: URLRequest(url: same)) == "hello")
        for other in ["b", "b?y", "B?x", "b?x&"] { #expect(try text(of: request(other)) == nil) }
    }

    @Test(
        "What is not to be kept is not",
        arguments: [
            (201, [:]), (206, [:]), (304, [:]), (404, [:]), (200, ["Cache-Control": "max-age=9, No-Store"]),
            (200, ["Vary": "*"]), (200, ["Vary": "Accept-Encoding, Cookie"]),
        ]
    )
    func notKept(status: Int, headers: [String: String]) throws {
        try keep("hello", for: request("a"), status: status, headers)
        #expect(try text(of: request("a")) == nil)
        #expect(files.isEmpty)
    }

    @Test("What may vary by encoding only, or must be revalidated, is kept")
    func kept() throws {
        try keep(
            "hello",
            for: request("a"),
            ["Vary": "accept-encoding", "Cache-Control": "private, no-cache, max-age=0"]
        )
        #expect(try text(of: request("a")) == "hello")
    }

    @Test("Requests that are not for an archive")
    func notAccepted() throws {
        var post = try request("a")
        post.httpMethod = "POST"
        var head = try request("a")
        head.httpMethod = "HEAD"
        #expect(try archive.accepts(request("a")))
        #expect(!archive.accepts(post))
        #expect(!archive.accepts(head))
        for name in ["Authorization", "Proxy-Authorization", "Cookie"] {
            #expect(try !archive.accepts(request("a", [name: "x=y"])))
        }
        #expect(try !archive.accepts(request("a", ["Cache-Control": "no-store"])))
        for url in ["ftp://example.com/", "https://me@example.com/", "file:///etc/passwd"] {
            #expect(!archive.accepts(URLRequest(url: try #require(URL(string: url)))), "\(url)")
        }
    }

    @Test("Hosts, those with credentials, and a predicate decide")
    func filters() throws {
        let archive = try OfflineArchive(
            directory: folder.url,
            capacity: 1000,
            hosts: ["Example.com"],
            hostsWithCredentials: ["EXAMPLE.com"],
            including: { $0.url?.path != "/private" }
        )
        #expect(try archive.accepts(request("a")))
        #expect(try archive.accepts(request("a", ["Authorization": "x", "Cookie": "y"])))
        #expect(try !archive.accepts(request("private")))
        #expect(!archive.accepts(URLRequest(url: try #require(URL(string: "https://example.org/a")))))
    }

    @Test("Cookies of the shared storage count")
    func storedCookies() throws {
        let url = try #require(URL(string: "https://\(UUID().uuidString.lowercased()).example/"))
        #expect(archive.accepts(URLRequest(url: url)))
        let host = try #require(url.host)
        let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "b", .domain: host, .path: "/"]))
        HTTPCookieStorage.shared.setCookie(cookie)
        defer { HTTPCookieStorage.shared.deleteCookie(cookie) }
        #expect(!archive.accepts(URLRequest(url: url)))
        var request = URLRequest(url: url)
        request.httpShouldHandleCookies = false
        #expect(archive.accepts(request))
    }

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

    @Test("What waits for the disk is bounded, also when it is one URL again and again")
    func waiting() throws {
        let big = try OfflineArchive(directory: folder.url, capacity: 100_000_000)
        let request = try request("a")
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        for number in 0..<40 {
            big.keep(
                response,
                Data(repeating: UInt8(number), count: 15_000_000),
                for: request,
                since: big.begin(request)
            )
            #expect(big.bytesWaiting <= OfflineArchive.maximumWaiting)
        }
        big.waitUntilWritten()
        #expect(big.bytesWaiting == 0)
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

    @Test("Nobody else can read a copy, at any moment")
    func privacy() async throws {
        let before = umask(0)
        defer { umask(before) }
        let (modes, isDone, path) = (Modes(), Flag(), folder.url.path)
        async let watching: Void = onThread {
            while !isDone.isSet {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                    var status = stat()
                    if lstat(path + "/" + name, &status) == 0 { modes.insert(status.st_mode & 0o777) }
                }
            }
        }
        let big = try OfflineArchive(directory: folder.url, capacity: 100_000_000)
        var number = 0
        while number < 10 || modes.all.isEmpty {
            try keep(String(repeating: "x", count: 2_000_000), for: request("\(number % 20)"), in: big)
            number += 1
        }
        isDone.set()
        _ = try await watching
        #expect(modes.all == [0o600])
    }

    /// The modes of files that were seen.
    // Mutable state is only accessed inside the lock.
    private final class Modes: @unchecked Sendable {
        private let lock = NSLock()
        private var seen: Set<mode_t> = []

        func insert(_ mode: mode_t) { lock.withLock { _ = seen.insert(mode) } }

        var all: Set<mode_t> { lock.withLock { seen } }
    }

    @Test("What an ended process left is removed, and what is being written stays and counts")
    func unfinished() throws {
        let left = folder.url.appendingPathComponent("left.offlinepart")
        let written = folder.url.appendingPathComponent("written.offlinepart")
        try Data(count: 150_000).write(to: left)
        try Data(count: 900_000).write(to: written)
        let writer = try #require(FileHandle(forWritingAtPath: written.path))
        #expect(flock(writer.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
        // The first copy makes room; with what is being written there is none for it.
        try keep(String(repeating: "x", count: 200_000), for: request("a"))
        #expect(files.map(\.lastPathComponent) == ["written.offlinepart"])
        try Data(count: 10).write(to: left)
        archive.removeAll()
        #expect(files.isEmpty)
        try writer.close()
    }

    @Test("What was used least recently makes room")
    func capacity() throws {
        let archive = try OfflineArchive(directory: folder.url, capacity: 10_000)
        let body = String(repeating: "x", count: 3000)
        for (age, path) in ["a", "b", "c"].enumerated() {
            try keep(body, for: request(path), in: archive)
            #expect(archive.copies.count == age + 1)
            // As if some time had passed.
            for file in files {
                let date = try #require(
                    FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
                )
                let older = date.addingTimeInterval(-100)
                try FileManager.default.setAttributes([.modificationDate: older], ofItemAtPath: file.path)
            }
        }
        #expect(try text(of: request("a"), in: archive) == body)
        try keep(body, for: request("d"), in: archive)
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c", "/d"])
        try keep(String(repeating: "x", count: 20_000), for: request("e"), in: archive)
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c", "/d"])
    }

    @Test("Whatever byte of a file is flipped or missing, the copy is removed and never replayed")
    func damage() throws {
        try keep("hello, this is the body", for: request("a"), ["Content-Type": "text/plain"])
        #expect(try text(of: request("a")) != nil)
        let file = try #require(files.first)
        let intact = try Data(contentsOf: file)
        var damaged: [Data] = (0..<intact.count).map { index in
            var data = intact
            data[index] ^= 1 << UInt8.random(in: 0...7)
            return data
        }
        damaged += (0..<intact.count).map { intact.prefix($0) }
        damaged += [intact + Data([0]), Data(repeating: 0, count: 4096), Data("\n".utf8)]
        for data in damaged {
            try data.write(to: file)
            #expect(try text(of: request("a")) == nil)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        try intact.write(to: file)
        #expect(try text(of: request("a")) == "hello, this is the body")
    }

    @Test("The copy of another URL is not replayed, also when it has the file's name")
    func foreign() throws {
        try keep("a", for: request("a"))
        #expect(archive.copies.count == 1)
        let first = try #require(files.first)
        try keep("b", for: request("b"))
        #expect(archive.copies.count == 2)
        let second = try #require(files.first { $0 != first })
        try Data(contentsOf: second).write(to: first)
        #expect(try text(of: request("a")) == nil)
        #expect(try text(of: request("b")) == "b")
    }

    @Test("A FIFO, a link or a folder with the name of a copy hangs nothing and leads nowhere")
    func hostileFiles() throws {
        try keep("a", for: request("a"))
        #expect(archive.copies.count == 1)
        let file = try #require(files.first)
        let outside = try TemporaryFolder()
        let target = outside.url.appendingPathComponent("target")
        try FileManager.default.moveItem(at: file, to: target)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(try text(of: request("a")) == nil)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        #expect(try text(of: request("a")) == nil)
        #expect(FileManager.default.fileExists(atPath: target.path))
        try keep("again", for: request("a"))
        #expect(archive.copies.count == 1)
        #expect(try text(of: request("a")) == "again")
        // The archive leaves a folder with such a name alone.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(try text(of: request("a")) == nil)
        archive.removeAll()
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("Other files in the directory are left alone, and the directory may go away")
    func directory() throws {
        let other = folder.url.appendingPathComponent("notes.txt")
        try Data("mine".utf8).write(to: other)
        try keep("a", for: request("a"))
        archive.removeAll()
        #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(at: folder.url)
        #expect(try text(of: request("a")) == nil)
        try keep("a", for: request("a"))
        #expect(try text(of: request("a")) == "a")
    }

    // Only Linux tells a program's own file, and iOS and its relatives start no processes.
    #if os(Linux)
    /// The other processes run only this, with a variable that tells them so.
    @Test("Processes that write, read and make room in one directory serve only whole copies")
    func processes() async throws {
        let variable = "ARCHIVE_OF_ANOTHER_PROCESS"
        if let path = ProcessInfo.processInfo.environment[variable] {
            let shared = try OfflineArchive(directory: URL(fileURLWithPath: path), capacity: 60_000)
            try use(shared)
            return
        }
        let path = folder.url.path
        async let workers = withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<2 { group.addTask { try await Self.worker([variable: path]).runToEnd() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let shared = try OfflineArchive(directory: folder.url, capacity: 60_000)
        try await onThread { try use(shared) }
        #expect(try await workers == [0, 0])
        #expect(archive.copies.count > 1)
        #expect(archive.copies.reduce(0) { $0 + $1.byteCount } <= 70_000)
        #expect(files.allSatisfy { $0.pathExtension == "offlinecopy" })
    }

    /// A process that runs ``processes()`` with a variable that tells it so.
    private static func worker(_ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "OfflineArchiveTests/processes"]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        return process
    }

    private func use(_ archive: OfflineArchive) throws {
        for round in 0..<300 {
            let path = "page\(round % 12)"
            let body = String(repeating: "\(path) \(ProcessInfo.processInfo.processIdentifier);", count: 500)
            try keep(body, for: request(path), in: archive)
            if let text = try text(of: request(path), in: archive) {
                let pieces = Set(text.split(separator: ";"))
                #expect(pieces.count == 1 && text.hasPrefix("\(path) "))
            }
        }
    }

    @Test(
        "A full disk loses nothing but the copy",
        .enabled(if: SmallDisk.isAllowed, "only root may mount a small disk")
    )
    func fullDisk() async throws {
        try await onThread { [self] in
            let disk = try SmallDisk(kilobytes: 64, at: folder.url)
            defer { disk.unmount() }
            try fillDisk()
        }
    }

    private func fillDisk() throws {
        try keep("small", for: request("a"))
        #expect(try text(of: request("a")) == "small")
        try keep(String(repeating: "x", count: 200_000), for: request("b"))
        try keep(String(repeating: "x", count: 200_000), for: request("a"))
        #expect(try text(of: request("b")) == nil)
        #expect(try text(of: request("a")) == "small")
        #expect(files.count == 1)
        try keep("then", for: request("c"))
        #expect(try text(of: request("c")) == "then")
    }
    #endif
}

// Mounting one takes a process, and a kind of file system that only Linux has.
#if os(Linux)
/// A file system in memory that is soon full.
private struct SmallDisk {
    /// Mounting is for root.
    static var isAllowed: Bool { geteuid() == 0 }

    private let url: URL

    init(kilobytes: Int, at url: URL) throws {
        self.url = url
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", url.path)
    }

    func unmount() {
        try? Self.run("umount", url.path)
    }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw POSIXError(.EPERM) }
    }
}
#endif
