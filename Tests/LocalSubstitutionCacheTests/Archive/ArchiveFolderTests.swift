import Foundation
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
        let (modes, isDone, path) = (Modes(), Flag(), folder.url.path)
        async let watching: Void = onThread {
            while !isDone.isSet {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                    var status = stat()
                    guard lstat(path + "/" + name, &status) == 0 else { continue }
                    let mode = status.st_mode & 0o777
                    modes.seen.withLock { _ = $0.insert(mode) }
                }
                // Leave the writer some processor time.
                usleep(100)
            }
        }
        let big = try makeArchive(capacity: 100_000_000)
        let body = String(repeating: "x", count: 500_000)
        var number = 0
        while number < 10 || modes.seen.value.isEmpty {
            try keep(body, for: request("\(number % 20)"), in: big)
            number += 1
        }
        isDone.set()
        _ = try await watching
        #expect(modes.seen.value == [0o600])
    }

    /// The permissions that the archive's files had while they were written.
    private final class Modes: Sendable {
        let seen = Locked<Set<mode_t>>([])
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
        let count = full.copies.count
        try keep(String(repeating: "x", count: 51 * size), for: request("long"), in: full)
        #expect(full.copies.count == count)
        #expect(try text(of: request("89"), in: full) == "89")
    }

    @Test("Files that are longer than the capacity are deleted, and their sizes add up to no crash")
    func sparseFiles() throws {
        for suffix in ["offlinecopy", "offlinepart"] {
            for name in ["a", "b", "c"] {
                let path = folder.url.appendingPathComponent("\(name).\(suffix)").path
                try #require(FileManager.default.createFile(atPath: path, contents: nil))
                // Not every file system has files of this size; the largest one has this many bytes.
                for size in [off_t.max, 1 << 62, 1 << 43] where truncate(path, size) == 0 { break }
            }
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
        #expect(archive.copies.count == 1)
        let first = try #require(files.first)
        try keep("b", for: request("b"))
        #expect(archive.copies.count == 2)
        let second = try #require(files.first { $0 != first })
        try Data(contentsOf: second).write(to: first)
        #expect(try text(of: request("a")) == nil)
        #expect(try text(of: request("b")) == "b")
    }

    @Test("A FIFO, symbolic link or folder with a copy's name blocks no read and is not followed")
    func hostileFiles() throws {
        try keep("a", for: request("a"))
        #expect(archive.copies.count == 1)
        let file = try #require(files.first)
        let outside = try TemporaryFolder()
        let target = outside.url.appendingPathComponent("target")
        try FileManager.default.moveItem(at: file, to: target)
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(try text(of: request("a")) == nil)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        #expect(try text(of: request("a")) == nil)
        #expect(FileManager.default.fileExists(atPath: target.path))
        try keep("again", for: request("a"))
        #expect(archive.copies.count == 1)
        #expect(try text(of: request("a")) == "again")
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

    @Test("A removed copy is not listed, and a load that began before the removal is not kept")
    func removal() throws {
        for path in ["a", "b", "c"] { try keep(path, for: request(path)) }
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/b", "/c"])
        #expect(archive.copies.allSatisfy { $0.byteCount > 1 && abs($0.date.timeIntervalSinceNow) < 60 })
        try archive.remove(try #require(URL(string: "https://EXAMPLE.com/b")))
        #expect(Set(archive.copies.map(\.url.path)) == ["/a", "/c"])
        let response = try response(to: request("d"))
        try archive.keep(response, Data(), for: request("d")) { try archive.removeAll() }
        #expect(archive.copies.isEmpty)
        try keep("d", for: request("d"))
        #expect(archive.copies.count == 1)
    }

    @Test("Removing one copy spares copies that wait for the disk, and discards loads in flight")
    func removalOfOne() throws {
        try archive.keep(response(to: request("a")), Data("a".utf8), for: request("a"))
        try archive.keep(response(to: request("b")), Data("b".utf8), for: request("b")) {
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
        try first.keep(response(to: request("a")), Data(), for: request("a")) { try second.removeAll() }
        #expect(first.copies.isEmpty)
    }

    @Test("A copy that one archive of a directory writes is not replayed after another one has removed it")
    func removedByAnotherArchive() throws {
        let url = try #require(try request("a").url)
        let other = try makeArchive()
        let response = try response(to: request("a"))
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
            try ArchiveFolderTests().removeWithoutDescriptors(from: URL(fileURLWithPath: path))
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

    // Only Linux has `/proc/self/exe`, a link to the program's own file.
    #if os(Linux)
    /// The test starts child processes that run only this test.
    ///
    /// An environment variable gives the directory to the child processes.
    @Test("Processes that write, read and make room in one directory serve only whole copies")
    func processes() async throws {
        let variable = "ARCHIVE_OF_ANOTHER_PROCESS"
        if let path = ProcessInfo.processInfo.environment[variable] {
            let shared = try OfflineArchive(
                directory: URL(fileURLWithPath: path),
                capacity: 60_000,
                hosts: ["example.com"]
            )
            try use(shared)
            return
        }
        let path = folder.url.path
        async let workers = withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<2 { group.addTask { try await Self.worker([variable: path]).runToEnd() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let shared = try makeArchive(capacity: 60_000)
        try await onThread { [self] in try use(shared) }
        #expect(try await workers == [0, 0])
        #expect(archive.copies.count > 1)
        #expect(archive.copies.reduce(0) { $0 + $1.byteCount } <= 70_000)
        #expect(files.allSatisfy { $0.pathExtension == "offlinecopy" })
    }

    /// Returns a child process that runs only ``processes()``; `environment` is added to its environment.
    private static func worker(_ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", "ArchiveFolderTests/processes"]
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
        "A full disk costs only the copy that does not fit",
        .enabled(if: SmallDisk.isAllowed, "only root may mount a small disk")
    )
    func fullDisk() async throws {
        try await onThread { [self] in
            let disk = try SmallDisk(kilobytes: 64, at: folder.url)
            defer { disk.unmount() }
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
    }

    @Test(
        "After a removal that failed, nothing is replayed or kept until everything is removed",
        .enabled(if: SmallDisk.isAllowed, "only root may mount a small disk"),
        arguments: [nil, "a"]
    )
    func readOnlyDisk(path: String?) async throws {
        try await onThread { [self] in
            let disk = try SmallDisk(kilobytes: 64, at: folder.url)
            defer { disk.unmount() }
            for path in ["a", "b"] { try keep(path, for: request(path)) }
            try disk.remount("ro")
            let url = try path.map { try #require(try request($0).url) }
            func remove() throws { try url.map(archive.remove) ?? archive.removeAll() }
            let told = try #require(throws: RemovalProblem.self) { try remove() }
            #expect(
                "\(told)".contains(".offlinecopy\" cannot be deleted: Read-only file system. This process replays no")
            )
            let other = try makeArchive()
            for archive in [archive, other] { #expect(try text(of: request("a"), in: archive) == nil) }
            try disk.remount("rw")
            try keep("new", for: request("c"))
            #expect(files.count == 2)
            #expect(try text(of: request("a")) == nil)
            try other.removeAll()
            #expect(files.isEmpty)
            try keep("new", for: request("a"))
            #expect(try text(of: request("a")) == "new")
        }
    }
    #endif
}

// Mounting a file system requires a child process, and only Linux has tmpfs.
#if os(Linux)
/// An in-memory file system that is so small that it is soon full.
private struct SmallDisk {
    /// True for root, the only user that may mount a file system.
    static var isAllowed: Bool { geteuid() == 0 }

    private let url: URL

    init(kilobytes: Int, at url: URL) throws {
        self.url = url
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", url.path)
    }

    func remount(_ option: String) throws { try Self.run("mount", "-o", "remount,\(option)", url.path) }

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
