import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Adopting a folder")
struct AdoptTests {
    private let site: TwoFolders

    init() throws {
        site = try TwoFolders()
        try site.writeBundle(version: "12")
    }

    private func answers(_ cache: SubstitutionCache) -> Set<String> { TwoFolders.answers(cache) }

    /// The paths below the test's folder, with the bytes of the files.
    private func listing() throws -> [String: Data?] {
        let (root, manager) = (site.folder.url, FileManager.default)
        let paths = try manager.subpathsOfDirectory(atPath: root.path)
        return Dictionary(uniqueKeysWithValues: paths.map { ($0, manager.contents(atPath: root.path + "/" + $0)) })
    }

    /// Adopts a folder, which must fail, and returns the error.
    private func refusal(of folder: URL, by cache: SubstitutionCache) throws -> ManifestError {
        try #require(throws: ManifestError.self) { try cache.adopt(folder) }
    }

    @Test(
        "The first folder, one in place of another, and one in place of an empty folder answer at once and at the next launch",
        arguments: [ReadingMode.mapped, .copied]
    )
    func adopt(reading: ReadingMode) throws {
        let cache = try site.cache(reading: reading)
        for (version, isEmptied) in [(13, false), (14, false), (15, true)] {
            let incoming = try site.write("set \(version)", version: "\(version)", to: "incoming")
            if isEmptied {
                try FileManager.default.removeItem(at: site.downloads)
                try FileManager.default.createDirectory(at: site.downloads, withIntermediateDirectories: false)
            }
            try cache.adopt(incoming)
            #expect(cache.manifestVersion == version && cache.newerFolderError == nil)
            #expect(answers(cache) == ["set \(version)"])
            #expect(!FileManager.default.fileExists(atPath: incoming.path))
            #expect(try answers(site.cache()) == ["set \(version)"])
            #expect(try listing().keys.filter { !$0.hasPrefix("App.bundle") }.count == 6)
        }
        try cache.reload()
        #expect(answers(cache) == ["set 15"])
        // An empty manifest switches everything off.
        try site.folder.write("{\"$version\": 16}", to: "incoming/manifest.json")
        try cache.adopt(site.folder.url.appendingPathComponent("incoming"))
        #expect(answers(cache) == ["nothing"])
        #expect(try answers(site.cache()) == ["nothing"])
    }

