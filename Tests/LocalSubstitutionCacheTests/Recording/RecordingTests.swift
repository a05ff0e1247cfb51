import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionDevelopment

/// Compares the recording of an app with the requests that the server received.
extension InstalledTests {
    @Suite("Recording an app")
    final class RecordingTests: InstalledSuite {
        private static let manifest = """
            { "SITE/a.txt": "a.txt", "SITE/when": { "file": "a.txt", "when": ["offline", 503] },
              "SITE/gone": { "file": "a.txt", "when": 404 }, "SITE/target": "a.txt" }
            """

        private static let options = Recording.Options(hosts: ["127.0.0.1"])
        /// The beginning of the comment in place of a body that may belong to one user.
        private static let personal = "it is only recorded if anybody could get it, but its "

        /// A server, an installed cache with entries for some of its URLs, and the cache's recording.
        private final class App {
            let site: LoopbackServer
            let cache: SubstitutionCache
            let recording: Recording

            init(_ folder: TemporaryFolder, _ options: Recording.Options = RecordingTests.options) throws {
                site = try LoopbackServer { request in
                    switch request.path {
                    case "/when", "/gone": .text("network", status: request.path == "/when" ? 200 : 404)
                    case "/moved": .init(status: 302, headers: ["Location": "/page"])
                    case "/to-file": .init(status: 302, headers: ["Location": "/target"])
                    case "/slow": .init(body: Data(count: 9), transfer: .stalling(after: 3))
                    case "/kept": .init(headers: ["Cache-Control": "max-age=600"], body: Data("kept".utf8))
                    default: .text("page")
                    }
                }
                let text = RecordingTests.manifest.replacingOccurrences(of: "SITE", with: site.url.absoluteString)
                cache = try folder.cache(text)
                cache.install()
                recording = try cache.record(to: folder.url.appendingPathComponent("app.har"), options: options)
            }

            deinit {
                cache.uninstall()
                site.stop()
            }

            func request(_ path: String, _ method: String = "GET") -> URLRequest { site.request(path, method) }

            func load(_ paths: String..., in session: URLSession) async throws {
                for path in paths { _ = try await TaskKind.async.load(request(path), in: session) }
            }

            /// Returns all recorded entries, once all tasks of a session have ended.
            func entries(_ session: URLSession) async throws -> [RecordedEntry] {
                await session.settle()
                try recording.save()
                return try RecordedEntry.all(in: recording.file)
            }

            func lines(_ session: URLSession) async throws -> [String] { try await entries(session).map(\.line) }
        }

        /// Returns a session that uses substitutions, so the library's protocol is in its `protocolClasses`.
        private func listing(registered: Bool, cache: URLCache? = nil) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            return .using(configuration, delegate: StrictClient(), registered: registered)
        }

