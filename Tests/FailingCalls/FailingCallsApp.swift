// Only Linux has the system calls that fail here.
#if os(Linux)
import LocalSubstitutionArchive

import Foundation
import FoundationNetworking
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer

/// A small app for the tests in which system calls fail.
///
/// It prepares something, does one operation while calls may fail, and then prints what it has.
///
///     FailingCallsApp OPERATION FOLDER
@main
enum FailingCallsApp {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            guard arguments.count == 3 else { throw CocoaError(.featureUnsupported) }
            let app = Operations(folder: URL(fileURLWithPath: arguments[2]))
            let operations: [String: () async throws -> Void] = [
                "load": app.load, "range": app.range, "launch": app.launch, "choose": app.choose, "adopt": app.adopt,
                "adoptAgain": app.adoptAgain, "store": app.store, "replay": app.replay, "remove": app.remove,
                "save": app.save,
            ]
            guard let operation = operations[arguments[1]] else { throw CocoaError(.featureUnsupported) }
            try await operation()
        } catch {
            failing(false)
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            end(1)
        }
        end(0)
    }

    /// Ends the process, without another attempt to save a recording.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }

    /// Lets calls fail from now on, or no longer; has no effect if the library of the test is not loaded.
    static func failing(_ isOn: Bool) {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "failing_calls") else { return }
        unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Void).self)(isOn ? 1 : 0)
    }
}

private struct Operations {
    let folder: URL

    private var manifest: URL { folder.appendingPathComponent("manifest.json") }

    /// Does something while calls may fail.
    private func whileFailing<T>(_ operation: () throws -> T) rethrows -> T {
        FailingCallsApp.failing(true)
        defer { FailingCallsApp.failing(false) }
        return try operation()
    }

    private func whileFailing<T>(_ operation: () async throws -> T) async rethrows -> T {
        FailingCallsApp.failing(true)
        defer { FailingCallsApp.failing(false) }
        return try await operation()
    }

    private func request(_ url: String, _ headers: [String: String] = [:]) throws -> URLRequest {
        guard let url = URL(string: url) else { throw CocoaError(.formatting) }
        var request = URLRequest(url: url)
        headers.forEach { request.setValue($1, forHTTPHeaderField: $0) }
        return request
    }

    // MARK: - A manifest

    func load() throws {
        let mapping = try whileFailing { try SubstitutionCache(manifest: manifest, reading: .mapped) }
        let copying = try whileFailing { try SubstitutionCache(manifest: manifest, reading: .copied) }
        for cache in [mapping, copying] {
            for substitution in cache.substitutions.sorted(by: { $0.url < $1.url }) {
                let data = try cache.cachedResponse(for: request(substitution.url))?.data
                print(substitution.url, data?.count ?? -1, Set(data ?? Data()).sorted())
            }
        }
    }

    // MARK: - A newer folder

    private var incoming: URL { folder.appendingPathComponent("incoming") }

    private func newest() throws -> SubstitutionCache {
        guard let bundle = Bundle(url: folder.appendingPathComponent("App.bundle")) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let downloads = folder.appendingPathComponent("Application Support/downloads")
        return try SubstitutionCache(bundle: bundle, newerFolder: downloads)
    }

    /// Prints which version answers, with the bytes of each file, and the reason if the newer folder is passed over.
    private func show(_ cache: SubstitutionCache) throws {
        let texts = try cache.substitutions.map { substitution in
            let data = try cache.cachedResponse(for: request(substitution.url))?.data
            return String(decoding: data ?? Data(), as: UTF8.self)
        }
        let reason = cache.newerFolderError.map { " (\($0))" } ?? ""
        print("\(cache.manifestVersion): \(texts.joined(separator: " "))", reason)
    }

    func launch() throws { try show(newest()) }

    func choose() throws {
        // Foundation's lookup in the bundle does not say which calls have failed.
        let cache = try newest()
        defer { try? show(cache) }
        try whileFailing { try cache.reload() }
    }

    func adopt() throws {
        let cache = try newest()
        defer { try? show(cache) }
        try whileFailing { try cache.adopt(incoming) }
    }

    /// Adopts one folder after another, until the process is killed.
    func adoptAgain() throws {
        let cache = try newest()
        try? FileManager.default.removeItem(at: incoming)
        print("ready")
        fflush(nil)
        for version in (cache.manifestVersion + 1)... {
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: true)
            let manifest = "{ \"$version\": \(version), \"https://example.com/\": \"./\" }"
            for name in ["manifest.json", "a.txt", "b.txt", "c.txt"] {
                let text = name == "manifest.json" ? manifest : "\(version)"
                try Data(text.utf8).write(to: incoming.appendingPathComponent(name))
            }
            try cache.adopt(incoming)
        }
    }

    func range() throws {
        let cache = try SubstitutionCache(manifest: manifest)
        let request = try request("https://example.com/large.bin", ["Range": "bytes=5000-289999"])
        let response = whileFailing { cache.cachedResponse(for: request) }
        print(response?.data.count ?? -1, Set(response?.data ?? Data()).sorted())
    }

    // MARK: - An archive

    /// A server of pages, and a session with an archive.
    private final class Archived: Sendable {
        let server: LoopbackServer
        let archive: OfflineArchive
        let session: URLSession

        init(_ folder: URL, _ manifest: URL) throws {
            server = try LoopbackServer { request in
                .text(String(repeating: request.headers["accept-language"] ?? "", count: 50_000))
            }
            let directory = folder.appendingPathComponent("Offline")
            archive = try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["127.0.0.1"])
            try SubstitutionCache(manifest: manifest).install(archive: archive)
            session = URLSession(substituting: .ephemeral)
        }

        /// Loads a page, and waits until it is written; returns what came.
        func load(_ path: String, _ version: String = "") async -> String {
            var request = URLRequest(url: server.url.appendingPathComponent(path))
            request.setValue(version, forHTTPHeaderField: "Accept-Language")
            do {
                let (data, _) = try await session.data(for: request)
                archive.wait()
                return "\(data.count) × \(String(decoding: Set(data).sorted(), as: UTF8.self))"
            } catch {
                return "nothing"
            }
        }
    }

    func store() async throws {
        let site = try Archived(folder, manifest)
        _ = await site.load("page", "1")
        print("online:", await whileFailing { await site.load("page", "2") })
        site.server.stop()
        print("offline:", await site.load("page"))
    }

    func replay() async throws {
        let site = try Archived(folder, manifest)
        _ = await site.load("page", "1")
        site.server.stop()
        print("offline:", await whileFailing { await site.load("page") })
        print("again:", await site.load("page"))
    }

    func remove() async throws {
        let site = try Archived(folder, manifest)
        for path in ["page", "other"] { _ = await site.load(path, "1") }
        site.server.stop()
        let isDone = whileFailing { (try? site.archive.removeAll()) != nil }
        // Whatever the removal says, its copy is not replayed.
        print(isDone ? "done" : "failed")
        print("offline:", await site.load("page"))
        site.archive.wait()
    }

    // MARK: - A recording

    func save() throws {
        let cache = try SubstitutionCache(manifest: manifest)
        let recording = try cache.record(to: folder.appendingPathComponent("app.har"))
        _ = try cache.cachedResponse(for: request("https://example.com/small.txt"))
        try recording.save()
        _ = try cache.cachedResponse(for: request("https://example.com/large.bin"))
        try whileFailing { try recording.save() }
    }
}

extension OfflineArchive {
    /// Waits until all copies that are pending now have been written.
    fileprivate func wait() { _ = copies }
}
#else
@main
enum FailingCallsApp {
    static func main() {}
}
#endif
