import Foundation
import SubstitutionRules
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

@Suite("Files of an archive", .serialized)
final class ArchiveFolderTests: ArchiveSuite, @unchecked Sendable {
    @Test("No other user can read a copy at any moment")
    func privacy() async throws {
        let before = umask(0)
        defer { umask(before) }
        let (isDone, path) = (Flag(), folder.url.path)
        // The permissions that the archive's files had while they were written.
        let seen = Locked<Set<mode_t>>([])
        async let watching: Void = onThread {
            while !isDone.isSet {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                    var status = stat()
                    guard lstat(path + "/" + name, &status) == 0 else { continue }
                    let mode = status.st_mode & 0o777
                    seen.withLock { _ = $0.insert(mode) }
                }
                // Leave the writer some processor time.
                usleep(100)
            }
        }
        let big = try makeArchive(capacity: 100_000_000)
        let body = String(repeating: "x", count: 500_000)
        for number in 0... {
            try keep(body, for: request("\(number % 20)"), in: big)
            // Watching begins on a thread of this pool, and other tests may keep all others busy.
            await Task.yield()
            if number >= 10, !seen.value.isEmpty { break }
        }
        isDone.set()
        try await watching
        #expect(seen.value == [0o600])
    }

    @Test("Files are named by the hash of RFC 9923, so that another version of the library finds them")
    func hash() {
        let hashes = ["cbf29ce484222325", "af63dc4c8601ec8c", "85944171f73967e8"]
        #expect(["", "a", "foobar"].map { FNV1a(of: $0).description } == hashes)
    }

    @Test("A partial file that a process has left counts, and makes room as a copy does")
    func unfinished() throws {
        let left = folder.url.appendingPathComponent("left.offlinepart")
        try Data(count: 890_000).write(to: left)
        try keep(String(repeating: "x", count: 5_000), for: request("a"))
        #expect(FileManager.default.fileExists(atPath: left.path))
        try keep(String(repeating: "x", count: 150_000), for: request("b"))
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(try text(of: request("a")) != nil && text(of: request("b")) != nil)
        try archive.removeAll()
        #expect(files.isEmpty)
    }

    @Test("The copies never exceed the capacity, and nine tenths of it are used")
    func fullArchive() throws {
        try keep("00", for: request("00"))
        let size = try #require(archive.copies.first?.byteCount)
        let full = try makeArchive(capacity: 50 * size)
        for number in 10..<90 {
            try keep("\(number)", for: request("\(number)"), in: full)
            // Two copies differ by a few bytes, because their dates have more or fewer digits.
            let copies = full.copies
            let used = copies.map(\.byteCount).reduce(0, +)
            #expect(used <= 50 * size && (copies.count > number - 9 || used >= 43 * size))
        }
        // With its header fields, this body is too long.
        let count = full.copies.count
        try keep(String(repeating: "x", count: 50 * size - 10), for: request("long"), in: full)
        #expect(full.copies.count == count && full.refusalCounts == [.length: 1])
        #expect(try text(of: request("89"), in: full) == "89")
    }

    @Test("Files that are longer than the capacity are deleted, and their sizes add up to no crash")
    func sparseFiles() throws {
        for name in ["a.offlinecopy", "b.offlinecopy", "c.offlinecopy", "a.offlinepart", "b.offlinepart"] {
            try folder.write("", to: name)
            let path = folder.url.appendingPathComponent(name).path
            // Not every file system has files of this size; the largest one has this many bytes.
            for size in [off_t.max, 1 << 62, 1 << 43] where truncate(path, size) == 0 { break }
        }
        try keep("hello", for: request("a"))
        #expect(try text(of: request("a")) == "hello")
        #expect(files.count == 1)
    }

    @Test(
        "The new copies and the used old one stay, and the others go in turn, also after a clock that was ahead",
        arguments: [-1000, 1, 3600, 4 * 365 * 86_400, 1_900 * 365 * 86_400]
    )
    func jumpingClock(seconds: Int) throws {
        try keep("old0", for: request("old0"))
        let size = try #require(archive.copies.first?.byteCount)
        // Nine tenths of this are eight copies.
        let archive = try makeArchive(capacity: 9 * size + size / 2)
        for number in 1..<8 { try keep("old\(number)", for: request("old\(number)"), in: archive) }
        for (number, file) in files.enumerated() {
            let date = Date(timeIntervalSinceNow: Double(seconds + number))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
        }
        #expect(try text(of: request("old0"), in: archive) == "old0")
        for number in 0..<7 {
            try keep("new\(number)", for: request("new\(number)"), in: archive)
            let expected = Set((0...number).map { "/new\($0)" })
            #expect(expected.isSubset(of: archive.copies.map(\.url.path)))
            #expect(archive.copies.contains { $0.url.path == "/old0" })
        }
        for number in 7..<10 { try keep("new\(number)", for: request("new\(number)"), in: archive) }
        #expect(archive.copies.allSatisfy { $0.url.path.hasPrefix("/new") })
    }

    @Test("A copy with any byte flipped or missing is removed and never replayed")
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

    @Test("The copy of another URL is not replayed, even under this URL's file name")
    func foreign() throws {
        try keep("a", for: request("a"))
        let first = try #require(files.first)
        try keep("b", for: request("b"))
        let second = try #require(files.first { $0 != first })
        try Data(contentsOf: second).write(to: first)
        #expect(try ["a", "b"].map { try text(of: request($0)) } == [nil, "b"])
    }

    @Test("A FIFO, symbolic link or folder with a copy's name blocks no read and is not followed")
    func hostileFiles() throws {
        try keep("a", for: request("a"))
        let file = try #require(files.first)
        let outside = try TemporaryFolder()
        let target = outside.url.appendingPathComponent("target")
        try FileManager.default.moveItem(at: file, to: target)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(try text(of: request("a")) == nil)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        #expect(try text(of: request("a")) == nil)
        try keep("again", for: request("a"))
        #expect(try text(of: request("a")) == "again")
        #expect(FileManager.default.fileExists(atPath: target.path))
        // The archive does not touch a folder that has the name of a copy.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(try text(of: request("a")) == nil)
        try archive.removeAll()
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("Other files in the directory are left alone, and the directory may disappear")
    func directory() throws {
        let other = folder.url.appendingPathComponent("notes.txt")
        try Data("mine".utf8).write(to: other)
        try keep("a", for: request("a"))
        try archive.removeAll()
        #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(at: folder.url)
        #expect(try text(of: request("a")) == nil)
        try keep("a", for: request("a"))
        #expect(try text(of: request("a")) == "a")
    }

    @Test("A removed copy is not listed, and a load that began before the removal is neither kept nor replayed")
    func removal() throws {
        for path in ["a", "b", "c"] { try keep(path, for: request(path)) }
        #expect(archive.copies.allSatisfy { $0.byteCount > 1 && abs($0.date.timeIntervalSinceNow) < 60 })
        try archive.remove(try #require(URL(string: "https://EXAMPLE.com/b")))
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c"])
        let load = IncomingCopy(of: try request("a"), version: 0, for: archive)
        #expect(load.copy(after: .offline) != nil)
        try archive.keep(response(to: request("d")), Data(), for: request("d")) { try archive.removeAll() }
        #expect(load.copy(after: .offline) == nil)
        #expect(archive.copies.isEmpty)
        // The removal of one copy spares a copy that waits for the disk.
        try archive.keep(response(to: request("a")), Data("a".utf8), for: request("a"))
        try archive.keep(response(to: request("b")), Data("b".utf8), for: request("b")) {
            try archive.remove(try #require(URL(string: "https://example.com/c")))
        }
        #expect(archive.copies.map(\.url.path) == ["/a"])
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
        let link = folder.url.appendingPathExtension("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        defer { unlink(link.path) }
        let other = try OfflineArchive(directory: link, capacity: 1_000_000, hosts: ["example.com"])
        let request = try request("a")
        let url = try #require(request.url)
        let response = try response(to: request)
        try archive.keep(response, Data(), for: request) { try other.removeAll() }
        #expect(archive.copies.isEmpty)
        for round in 0..<200 {
            try archive.keep(response, Data(count: 300_000), for: request)
            try #require(archive.answer(to: request) != nil)
            if round.isMultiple(of: 2) { try other.removeAll() } else { try other.remove(url) }
            for each in [archive, other] { #expect(each.answer(to: request) == nil, "\(round)") }
        }
        #expect(files.isEmpty)
    }

    @Test(
        "After a removal that failed, nothing is replayed or kept until everything is removed",
        arguments: [nil, "a"]
    )
    func failedRemoval(path: String?) throws {
        for name in ["a", "b"] { try keep(name, for: request(name)) }
        let url = try path.flatMap { try request($0).url }
        let moved = folder.url.appendingPathExtension("moved")
        try FileManager.default.moveItem(at: folder.url, to: moved)
        try Data().write(to: folder.url)
        let problem = try #require(throws: RemovalProblem.self) { try url.map(archive.remove) ?? archive.removeAll() }
        let cause = url == nil ? "\(folder.url.path)\" is a file" : ".offlinecopy\" cannot be deleted: Not a directory"
        #expect(problem.localizedDescription.contains("\(cause). This process replays no copy"), "\(problem)")
        try FileManager.default.removeItem(at: folder.url)
        try FileManager.default.moveItem(at: moved, to: folder.url)
        let other = try makeArchive()
        for archive in [archive, other] { #expect(try text(of: request("a"), in: archive) == nil) }
        try keep("new", for: request("c"))
        #expect(files.count == 2)
        try other.removeAll()
        #expect(files.isEmpty)
        try keep("new", for: request("a"))
        #expect(try text(of: request("a")) == "new")
    }

    // Only macOS and Linux can start processes.
    #if os(macOS) || os(Linux)
    @Test("Processes that write, read and make room in one directory serve only whole copies")
    func processes() async throws {
        async let other: Void = Self.useInAnotherProcess(folder.url.path)
        let shared = try makeArchive(capacity: 60_000)
        try await onThread { [self] in try use(shared) }
        await other
        #expect(archive.copies.count > 1)
        #expect(archive.copies.reduce(0) { $0 + $1.byteCount } <= 70_000)
        #expect(files.allSatisfy { $0.pathExtension == "offlinecopy" })
    }

    private static func useInAnotherProcess(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let directory = URL(fileURLWithPath: path)
            let shared = try OfflineArchive(directory: directory, capacity: 60_000, hosts: ["example.com"])
            try ArchiveFolderTests().use(shared)
        }
    }
    #endif

    private func use(_ archive: OfflineArchive) throws {
        for round in 0..<300 {
            let path = "page\(round % 12)"
            let body = String(repeating: "\(path) \(ProcessInfo.processInfo.processIdentifier);", count: 500)
            try keep(body, for: request(path), in: archive)
            if let text = try text(of: request(path), in: archive) {
                // A failed expectation would not end another process.
                try #require(Set(text.split(separator: ";")).count == 1 && text.hasPrefix("\(path) "))
            }
        }
    }

    // Elsewhere, the constant has another type.
    #if os(Linux)
    @Test("A full disk costs only the copy that does not fit")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            // A limit on the length of files lets a write fail in the middle, as a full disk does.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let test = try ArchiveFolderTests()
            let large = String(repeating: "x", count: 200_000)
            for (path, body) in [("a", "small"), ("b", large), ("a", large), ("c", "then")] {
                try test.keep(body, for: test.request(path))
            }
            #expect(try ["a", "b", "c"].map { try test.text(of: test.request($0)) } == ["small", nil, "then"])
            #expect(test.files.count == 2)
        }
    }
    #endif
}