        @Test("Each kind of task is recorded, in registered and unregistered sessions", arguments: [false, true])
        func kinds(registered: Bool) async throws {
            let app = try App(folder)
            let session = listing(registered: registered)
            // A recording continues after a reload.
            try app.cache.reload()
            for kind in TaskKind.receiving {
                for path in ["a.txt", "page", "when", "gone", "missing.txt"] {
                    _ = try await kind.load(app.request(path), in: session)
                }
            }
            // A delegate has already received the head of the 404, so the file cannot answer.
            let entries = try await app.entries(session)
            #expect(
                Set(entries.map(\.line)) == [
                    "GET /a.txt: file a.txt ×3 200 45", "GET /gone: network 404 7", "GET /gone: file a.txt 404 7",
                    "GET /missing.txt: network 200 4", "GET /page: network 200 4", "GET /when: network 200 7",
                ]
            )
            #expect(app.site.requests.count == 12)
            #expect(entries.count { $0.response.status > 0 && $0.answer.times == 1 } == 12)
        }

        @Test("Uploads, downloads, other methods and requests that opt out are recorded")
        func others() async throws {
            let app = try App(folder)
            let session = listing(registered: true)
            _ = try await TaskKind.upload.load(app.request("a.txt", "POST"), in: session)
            _ = try await TaskKind.download.load(app.request("page"), in: session)
            for path in ["a.txt", "page"] { _ = try await TaskKind.async.load(app.request(path, "HEAD"), in: session) }
            var optedOut = app.request("a.txt")
            optedOut.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            _ = try await TaskKind.async.load(optedOut, in: session)
            let entries = try await app.entries(session).sorted { $0.line < $1.line }
            #expect(
                entries.dropLast().map(\.line) == [
                    "GET /a.txt: network 200 4", "GET /page: network 200 4", "HEAD /a.txt: file a.txt 200 0",
                    "HEAD /page: network 200 0",
                ]
            )
            let posted = try #require(entries.last)
            #expect(posted.line.hasPrefix("POST /a.txt: network 200 ") && posted.response.content.text == nil)
            #expect(
                posted.response.content.size == 4 && posted.response.content.comment == Self.personal + "method is POST"
            )
            #expect(entries[3].response.content.comment == nil)
        }

        @Test("Offline, cancelled and unfinished loads are recorded as such")
        func ends() async throws {
            let app = try App(folder)
            let session = listing(registered: true)
            let slow = session.dataTask(with: app.request("slow"))
            slow.resume()
            await app.site.waitForRequests(1)
            try app.recording.save()
            #expect(try RecordedEntry.all(in: app.recording.file).isEmpty)
            slow.cancel()
            while slow.state != .completed { try await Task.sleep(nanoseconds: 1_000_000) }
            app.site.stop()
            try await app.load("when", in: session)
            await #expect(throws: URLError.self) { try await app.load("page", in: session) }
            let lines = try await app.lines(session)
            #expect(lines.contains { $0.hasPrefix("GET /slow: ") && $0.hasSuffix(", cancelled") }, "\(lines)")
            for start in ["GET /when: file a.txt ", "GET /page: nobody 0 0, failed: URLError -1004"] {
                #expect(lines.contains { $0.hasPrefix(start) }, "\(lines)")
            }
        }

        @Test(
            "A redirect has one entry for each request, and with an archive, the file's entry has no body",
            arguments: [(false, false), (true, false), (true, true)]
        )
        func redirects(registered: Bool, archives: Bool) async throws {
            let app = try App(folder)
            if archives { app.cache.install(archive: try makeArchive()) }
            let session = listing(registered: registered)
            try await app.load("moved", "to-file", in: session)
            let entries = try await app.entries(session)
            // Without an archive, these loads are not network-first. So the app's own task follows the redirect, and
            // Foundation does not report the 302.
            let redirected = "network 0 0, redirected, with a status that URL loading does not report"
            let others =
                archives
                ? ["GET /to-file: file a.txt 200 45"]
                : ["GET /target: network 200 4", "GET /to-file: \(redirected)"]
            #expect(entries.map(\.line).sorted() == ["GET /moved: \(redirected)", "GET /page: network 200 4"] + others)
            #expect(app.site.requests.count == 4)
            let moved = entries.first { $0.request.url.hasSuffix("/moved") }
            #expect(
                archives
                    ? entries.allSatisfy { $0.body == nil } : moved?.response.redirectURL.hasSuffix("/page") == true
            )
        }

        @Test("A load that has ended when its answer is observed is no miss, although its task has a response")
        func observedLate() async throws {
            let app = try App(folder)
            let request = app.request("page")
            let task = URLSession(configuration: .ephemeral).dataTask(with: request)
            task.resume()
            try await wait(for: "the response") { task.state == .completed }
            let log = RecordingLog(app.cache, try RecordingFile(app.recording.file), Self.options)
            log.observe(.asked, of: request, by: task)
            // The queue takes a turn between the task's end and the answer.
            #expect(log.summary.misses.count == 1)
            let response = try #require(task.response)
            log.observe(.answered(response, byteCount: 4), of: request, by: task)
            try log.save()
            #expect(log.summary.fileResponseCount == 1 && log.summary.fileByteCount == 4 && log.summary.misses.isEmpty)
            #expect(try RecordedEntry.all(in: log.file.url).map(\.line) == ["GET /page: archive 200 4"])
        }

        @Test("A response after a challenge does not get the body of the 401", arguments: [false, true])
        func challenged(registered: Bool) async throws {
            let site = try LoopbackServer { request in
                request.headers["authorization"] == nil ? .challenge : .text("yes")
            }
            defer { site.stop() }
            for (archive, kind) in [(nil, TaskKind.completion), (nil, .delegate), (try makeArchive(), .delegate)] {
                let cache = try folder.cache("{}")
                cache.install(archive: archive)
                let recording = try cache.record(
                    to: folder.url.appendingPathComponent("app.har"),
                    options: Self.options
                )
                let session = URLSession.using(delegate: StrictClient.signingIn(), registered: registered)
                let (_, data) = try await kind.load(URLRequest(url: site.url), in: session)
                #expect(String(decoding: data, as: UTF8.self).hasSuffix("yes"))
                await session.settle()
                try recording.save()
                let entries = try RecordedEntry.all(in: recording.file)
                #expect(entries.map(\.response.status) == [200] && entries.map(\.body) == [nil])
            }
        }

        @Test("A response from URL loading's own cache is distinguished from the network's")
        func fromCache() async throws {
            let app = try App(folder)
            let own = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let request = app.request("kept")
            own.storeCachedResponse(try stored("stored", for: request), for: request)
            let session = listing(registered: false, cache: own)
            try await app.load("kept", in: session)
            #expect(try await app.lines(session) == ["GET /kept: cache 200 6"])
            #expect(app.site.requests.isEmpty)
        }

        /// Foundation on Linux stores nothing in the cache by itself, so this test stores the response.
        @Test("A response that URL loading stores after the end of its task is recorded, without the body of a session")
        func stored() async throws {
            let app = try App(folder)
            // This session asks the cache, and does not have the library's protocol in its `protocolClasses`.
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = app.cache
            let asking = URLSession(configuration: configuration)
            let task = asking.dataTask(with: app.request("kept"))
            task.resume()
            try await wait(for: "the response") { task.state == .completed }
            _ = app.recording.summary
            app.cache.storeCachedResponse(try stored("stored", for: app.request("kept")), for: task)
            let entry = try #require(try await app.entries(asking).first)
            #expect(entry.line == "GET /kept: network 200 6" && entry.body == nil)
            #expect(entry.response.content.comment?.hasPrefix("its session is not registered") == true)
        }

        @Test("The cookies at the time of a load decide about its body, not those at the time of writing")
        func cookies() async throws {
            let app = try App(folder)
            let configuration = URLSessionConfiguration.ephemeral
            let session = URLSession(substituting: configuration)
            let storage = try #require(configuration.httpCookieStorage)
            let cookie = try #require(
                HTTPCookie(properties: [.domain: "127.0.0.1", .path: "/signed", .name: "user", .value: "me"])
            )
            defer { storage.deleteCookie(cookie) }
            try await app.load("signed/out", in: session)
            storage.setCookie(cookie)
            try await app.load("signed/in", in: session)
            storage.deleteCookie(cookie)
            let entries = try await app.entries(session)
            #expect(entries.map(\.body) == ["page", nil])
            #expect(
                entries.last?.response.content.comment == Self.personal + "request or response has the field Cookie"
            )
        }

        @Test("What is recorded depends on who named the host, and only the file's owner can read it")
        func named() async throws {
            let site = try LoopbackServer { _ in
                .init(headers: ["Age": "7", "X-Own": "hidden"], body: Data("page".utf8))
            }
            defer { site.stop() }
            let file = folder.url.appendingPathComponent("app.har")
            var kinds: [[RecordedEntry]] = []
            var summaries: [RecordingSummary] = []
            for (manifest, hosts) in [("{}", []), ("{ \"\(site.url)/other\": \"a.txt\" }", []), ("{}", ["127.0.0.1"])] {
                let cache = try folder.cache(manifest)
                cache.install()
                let recording = try cache.record(to: file, options: Recording.Options(hosts: Set(hosts)))
                let session = URLSession(substituting: .ephemeral)
                for path in ["page", "page?id=7", "page?id=8"] {
                    let request = URLRequest(url: try #require(URL(string: "\(site.url)/\(path)#fragment")))
                    let own = path == "page?id=8" ? ["X-User-Id": "hidden"] : [:]
                    _ = try await TaskKind.async.load(request.with(own), in: session)
                }
                await session.settle()
                try recording.stop()
                kinds.append(try RecordedEntry.all(in: file))
                summaries.append(recording.summary)
                #expect(try !String(contentsOf: file, encoding: .utf8).contains("hidden"))
            }
            let address = site.url.absoluteString
            #expect(kinds[0].map(\.request.url) == ["http://127.0.0.1/"] && kinds[0][0].answer.times == 3)
            #expect(kinds[0][0].response.content.comment == "3 × GET; 3 × 200; hosts: [\"127.0.0.1\"] shows them")
            #expect(summaries[0].misses.isEmpty && summaries[0].unnamedHostCounts == ["127.0.0.1": 3])
            #expect("\(summaries[0])".contains("\n127.0.0.1: 3 requests; hosts: [\"127.0.0.1\"] shows them"))
            #expect(kinds[1].map(\.request.url) == ["\(address)/page", "\(address)/page?id", "\(address)/page?id"])
            #expect(kinds[1].map(\.answer.isShortened) == [nil, true, true])
            #expect(kinds[1].allSatisfy { $0.body == nil && $0.request.headers.isEmpty })
            #expect(kinds[2].map(\.request.url) == ["\(address)/page", "\(address)/page?id=7", "\(address)/page?id=8"])
            #expect(kinds[2].map(\.body) == ["page", "page", nil])
            let comment = kinds[2][2].response.content.comment
            #expect(comment == Self.personal + "request or response has the field X-User-Id")
            #expect(kinds[2][2].request.headers.contains { $0.name == "X-User-Id" })
            #expect(kinds[2][0].response.headers.contains { $0.name == "Age" && $0.value == "7" })
            #expect(kinds[2][0].response.headers.contains { $0.name == "X-Own" && $0.value == "" })
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }

        @Test("Long bodies are left out, and requests beyond the limit are only counted")
        func limits() async throws {
            var options = Recording.Options(hosts: ["127.0.0.1"])
            (options.maximumBodySize, options.maximumFileSize) = (3, 4000)
            let app = try App(folder, options)
            let session = listing(registered: true)
            for number in 0..<20 { try await app.load("page-\(number)", in: session) }
            let entries = try await app.entries(session)
            #expect(entries.first?.line == "GET /page-0: network 200 4" && (1..<20).contains(entries.count))
            #expect(entries.first?.response.content.comment == "it has 4 bytes, more than 3")
            let (summary, omitted) = (app.recording.summary, 20 - entries.count)
            #expect(summary.requestCount == 20 && summary.omittedRequestCount == omitted)
            #expect("\(summary)".hasSuffix("\(omitted) requests are not in the file, which has reached its limit."))
            let text = try String(contentsOf: app.recording.file, encoding: .utf8)
            #expect(text.utf8.count < 4500 && text.contains("\(omitted) more were not recorded"))
        }

        @Test("The summary is a text for a debug screen")
        func summary() async throws {
            let app = try App(folder)
            let session = listing(registered: true)
            try await app.load("a.txt", "a.txt", "page", "page", "when", in: session)
            await session.settle()
            let host = app.site.url.absoluteString
            let sizes = [90, 8, 7].map { ByteCountFormatter().string(fromByteCount: $0) }
            #expect(
                "\(app.recording.summary)" == """
                    5 requests, 2 answered by the app, \(sizes[0]) not loaded
                    From the network:
                      2 × \(host)/page, \(sizes[1])
                      1 × \(host)/when, \(sizes[2])
                    """
            )
            #expect(app.recording.summary.misses.first?.reason.contains("no entry names it") == true)
        }

        @Test("A recording that cannot be written says why in a sentence, at the beginning and later")
        func problems() async throws {
            func message(_ url: URL) -> String {
                do {
                    _ = try cache.record(to: url)
                    return ""
                } catch { return "\(error)" }
            }
            let path = folder.url.path
            let foreign = try #require(URL(string: "https://me:hunter2@example.com/app.har"))
            #expect(
                [folder.url.appendingPathComponent("missing/app.har"), folder.url, foreign].map(message) == [
                    "The recording cannot be written: the folder \"\(path)/missing\" does not exist; create it first.",
                    "The recording cannot be written to \"\(path)\": it is a folder.",
                    "The recording cannot be written to \"https://…@example.com/app.har\": that is not a file URL.",
                ]
            )
            #expect(cache.observer == nil)
            let sub = folder.url.appendingPathComponent("sub")
            try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
            let recording = try cache.record(to: sub.appendingPathComponent("app.har"))
            try FileManager.default.removeItem(at: sub)
            _ = cache.cachedResponse(for: request)
            #expect(throws: (any Error).self) { try recording.save() }
            #expect(recording.summary.problem?.contains("No such file or directory") == true)
            try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
            try recording.stop()
            #expect(recording.summary.problem == nil)
            #expect(try RecordedEntry.all(in: recording.file).count == 1)
        }

        @Test("Recording and server agree about many loads at once in three sessions, some of them cancelled")
        func busy() async throws {
            let app = try App(folder)
            let sessions = [listing(registered: true), listing(registered: false), URLSession.shared]
            let texts = ["a.txt": Self.fileText, "when": "network", "gone": Self.fileText]
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    let path = ["a.txt", "page-\(number)", "when", "gone", "moved"][number % 5]
                    let (request, session) = (app.request(path), sessions[number / 5 % 3])
                    // Foundation crashes the process if a task is cancelled while a cache answers it. A cancellation
                    // during a redirect crashes the process, too (SECURITY.md).
                    let isCancelled = number % 7 == 0 && session !== URLSession.shared && path != "moved"
                    group.addTask {
                        await withCheckedContinuation { done in
                            let task = session.dataTask(with: request) { data, _, _ in
                                if !isCancelled { #expect(data == Data((texts[path] ?? "page").utf8)) }
                                done.resume()
                            }
                            task.resume()
                            if isCancelled { task.cancel() }
                        }
                    }
                }
            }
            for session in sessions { await session.settle() }
            try app.recording.save()
            let entries = try RecordedEntry.all(in: app.recording.file)
            let seen = app.site.requests.count
            let fromNetwork = entries.count {
                $0.answer.answeredBy == .network
                    || $0.answer.answeredBy == .file && $0.answer.times == 1 && $0.response.status == 404
            }
            // A cancelled load may have reached the server.
            let cancelled = entries.count { $0.answer.ended == "cancelled" }
            #expect((fromNetwork...fromNetwork + cancelled).contains(seen), "\(fromNetwork) \(cancelled) \(seen)")
            let files = entries.filter { $0.request.url.hasSuffix("/a.txt") }
            let hits = files.filter { $0.answer.answeredBy == .file }.reduce(0) { $0 + $1.answer.times }
            #expect(files.allSatisfy { $0.answer.answeredBy == .file || $0.answer.ended == "cancelled" })
            #expect(hits + files.count { $0.answer.answeredBy != .file } <= 60)
            #expect(app.recording.summary.requestCount == entries.reduce(0) { $0 + $1.answer.times })
        }

        /// Lets a cache's recording observe a request whose URL holds a word.
        private func ask(_ word: String, _ cache: SubstitutionCache) throws {
            let url = try #require(URL(string: "http://127.0.0.1:1/\(word)"))
            let asker = Asker()
            for step: RequestStep in [.asked, .ended(nil)] {
                try #require(cache.observer).observe(step, of: URLRequest(url: url), by: asker)
            }
        }

        private final class Asker: Sendable {}

        private func holds(_ word: String, _ file: URL) throws -> Bool {
            try String(contentsOf: file, encoding: .utf8).contains(word)
        }

        @Test("A recording that is being stopped writes nothing into the next one's file")
        func beingStopped() async throws {
            let file = folder.url.appendingPathComponent("app.har")
            for round in 0..<(Program.isLongRun ? 20 : 8) {
                let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
                let first = try one.record(to: file, options: .init(hosts: ["127.0.0.1"]))
                for number in 0..<40 { try ask("FIRST\(round)-\(number)", one) }
                async let stopped: Void = onThread { try? first.stop() }
                let second = try two.record(to: file, options: .init(hosts: ["127.0.0.1"]))
                try await stopped
                #expect(try !holds("FIRST\(round)-", file), "round \(round)")
                try second.stop()
            }
        }

        @Test("A recording that could not be written when it was stopped does not write over the next one")
        func failedStop() async throws {
            let (there, away) = (folder.url.appendingPathComponent("there"), folder.url.appendingPathComponent("away"))
            try FileManager.default.createDirectory(at: there, withIntermediateDirectories: true)
            let file = there.appendingPathComponent("app.har")
            let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
            let first = try one.record(to: file, options: Self.options)
            try ask("FIRST", one)
            try FileManager.default.moveItem(at: there, to: away)
            #expect(throws: (any Error).self) { try first.stop() }
            try FileManager.default.moveItem(at: away, to: there)
            let second = try two.record(to: file, options: Self.options)
            try? first.save()
            #expect(try !holds("FIRST", file))
            try second.stop()
        }

        @Test("A recording stays in its folder if the link that led there leads elsewhere")
        func changedLink() async throws {
            let link = folder.url.appendingPathComponent("link")
            func record(_ cache: SubstitutionCache, to name: String) throws -> Recording {
                try? FileManager.default.removeItem(at: link)
                let target = folder.url.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
                return try cache.record(to: link.appendingPathComponent("app.har"), options: Self.options)
            }
            let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
            let (first, second) = (try record(one, to: "one"), try record(two, to: "two"))
            try ask("FIRST", one)
            try first.save()
            #expect(try !holds("FIRST", folder.url.appendingPathComponent("two/app.har")))
            #expect(try holds("FIRST", folder.url.appendingPathComponent("one/app.har")))
            try first.stop()
            try second.stop()
        }
    }
}