    @Test("Responses that were returned before stay as they were, though their mapped files are gone")
    func heldResponses() throws {
        let cache = try site.cache(reading: .mapped)
        try cache.adopt(site.write("first", version: "13", to: "incoming"))
        try cache.reload()
        let url = try #require(URL(string: "https://example.com/large.txt"))
        var part = URLRequest(url: url)
        part.setValue("bytes=5-9", forHTTPHeaderField: "Range")
        let held = try #require(cache.cachedResponse(for: URLRequest(url: url)))
        let heldPart = try #require(cache.cachedResponse(for: part))
        // Only Linux lists a process's mappings in a file.
        #if os(Linux)
        let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd())
        #expect(maps.range(of: Data("\(site.downloads.path)/large.txt".utf8)) != nil)
        #endif
        try cache.adopt(site.write("other", version: "14", to: "incoming"))
        #expect(held.data == Data(String(repeating: "first", count: 9000).utf8))
        #expect(heldPart.data == Data("first".utf8))
        #expect(answers(cache) == ["other"])
    }

    @Test("A folder that another cache has adopted is not replaced by an older one, unless an error passes it over")
    func newerOnDisk() throws {
        let (late, cache) = try (site.cache(), site.cache())
        try cache.adopt(site.write("newest", version: "19", to: "incoming"))
        let incoming = try site.write("older", version: "13", to: "incoming")
        _ = try refusal(of: incoming, by: late)
        #expect(answers(late) == ["bundle"])
        #expect(try answers(site.cache()) == ["newest"])
        try site.folder.write("<html>", to: "Application Support/downloads/b.js")
        try late.adopt(incoming)
        #expect(try answers(site.cache()) == ["older"])
    }

    // Only macOS and Linux can start processes.
    #if os(macOS) || os(Linux)
    @Test("An adopted file of 2 GB and a range of it are mapped, and not copied")
    func largeRange() async {
        // Measure in a separate process, because other tests use memory of the tests' own process.
        await #expect(processExitsWith: .success) {
            let test = try AdoptTests()
            let incoming = try test.site.write("new", version: "13", to: "incoming")
            #expect(truncate(incoming.path + "/large.txt", 2_147_483_648) == 0)
            let before = try residentMemory()
            let cache = try test.site.cache(reading: .mapped)
            try cache.adopt(incoming)
            var request = URLRequest(url: try #require(URL(string: "https://example.com/large.txt")))
            for (range, count) in [("bytes=1-", 2_147_483_647), ("bytes=2147483638-99999999999999999999", 10)] {
                request.setValue(range, forHTTPHeaderField: "Range")
                #expect(cache.cachedResponse(for: request)?.data.count == count)
            }
            #expect(try residentMemory() - before < 256_000_000)
        }
    }

    @Test("Whatever of a replaced folder cannot be removed does not lie where the next one will come")
    func undeletable() async {
        await #expect(processExitsWith: .success) {
            let test = try AdoptTests()
            let incoming = try test.site.write("new", version: "14", to: "incoming")
            try test.site.writeDownloads("old", version: "13")
            try test.site.folder.write("old", to: "Application Support/downloads/locked/old.css")
            // Root may remove everything.
            if geteuid() == 0 {
                for path in try [""] + test.listing().keys {
                    #expect(chown(test.site.folder.url.appendingPathComponent(path).path, 65534, 65534) == 0)
                }
                #expect(seteuid(65534) == 0)
            }
            #expect(chmod(test.site.downloads.path + "/locked", 0o500) == 0)
            try test.site.cache().adopt(incoming)
            #expect(!FileManager.default.fileExists(atPath: incoming.path))
            for path in try test.listing().keys where path.hasSuffix("locked") {
                chmod(test.site.folder.url.appendingPathComponent(path).path, 0o700)
            }
            seteuid(0)
        }
    }
    #endif

    @Test("Whatever is wrong with the folder, nothing changes, and the error says it")
    func refused() throws {
        let cache = try site.cache()
        try cache.adopt(site.write("old", version: "13", to: "incoming"))
        func expect(_ words: String, _ folder: URL) throws {
            let before = try listing()
            let error = try refusal(of: folder, by: cache)
            #expect(error.description.contains(words), "\(error)")
            #expect(error.description.hasPrefix(folder.appendingPathComponent("manifest.json").path))
            #expect(try listing() == before)
            #expect(cache.manifestVersion == 13 && cache.newerFolderError == nil)
            #expect(answers(cache) == ["old"])
        }
        for version in ["13", "12", nil] {
            let words = "\"$version\" is not higher than 13, which is there already; raise it"
            try expect(words, site.write("new", version: version, to: "incoming"))
        }
        let incoming = try site.write("new", version: "14", to: "incoming")
        for page in ["<!doctype html><title>Sign in</title>", "\n<head><meta charset=utf-8>"] {
            try site.folder.write(page, to: "incoming/b.js")
            try expect("\"b.js\" is a page of HTML, but is sent as text/javascript", incoming)
        }
        try site.write("new", version: "14", to: "incoming")
        try site.folder.write("{ \"$version\": 14, \"https://h/\": \"gone.css\" }", to: "incoming/manifest.json")
        try expect("\"gone.css\" does not exist", incoming)
        try expect("does not exist", site.folder.url.appendingPathComponent("nothing"))
        // What holds the place cannot lie in the place.
        let inside = try site.write("new", version: "14", to: "Application Support/downloads/inside")
        try expect("cannot take the place of", inside)
    }

    @Test("A file is no place for a folder, and keeps its bytes")
    func placeIsFile() throws {
        try site.folder.write("precious", to: "Application Support/downloads")
        let cache = try site.cache()
        #expect(cache.newerFolderError != nil)
        let incoming = try site.write("new", version: "14", to: "incoming")
        let before = try listing()
        #expect(try refusal(of: incoming, by: cache).description.contains("Not a directory"))
        #expect(try listing() == before)
        #expect(answers(cache) == ["bundle"])
    }

    @Test("A cache without a newer folder adopts nothing")
    func noPlace() throws {
        try site.writeDownloads(version: "1")
        let cache = try SubstitutionCache(manifest: site.manifest)
        let incoming = try site.write("new", version: "14", to: "incoming")
        #expect(try refusal(of: incoming, by: cache).issues.map(\.code) == [.notAdopted])
    }

    @Test("A file behind a link is refused, because the link may lead through the folder's own path")
    func linksInside() throws {
        let cache = try site.cache()
        func expectRefusal(_ name: String, _ incoming: URL) throws {
            let error = try refusal(of: incoming, by: cache)
            #expect(error.description.contains("\(name)\" is a symbolic link"), "\(error)")
            #expect(answers(cache) == ["bundle"])
            try FileManager.default.removeItem(at: incoming)
        }
        for name in ["a.css", "manifest.json"] {
            for start in ["../incoming/", "", site.folder.url.path + "/incoming/"] {
                let incoming = try site.write("new", version: "14", to: "incoming")
                let file = incoming.appendingPathComponent(name)
                try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("real"))
                #expect(symlink("\(start)\(name).real", file.path) == 0)
                try expectRefusal(name, incoming)
            }
        }
        // Several paths lead to one file, a folder is a link, also to an empty one, or an entry has expired.
        for (name, target, file) in [
            ("z.css", "a.css", "\"z.css\""), ("d", "../incoming", "\"d/a.css\""), ("e", "../incoming/empty", "\"e/\""),
            ("x.css", "../incoming/a.css", "{ \"file\": \"x.css\", \"until\": \"2020-01-01\" }"),
        ] {
            let incoming = try site.write("new", version: "14", to: "incoming")
            try site.folder.write("", to: "incoming/empty/.keep")
            let manifest = "{ \"$version\": 14, \"https://h/a\": \"a.css\", \"https://h/b/\": \(file) }"
            try site.folder.write(manifest, to: "incoming/manifest.json")
            #expect(symlink(target, incoming.appendingPathComponent(name).path) == 0)
            try expectRefusal(name, incoming)
        }
    }

    @Test("Links to the folder and to its place lead to what is moved")
    func links() throws {
        try site.writeDownloads("old", version: "13")
        let (real, place) = (site.downloads.path + "-real", site.downloads.path)
        #expect(rename(place, real) == 0)
        #expect(symlink("downloads-real", place) == 0)
        let incoming = try site.write("new", version: "14", to: "incoming")
        let link = site.folder.url.appendingPathComponent("link")
        #expect(symlink("incoming", link.path) == 0)
        let cache = try site.cache()
        #expect(answers(cache) == ["old"])
        try cache.adopt(link)
        #expect(try answers(site.cache()) == ["new"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "downloads-real")
        #expect(!FileManager.default.fileExists(atPath: incoming.path))
    }

    // Only Linux has this file system.
    #if os(Linux)
    @Test("A folder on another volume is refused", .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
    func otherVolume() throws {
        let incoming = URL(fileURLWithPath: "/dev/shm/\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: incoming) }
        try FileManager.default.copyItem(at: site.write("new", version: "14", to: "incoming"), to: incoming)
        let cache = try site.cache()
        for isFirst in [true, false] {
            if !isFirst { try cache.adopt(site.write("old", version: "13", to: "incoming")) }
            let error = try refusal(of: incoming, by: cache)
            #expect(error.description.contains("they are on two volumes; copy it beside the other first"))
            #expect(answers(cache) == [isFirst ? "bundle" : "old"])
            #expect(FileManager.default.fileExists(atPath: incoming.path))
        }
    }
    #endif

    @Test("While folders are adopted, each request of two threads is answered by a whole file of one set")
    func requestsMeanwhile() async throws {
        let cache = try site.cache()
        let isDone = Flag()
        @Sendable func ask() -> Set<String> {
            var found: Set<String> = []
            repeat {
                found.formUnion(TwoFolders.answers(cache))
                cache.removeAllCachedResponses()
            } while !isDone.isSet
            return found
        }
        async let first = onThread(ask)
        async let second = onThread(ask)
        defer { isDone.set() }
        try await onThread { [site] in
            for version in 13..<(Program.isLongRun ? 1000 : 60) {
                try cache.adopt(site.write("set \(version)", version: "\(version)", to: "incoming"))
            }
        }
        isDone.set()
        #expect(try await first.union(second).allSatisfy { $0 == "bundle" || $0.hasPrefix("set ") })
        #expect(cache.newerFolderError == nil)
    }
}
