import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionDevelopment

@Suite("Reloading when a file is saved", .timeLimit(.minutes(20)))
struct ReloadWhenChangedTests {
    private let folder: TemporaryFolder
    private static let url = "https://example.com/site.css"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(#"{ "https://example.com/site.css": "css/site.css" }"#, to: "manifest.json")
        try folder.write("old", to: "css/site.css")
    }

    private var manifest: URL { folder.url.appendingPathComponent("manifest.json") }
    private var file: URL { folder.url.appendingPathComponent("css/site.css") }

    /// The reported outcomes, in order.
    private final class Reports: Sendable {
        private let outcomes = Locked<[String]>([])

        func append(_ outcome: Result<[String], ManifestError>) {
            let text =
                switch outcome {
                case .success(let paths): paths.joined(separator: " ")
                case .failure(let error): error.issues.map { "\($0.line):\($0.code.rawValue)" }.joined(separator: " ")
                }
            outcomes.withLock { $0.append(text) }
        }

        var all: [String] { outcomes.value }

        /// Waits for `count` reports.
        func waitFor(_ count: Int) async throws { try await wait(for: "\(count) reports") { all.count >= count } }

        /// Waits until the last report contains a text.
        func waitFor(_ text: String) async throws {
            try await wait(for: text) { all.last?.contains(text) == true }
        }

        /// Waits for `count` reports, and then until all changes made so far have been reported.
        func settled(_ count: Int, _ watched: TemporaryFolder) async throws -> [String] {
            try await waitFor(count)
            // Write one more file, and wait until the watcher reports that file. The watcher reports changes in order,
            // so all earlier changes have been reported by then.
            let mark = "mark-\(UUID().uuidString)"
            try watched.write("", to: mark)
            try await wait(for: mark) { all.contains { $0.contains(mark) } }
            return all.filter { !$0.hasPrefix("mark-") }
        }
    }

    private func watched(_ cache: SubstitutionCache? = nil) throws -> (cache: SubstitutionCache, reports: Reports) {
        let cache = try cache ?? SubstitutionCache(manifest: manifest, reading: .copied)
        let reports = Reports()
        try cache.reloadWhenChanged { reports.append($0) }
        return (cache, reports)
    }

