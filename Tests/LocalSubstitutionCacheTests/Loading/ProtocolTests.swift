import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("The protocol")
    final class ProtocolTests: InstalledSuite {
        @Test(
            "The protocol gives the same bytes and head as the cache",
            arguments: [
                ("GET", [:]), ("HEAD", [:]), ("GET", ["Range": "bytes=5-7"]), ("GET", ["Range": "bytes=99999-"]),
                ("HEAD", ["Range": "bytes=5-7"]), ("GET", ["Accept": "text/plain"]),
            ]
        )
        func sameAsCache(method: String, headers: [String: String]) async throws {
            var request = request
            request.httpMethod = method
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            let expected = try #require(cache.cachedResponse(for: request))
            let (data, response) = try await URLSession.using().data(for: request)
            let (head, expectedHead) = try (
                #require(response as? HTTPURLResponse), #require(expected.response as? HTTPURLResponse)
            )
            #expect(data == expected.data)
            #expect(head.statusCode == expectedHead.statusCode)
            #expect(head.url == expectedHead.url)
            #expect(head.allHeaderFields as? [String: String] == expectedHead.allHeaderFields as? [String: String])
            #expect(server.requests.isEmpty)
        }

        @Test("A response from the session's cache does not count; the table and the request decide")
        func handedOver() async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            try folder.write("{ \"\(request.url?.absoluteString ?? "")\": \"a.txt\" }", to: "manifest.json")
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let old = try #require(cache.cachedResponse(for: request))
            let foreign = CachedURLResponse(response: old.response, data: Data("foreign".utf8))
            try folder.write("newer", to: "a.txt")
            try cache.reload()
            let current = try #require(cache.cachedResponse(for: request))
            for handedOver in [old, foreign, current] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.urlCache = HookCache { _ in handedOver }
                let session = URLSession.using(configuration)
                let (data, _) = try await session.data(for: request)
                #expect(String(decoding: data, as: UTF8.self) == "newer")
                var part = request
                part.setValue("bytes=1-2", forHTTPHeaderField: "Range")
                #expect(try await session.data(for: part).0 == Data("ew".utf8))
                var head = request
                head.httpMethod = "HEAD"
                #expect(try await session.data(for: head).0.isEmpty)
            }
        }

        @Test("A task that is suspended and resumed is answered once")
        func suspended() async throws {
            let session = URLSession.using()
            for _ in 0..<10 {
                let (data, _) = try await session.result(of: request) { task in
                    task.suspend()
                    // On Linux, if a task is resumed at the moment when it finishes, the process crashes, even without
                    // this library.
                    await session.settle()
                    task.resume()
                }
                #expect(data == Data(Self.fileText.utf8))
            }
        }

        @Test("A task that is cancelled at once ends with the usual error, or with its answer")
        func cancelled() async throws {
            let (session, request) = (URLSession.using(), request)
            try await onThread {
                for round in 0..<(Program.isLongRun ? 2000 : 300) {
                    let end = DispatchSemaphore(value: 0)
                    let task = session.dataTask(with: request) { _, _, error in
                        if let error { #expect((error as? URLError)?.code == .cancelled) }
                        end.signal()
                    }
                    task.resume()
                    usleep(UInt32(round % 100))
                    task.cancel()
                    end.wait()
                }
            }
        }

        @Test("A large file is delivered in one piece, without a copy")
        func large() async throws {
            let bytes = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            try folder.write(bytes, to: "large.bin")
            let url = server.url.appendingPathComponent("large.bin")
            let cache = try folder.cache("{ \"\(url.absoluteString)\": \"large.bin\" }")
            cache.install()
            let (data, _) = try await URLSession.using().data(from: url)
            #expect(data == bytes)
            let prepared = try #require(cache.cachedResponse(for: URLRequest(url: url)))
            let starts = [data, prepared.data].map { $0.withUnsafeBytes { $0.baseAddress } }
            #expect(starts[0] == starts[1])
        }

        @Test("While an entry is added and removed, each load gets the file or the network's answer, no error")
        func comingAndGoing() async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            let url = server.url.appendingPathComponent("a.txt").absoluteString
            let manifests = ["{ \"\(url)\": \"a.txt\" }", "{}"].map { Data($0.utf8) }
            try manifests[0].write(to: manifest)
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let session = URLSession.using()
            let isDone = Flag()
            let reloads = Thread {
                var round = 0
                while !isDone.isSet {
                    round += 1
                    try? manifests[round % 2].write(to: manifest, options: .atomic)
                    try? cache.reload()
                }
            }
            reloads.start()
            var seen: Set<Data> = []
            for _ in 0..<(Program.isLongRun ? 2000 : 300) { seen.insert(try await session.data(for: request).0) }
            isDone.set()
            #expect(seen.isSubset(of: [Data(Self.fileText.utf8), Data(Self.networkText.utf8)]))
        }

        @Test("Installing other caches while tasks start causes no deadlock")
        func installedMeanwhile() async throws {
            let request = request
            let manifest = "{ \"\(request.url?.absoluteString ?? "")\": \"a.txt\" }"
            let caches = try (0..<2).map { _ in try folder.cache(manifest) }
            let isDone = Flag()
            async let installs: Void = onThread {
                var round = 0
                while !isDone.isSet {
                    caches[round % 2].install()
                    round += 1
                }
            }
            let session = URLSession.using()
            try await withThrowingTaskGroup(of: Data?.self) { group in
                for _ in 0..<(Program.isLongRun ? 1000 : 200) {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            let task = session.dataTask(with: request) { data, _, _ in
                                continuation.resume(returning: data)
                            }
                            task.resume()
                        }
                    }
                }
                for try await data in group { #expect(data == Data(Self.fileText.utf8)) }
            }
            isDone.set()
            try await installs
        }

        @Test(
            "A load with a completion handler, in a session that lists the protocol, gets the answers of the table",
            Platform.measuredOnLinux
        )
        func answers() async throws {
            let hosts = Lazily()
            let here = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let there = try LoopbackServer { AppRequest.respond($0.path, hosts.value) }
            let gone = try LoopbackServer { _ in .text("") }
            gone.stop()
            defer { for server in [here, there] { server.stop() } }
            let all = [here, there, gone].map(\.url.absoluteString)
            hosts.value = AppRequest.Hosts(here: all[0], there: all[1], gone: all[2])
            for file in AppRequest.files { try folder.write("file \(file)", to: file) }
            try folder.cache(hosts.value.manifest).install()
            let sessions = [URLSession.shared, .using(.default), .using(.ephemeral)]
            for row in AppRequest.all {
                var request = URLRequest(url: try #require(URL(string: row.url(hosts.value))))
                request.httpMethod = row.method
                for (name, value) in row.fields { request.setValue(value, forHTTPHeaderField: name) }
                for session in sessions {
                    let head = try await TaskKind.completion.load(request, in: session).0
                    let answer = AppRequest.answer(status: head.statusCode) { head.value(forHTTPHeaderField: $0) }
                    #expect(answer == row.answer, "\(row)")
                }
            }
        }

        @Test("A URL with a user name is left to the network", Platform.measuredOnLinux)
        func userName() async throws {
            let url = try #require(request.url?.absoluteString.replacingOccurrences(of: "//", with: "//name:word@"))
            let named = URLRequest(url: try #require(URL(string: url)))
            #expect(try await answerer(of: named, in: .shared) == "network")
        }
    }
}

/// The servers' addresses, which are known only once the servers run.
// Mutable state is only accessed inside the lock.
private final class Lazily: @unchecked Sendable {
    private let lock = NSLock()
    private var hosts = AppRequest.Hosts(here: "", there: "", gone: "")
    var value: AppRequest.Hosts {
        get { lock.withLock { hosts } }
        set { lock.withLock { hosts = newValue } }
    }
}
