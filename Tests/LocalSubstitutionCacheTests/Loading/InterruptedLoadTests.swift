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

extension InstalledTests {
    @Suite("Interrupted loads, many at once, and orders of events")
    final class InterruptedLoadTests: InstalledSuite {
        @Test(
            "Cancelling at any stage ends a task once, with the usual error",
            arguments: ["[503]", "[\"offline\", 418]"]
        )
        func cancelledAtAnyStage(conditions: String) async throws {
            let site = try Site(folder, when: conditions) { request in
                switch request.headers["x-stage"] {
                case "silent": .init(transfer: .silent)
                case "stall": .init(body: Data(repeating: 97, count: 100_000), transfer: .stalling(after: 50_000))
                case "redirect": .init(status: 302, headers: ["Location": "/when"])
                case "status": .text("no", status: 503)
                default: .text(Self.networkText)
                }
            }
            defer { site.server.stop() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stage in ["none", "silent", "stall", "redirect", "status"] {
                    // Foundation on Linux crashes the process if a task is cancelled while a delegate is asked about a
                    // redirect.
                    for session in stage == "redirect" ? [site.plain] : [site.session, site.plain] {
                        var request = site.request
                        request.setValue(stage, forHTTPHeaderField: "X-Stage")
                        let load = request
                        group.addTask {
                            for round in stride(from: 0, to: 100, by: Program.isLongRun ? 1 : 5) {
                                let (_, error) = try await session.result(of: load) { task in
                                    try await Task.sleep(nanoseconds: UInt64(round) * 40_000)
                                    task.cancel()
                                }
                                let code = (error as? URLError)?.code
                                #expect(
                                    [nil, .cancelled].contains(code)
                                        || stage == "redirect" && code == .httpTooManyRedirects
                                )
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("A task suspended before its answer gets the answer after resume()", arguments: [true, false])
        func suspendedBeforeAnswer(hasDelegate: Bool) async throws {
            let gate = Gate()
            let site = try Site(folder, when: "[503]") { _ in
                gate.wait()
                return .text("no", status: 503)
            }
            defer { site.server.stop() }
            let session = hasDelegate ? site.session : site.plain
            let (data, _) = try await session.result(of: site.request) { task in
                await site.server.waitForRequests(1)
                task.suspend()
                // Foundation stops the load later, on its own queue. Until then, Foundation still delivers an answer.
                // So wait until the load has stopped.
                await session.settle()
                gate.open()
                // Leave time for the server's answer to arrive. The answer must not reach the suspended task.
                try await Task.sleep(nanoseconds: 100_000_000)
                #expect(task.state == .suspended)
                task.resume()
            }
            #expect(data == Data(Self.fileText.utf8))
        }

        @Test("A task that is repeatedly suspended and resumed while it loads is answered")
        func resumedAgain() async throws {
            for _ in 0..<10 {
                let gate = Gate()
                let site = try Site(folder, when: "503") { _ in
                    gate.wait()
                    return .text("no", status: 503)
                }
                defer { site.server.stop() }
                let (data, _) = try await site.session.result(of: site.request) { task in
                    for _ in 0..<20 {
                        task.suspend()
                        task.resume()
                        task.resume()
                    }
                    // If a task is resumed at the moment when it finishes, the process crashes, even without this
                    // library.
                    gate.open()
                }
                #expect(data == Data(Self.fileText.utf8))
            }
        }

        @Test("A slow delegate that invalidates its session at a redirect does not disturb other loads")
        func hostileRedirectDelegate() async throws {
            let site = try redirecting(to: "/always", when: "418")
            defer { site.server.stop() }
            let configuration = site.session.configuration
            for _ in 0..<3 {
                let current = Locked<URLSession?>(nil)
                let client = StrictClient(onRedirect: { request, decide in
                    current.value?.finishTasksAndInvalidate()
                    usleep(50_000)
                    decide(request)
                })
                let session = URLSession.named(configuration, delegate: client)
                _ = current.replace(with: session)
                #expect(try await TaskKind.delegate.load(site.request, in: session).1 == Data(Self.networkText.utf8))
                #expect(try await TaskKind.async.load(site.request, in: site.session).1 == Data(Self.fileText.utf8))
                #expect(!client.complaints.contains("on another queue"))
            }
        }

        @Test("200 loads at once are each answered as the server decides", arguments: [false, true])
        func manyFallbacks(withDelegate: Bool) async throws {
            let site = try Site(folder, when: "[503]") { request in
                request.headers["x-refused"] == "yes" ? .text("no", status: 503) : .text(Self.networkText)
            }
            defer { site.server.stop() }
            let session = withDelegate ? site.session : site.plain
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    var request = site.request
                    request.setValue(number % 2 == 0 ? "yes" : "no", forHTTPHeaderField: "X-Refused")
                    let (load, kind) = (request, withDelegate && number % 3 == 0 ? TaskKind.delegate : .async)
                    group.addTask {
                        let refused = kind == .delegate ? "no" : Self.fileText
                        let expected = number % 2 == 0 ? refused : Self.networkText
                        return try await kind.load(load, in: session).1 == Data(expected.utf8)
                    }
                }
                for try await isExpected in group { #expect(isExpected) }
            }
            #expect(site.server.requests.count == 200)
        }

        // Only on Linux does Foundation itself report a cancellation to the protocol's client.
        #if canImport(FoundationNetworking)
        /// Foundation creates no challenge for a bearer token.
        ///
        /// Instead, Foundation finishes the task with the 401.
        @Test("A cancellation finds no client once a 401 that asks for a bearer token has finished")
        func cancelAfterUnknownChallenge() async throws {
            let site = try Site(folder, when: "503") { _ in
                .init(status: 401, headers: ["WWW-Authenticate": "Bearer"], body: Data("no".utf8))
            }
            defer { site.server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCredentialStorage = nil
            configuration.protocolClasses = [KeptProtocol.self] + (configuration.protocolClasses ?? [])
            let session = URLSession(configuration: configuration)
            let (response, _) = try await TaskKind.completion.load(site.request, in: session)
            #expect(response.statusCode == 401)
            await session.settle()
            let loader = try #require(KeptProtocol.last)
            // If a task is cancelled just before it ends, Foundation may call `stopLoading()` after the task has ended.
            loader.stopLoading()
            #expect(loader.client == nil)
            KeptProtocol.last = nil
        }

        private final class KeptProtocol: SubstitutionURLProtocol {
            // Only one test uses this variable.
            nonisolated(unsafe) static var last: KeptProtocol?

            override func startLoading() {
                Self.last = self
                super.startLoading()
            }
        }
        #endif

        // The tests below force events between `canInit(with:)` and `startLoading()`, or while a body is received. A
        // session asks its cache between these two calls, and `HookCache` then runs the test's code. While a body is
        // received, the test itself cancels the task.

        /// Returns a session that uses substitutions, and that runs `body` once for each task, before `startLoading()`.
        private func session(between body: @escaping @Sendable (URLSessionDataTask) -> Void) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = HookCache { task in
                body(task)
                return nil
            }
            return .using(configuration)
        }

        private func text(_ request: URLRequest, in session: URLSession) async throws -> String {
            try await String(decoding: session.data(for: request).0, as: UTF8.self)
        }

        /// The manifest's entry for the request's URL.
        enum Entry: String {
            case none
            case file
            case networkFirst

            func manifest(for request: URLRequest) -> Data {
                let url = request.url?.absoluteString ?? ""
                return switch self {
                case .none: Data("{}".utf8)
                case .file: Data("{ \"\(url)\": \"a.txt\" }".utf8)
                case .networkFirst: Data("{ \"\(url)\": { \"file\": \"a.txt\", \"when\": 503 } }".utf8)
                }
            }
        }

        @Test(
            "If a reload changes the entry between canInit and startLoading, the new entry decides",
            arguments: [(Entry.file, Entry.none, false), (.file, .networkFirst, false), (.networkFirst, .file, true)]
        )
        func reloadBetween(before: Entry, after: Entry, isFile: Bool) async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            try before.manifest(for: request).write(to: manifest)
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let changed = after.manifest(for: request)
            let session = session { _ in
                try? changed.write(to: manifest)
                try? cache.reload()
            }
            #expect(try await text(request, in: session) == (isFile ? Self.fileText : Self.networkText))
            #expect(server.requests.count == (isFile ? 0 : 1))
        }

        @Test(
            "If another cache, or none, is installed between canInit and startLoading, that one decides",
            arguments: [true, false]
        )
        func installedBetween(isOther: Bool) async throws {
            let other = try folder.cache("{}")
            let cache = cache
            let session = session { _ in
                if isOther { other.install() } else { cache.uninstall() }
            }
            #expect(try await text(request, in: session) == Self.networkText)
        }

        @Test(
            "A task that is cancelled between canInit and startLoading ends once, as cancelled",
            arguments: [true, false]
        )
        func cancelledBetween(isNamed: Bool) async throws {
            let session = session { $0.cancel() }
            var load = request
            if !isNamed {
                try folder.cache("{ \"\(request.url?.absoluteString ?? "")\": { \"file\": \"a.txt\", \"when\": 503 } }")
                    .install()
                load.timeoutInterval = 300
            }
            let (data, error) = try await session.result(of: load) { _ in }
            #expect((error as? URLError)?.code == .cancelled && data == nil)
        }

        @Test("A task that is cancelled between head and body received only network bytes, and ends once")
        func cancelledWhileBodyArrives() async throws {
            let site = try Site(folder, when: "[\"offline\", 503]") { _ in
                .init(body: Data(repeating: 97, count: 100_000), transfer: .stalling(after: 50_000))
            }
            defer { site.server.stop() }
            for conditions in ["\"offline\"", "[\"offline\", 503]"] {
                try folder.cache(
                    "{ \"\(site.request.url?.absoluteString ?? "")\": { \"file\": \"a.txt\", \"when\": \(conditions) } }"
                ).install()
                let hasBody = Flag()
                let client = StrictClient(onPart: { _ in hasBody.set() })
                let session = client.session(site.session.configuration)
                site.server.forgetRequests()
                let task = session.dataTask(with: site.request)
                async let loading = client.load(task)
                await site.server.waitForRequests(1)
                while conditions == "\"offline\"", !hasBody.isSet { try await Task.sleep(nanoseconds: 1_000_000) }
                task.cancel()
                let load = await loading
                await session.settle()
                #expect(load.error == .cancelled && load.heads.count <= 1)
                #expect(load.heads.allSatisfy { $0.value(forHTTPHeaderField: "Cache-Status") == nil })
                #expect(load.body.allSatisfy { $0 == 97 })
                #expect(client.complaints == [])
            }
        }

        /// The way in which a load ends.
        enum End: String, CaseIterable {
            case file, silence, offline, status, network, redirect, cancellation, suspensionAndCancellation,
                invalidation
        }

        @Test("No task, protocol or load stays in memory, however it ends", arguments: End.allCases, [true, false])
        func nothing(end: End, hasDelegate: Bool) async throws {
            // On a busy machine, a second may pass before a request is sent, which the test would wait for in vain.
            let patience = [.cancellation, .invalidation].contains(end) ? "60s" : "1s"
            let site = try Site(folder, when: "[\"offline\", 404, \"\(patience)\"]") { request in
                switch end {
                case .status: .text("gone", status: 404)
                case .network: .text(Self.networkText)
                case .redirect: .init(status: 302, headers: ["Location": "/always"])
                default: .init(transfer: .silent)
                }
            }
            defer { site.server.stop() }
            if end == .offline { site.server.stop() }
            Tracked.reset()
            for _ in 0..<(Program.isLongRun ? 50 : 1) {
                try await load(Program.isLongRun ? 200 : 50, end, hasDelegate, site)
            }
            try await wait(for: "the end of \(Tracked.living)") { Tracked.living.isEmpty }
        }

        private func load(_ count: Int, _ end: End, _ hasDelegate: Bool, _ site: Site) async throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Tracked.self] + (configuration.protocolClasses ?? [])
            // Every load begins at once.
            configuration.httpMaximumConnectionsPerHost = count
            let session = URLSession(
                configuration: configuration,
                delegate: hasDelegate ? StrictClient() : nil,
                delegateQueue: nil
            )
            var request = site.request
            if end == .file { request.url = site.server.url.appendingPathComponent("always") }
            let tasks = (0..<count).map { _ in
                hasDelegate ? session.dataTask(with: request) : session.dataTask(with: request) { _, _, _ in }
            }
            // If a session is invalidated before its loads begin, Foundation on Linux does not report their ends.
            site.server.forgetRequests()
            for task in tasks { task.resume() }
            if end == .invalidation || end == .cancellation { await site.server.waitForRequests(count) }
            if end == .invalidation { session.invalidateAndCancel() }
            for task in tasks {
                if end == .suspensionAndCancellation { task.suspend() }
                if [.cancellation, .suspensionAndCancellation].contains(end) { task.cancel() }
            }
            for task in tasks {
                while task.state != .completed { try await Task.sleep(nanoseconds: 1_000_000) }
            }
            session.finishTasksAndInvalidate()
        }
    }
}

/// A protocol that notes its instances, their loads and their tasks.
private final class Tracked: SubstitutionURLProtocol {
    // Only the reference is passed between threads.
    private struct Reference: @unchecked Sendable {
        weak let object: AnyObject?
    }

    private static let references = Locked<[Reference]>([])

    /// The number of objects by kind that still exist.
    static var living: [String: Int] {
        references.value.compactMap(\.object).reduce(into: [:]) { $0["\(type(of: $1))", default: 0] += 1 }
    }

    static func reset() { _ = references.replace(with: []) }

    override func startLoading() {
        super.startLoading()
        let added = [self, load, task].map { Reference(object: $0) }
        Self.references.withLock { $0 += added }
    }
}