    private func answer(_ cache: SubstitutionCache, _ url: String = Self.url) throws -> String? {
        let request = URLRequest(url: try #require(URL(string: url)))
        return cache.cachedResponse(for: request).map { String(decoding: $0.data, as: UTF8.self) }
    }

    /// A way in which editors save a file.
    enum Save: CaseIterable {
        case inPlace, asideAndRenamed, backupAndNew, deletedAndWritten, exchanged
    }

    @Test("A saved file is read again once, whatever steps the editor takes", arguments: Save.allCases)
    func saves(_ save: Save) async throws {
        let (cache, reports) = try watched()
        let watcher = try #require(cache.companion.withLock { $0 } as? FolderWatcher)
        let new = Data("new".utf8)
        // While the file is saved, the watcher is suspended. So it looks at the file after the last step, however busy
        // the machine is.
        watcher.queue.suspend()
        do {
            defer { watcher.queue.resume() }
            switch save {
            case .inPlace: try new.write(to: file)
            case .asideAndRenamed: try new.write(to: file, options: .atomic)
            case .backupAndNew:
                // This is how vim saves.
                try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("bak"))
                try new.write(to: file)
                try FileManager.default.removeItem(at: file.appendingPathExtension("bak"))
            case .deletedAndWritten:
                try FileManager.default.removeItem(at: file)
                try new.write(to: file)
            case .exchanged:
                // A symbolic link replaces the file.
                try folder.write(new, to: "css/other.css")
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "other.css")
            }
        }
        let changes = try await reports.settled(1, folder)
        #expect(try answer(cache) == "new")
        #expect(changes.count == 1 && changes.allSatisfy { $0.contains("css/site.css") }, "\(changes)")
        withExtendedLifetime(cache) {}
    }

    @Test("While the manifest is wrong, the previous table stays and the errors are reported")
    func wrongForAMoment() async throws {
        let (cache, reports) = try watched()
        try folder.write(#"{ "https://example.com/site.css": "css/site.css" "#, to: "manifest.json")
        try await reports.waitFor(1)
        #expect(try answer(cache) == "old")
        let count = reports.all.count
        try folder.write("new", to: "css/site.css")
        try await reports.waitFor(count + 1)
        #expect(reports.all.last?.contains("syntax") == true)
        #expect(try answer(cache) == "old")
        try folder.write(#"{ "https://example.com/other": "css/site.css" }"#, to: "manifest.json")
        try await reports.waitFor("manifest.json")
        #expect(try answer(cache) == nil)
        #expect(try answer(cache, "https://example.com/other") == "new")
    }

    @Test("A change that affects no readable file is not reported")
    func nothingNew() async throws {
        let (cache, reports) = try watched()
        try folder.write("draft", to: ".site.css.swp")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        _ = try Data(contentsOf: file)
        #expect(try await reports.settled(0, folder) == [])
        withExtendedLifetime(cache) {}
    }

    @Test("New folders are watched, including files created before the watcher saw the folder")
    func newFolders() async throws {
        try folder.write(#"{ "https://example.com/": "./" }"#, to: "manifest.json")
        let (cache, reports) = try watched()
        for number in 0..<20 { try folder.write("1", to: "a/b/c\(number)/d.txt") }
        _ = try await reports.settled(1, folder)
        #expect(try answer(cache, "https://example.com/a/b/c19/d.txt") == "1")
        try folder.write("22", to: "a/b/c7/d.txt")
        _ = try await reports.settled(reports.all.count + 1, folder)
        #expect(try answer(cache, "https://example.com/a/b/c7/d.txt") == "22")
    }

    @Test("A fix that changes no file's bytes is reported, such as a new folder or a link's new target")
    func mendedWithoutBytes() async throws {
        let (cache, reports) = try watched()
        try folder.write(#"{ "https://example.com/d/": "d/" }"#, to: "manifest.json")
        try await reports.waitFor("missing-file")
        let place = folder.url.appendingPathComponent("d")
        try FileManager.default.createSymbolicLink(atPath: place.path, withDestinationPath: "none")
        try await reports.waitFor(2)
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        try await wait(for: "the folder") { reports.all.last?.hasPrefix("d") == true }
        #expect(try answer(cache) == nil)
    }

    @Test("Enclosing folders that are removed and created again are watched again")
    func outerFolderComesBack() async throws {
        let outer = try TemporaryFolder()
        let manifest = #"{ "https://example.com/site.css": "site.css" }"#
        try outer.write(manifest, to: "a/b/manifest.json")
        try outer.write("old", to: "a/b/site.css")
        let inner = outer.url.appendingPathComponent("a/b/manifest.json")
        let (cache, reports) = try watched(SubstitutionCache(manifest: inner, reading: .copied))
        for text in ["new", "newer"] {
            let count = reports.all.count
            try FileManager.default.removeItem(at: outer.url.appendingPathComponent("a"))
            try await reports.waitFor(count + 1)
            try outer.write(manifest, to: "a/b/manifest.json")
            try outer.write(text, to: "a/b/site.css")
            try await wait(for: text) { try answer(cache) == text }
        }
    }

    @Test("A manifest that is a link into another folder is watched there, too")
    func linkedManifest() async throws {
        let other = try TemporaryFolder()
        let shared = other.url.appendingPathComponent("shared.json")
        try FileManager.default.moveItem(at: manifest, to: shared)
        try FileManager.default.createSymbolicLink(at: manifest, withDestinationURL: shared)
        let (cache, reports) = try watched()
        try other.write(#"{ "https://example.com/other": "css/site.css" }"#, to: "shared.json")
        #expect(try await reports.settled(1, folder).first == "manifest.json")
        #expect(try answer(cache, "https://example.com/other") == "old")
    }

    @Test("A cache that maps its files is refused, as is a missing folder")
    func refused() throws {
        let mapped = try SubstitutionCache(manifest: manifest)
        let error = try #require(throws: ManifestError.self) { try mapped.reloadWhenChanged() }
        #expect(error.issues.map(\.code) == [.notWatched])
        #expect(error.description.hasSuffix("create the cache with reading: .copied"))
        let inMemory = try folder.cache("{}", reading: .copied)
        try FileManager.default.removeItem(at: folder.url)
        let second = try #require(throws: ManifestError.self) { try inMemory.reloadWhenChanged() }
        #expect(second.description.contains("cannot be watched"))
    }

    @Test("A manifest in memory is kept, and its files are read again")
    func inMemory() async throws {
        let manifest = try String(contentsOf: manifest, encoding: .utf8)
        let (cache, reports) = try watched(folder.cache(manifest, reading: .copied))
        try folder.write("new", to: "css/site.css")
        _ = try await reports.settled(1, folder)
        #expect(try answer(cache) == "new")
    }

    @Test("Watching ends with the cache")
    func ends() async throws {
        let reports = Reports()
        weak var weakCache: SubstitutionCache?
        try {
            let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
            try cache.reloadWhenChanged { reports.append($0) }
            weakCache = cache
        }()
        // While a report is in progress, it keeps the cache alive.
        while weakCache != nil { try await Task.sleep(nanoseconds: 10_000_000) }
        let (other, others) = try watched()
        try folder.write("new", to: "css/site.css")
        _ = try await others.settled(1, folder)
        #expect(reports.all == [])
        withExtendedLifetime(other) {}
    }

    @Test("A manifest without errors gets its warnings")
    func warnings() throws {
        try folder.write("{}", to: "manifest.json")
        let issues = try ManifestIssue.all(in: manifest)
        #expect(issues.map(\.code.rawValue) == ["unused-file"] && issues.map(\.severity) == [.warning])
    }

    @Test("Reloading reports the issues that the tool prints; the initialiser reports the first mistake")
    func issues() async throws {
        let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
        let told = Locked("")
        try cache.reloadWhenChanged { result in
            if case .failure(let error) = result { told.withLock { $0 = "\(error.issues.count) \(error)" } }
        }
        try folder.write(#"{ "https://h/a": "css/site.ccs", }"#, to: "manifest.json")
        try await wait(for: "the advice") { told.value.contains("did you mean \"css/site.css\"?") }
        withExtendedLifetime(cache) { #expect(told.value.hasPrefix("2 ")) }
        let error = #expect(throws: ManifestError.self) { try SubstitutionCache(manifest: manifest) }
        #expect(error?.issues.map(\.code.rawValue) == ["syntax"])
    }
}
