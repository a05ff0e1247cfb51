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
        @Test("Cancelling at any stage ends a task once, as usual", arguments: ["[503]", "[\"offline\", 418]"])
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
                        let load = site.request.with(["X-Stage": stage])
                        group.addTask {
                            for round in stride(from: 0, to: 100, by: Program.isLongRun ? 1 : 5) {
                                let (_, error) = try await session.result(of: load) { task in
                                    try await Task.sleep(nanoseconds: UInt64(round) * 40_000)
                                    task.cancel()
                                }
                                let code = (error as? URLError)?.code
                                let isLoop = stage == "redirect" && code == .httpTooManyRedirects
                                #expect(isLoop || [nil, .cancelled].contains(code))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// Returns a site that answers with 503 once the gate is open.
        private func gated() throws -> (Site, Gate) {
            let gate = Gate()
            let site = try Site(folder, when: "[503]") { _ in
                gate.wait()
                return .text("no", status: 503)
            }
            return (site, gate)
        }

        @Test("A task suspended before its answer gets the answer after resume()", arguments: [true, false])
        func suspendedBeforeAnswer(hasDelegate: Bool) async throws {
            let (site, gate) = try gated()
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
                let (site, gate) = try gated()
                defer { site.server.stop() }
                let (data, _) = try await site.session.result(of: site.request) { task in
                    for _ in 0..<20 {
                        task.suspend()
                        for _ in 0..<2 { task.resume() }
                    }
                    // If a task is resumed at the moment when it finishes, the process crashes, even without this
                    // library.
                    gate.open()
                }
                #expect(data == Data(Self.fileText.utf8))
            }
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

        // The tests below force events between `canInit(with:)` and `startLoading()`. A session asks its cache between
        // these two calls, and `HookCache` then runs the test's code.

        /// Returns a session that uses substitutions, and that runs `body` once for each task, before `startLoading()`.
        private func session(between body: @escaping @Sendable (URLSessionDataTask) -> Void) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = HookCache { task in
                body(task)
                return nil
            }
            return .using(configuration)
        }

        @Test(
            "If a reload changes the entry between canInit and startLoading, the new entry decides",
            arguments: [("file", "none", false), ("file", "networkFirst", false), ("networkFirst", "file", true)]
        )
        func reloadBetween(before: String, after: String, isFile: Bool) async throws {
            let manifest = folder.url.appendingPathComponent("manifest.json")
            let url = try #require(request.url?.absoluteString)
            let manifests = [
                "none": "{}", "file": "{ \"\(url)\": \"a.txt\" }", "networkFirst": networkFirst([url], when: "503"),
            ].mapValues { Data($0.utf8) }
            try manifests[before]?.write(to: manifest)
            let cache = try SubstitutionCache(manifest: manifest)
            cache.install()
            let session = session { _ in
                try? manifests[after]?.write(to: manifest)
                try? cache.reload()
            }
            let text = isFile ? Self.fileText : Self.networkText
            #expect(try await session.data(for: request).0 == Data(text.utf8))
            #expect(server.requests.count == (isFile ? 0 : 1))
        }

        @Test("If another cache, or none, is installed between canInit and startLoading, that one decides")
        func installedBetween() async throws {
            let (cache, other) = (cache, try folder.cache("{}"))
            for isOther in [true, false] {
                cache.install()
                let session = session { _ in
                    if isOther { other.install() } else { cache.uninstall() }
                }
                #expect(try await session.data(for: request).0 == Data(Self.networkText.utf8))
            }
        }

        @Test("A task that is cancelled between canInit and startLoading ends once, as cancelled")
        func cancelledBetween() async throws {
            let url = try #require(request.url?.absoluteString)
            for cache in [cache, try folder.cache(networkFirst([url], when: "503"))] {
                cache.install()
                let (data, error) = try await session { $0.cancel() }.result(of: server.request("a.txt")) { _ in }
                #expect((error as? URLError)?.code == .cancelled && data == nil)
            }
        }

        /// The way in which a load ends.
        enum End: String, CaseIterable {
            case file, silence, offline, status, network, redirect
            case cancellation, suspensionAndCancellation, invalidation
        }

        @Test("No task, protocol or load stays in memory, however it ends", arguments: End.allCases)
        func nothing(end: End) async throws {
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
                try await load(Program.isLongRun ? 100 : 25, end, site)
            }
            try await wait(for: "the end of \(Tracked.living)") { Tracked.living.isEmpty }
        }

        /// Ends the loads of two sessions, of which one has a delegate.
        private func load(_ count: Int, _ end: End, _ site: Site) async throws {
            var request = site.request
            if end == .file { request.url = site.server.url.appendingPathComponent("always") }
            // If a session is invalidated before its loads begin, Foundation on Linux does not report their ends.
            site.server.forgetRequests()
            let loads = [StrictClient(), nil].map { delegate in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.protocolClasses = [Tracked.self] + (configuration.protocolClasses ?? [])
                // Every load begins at once.
                configuration.httpMaximumConnectionsPerHost = count
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                let tasks = (0..<count).map { _ in
                    delegate != nil ? session.dataTask(with: request) : session.dataTask(with: request) { _, _, _ in }
                }
                for task in tasks { task.resume() }
                return (session, tasks)
            }
            if end == .invalidation || end == .cancellation { await site.server.waitForRequests(2 * count) }
            if end == .invalidation { for (session, _) in loads { session.invalidateAndCancel() } }
            for task in loads.flatMap(\.1) {
                if end == .suspensionAndCancellation { task.suspend() }
                if [.cancellation, .suspensionAndCancellation].contains(end) { task.cancel() }
            }
            for task in loads.flatMap(\.1) {
                while task.state != .completed { try await Task.sleep(nanoseconds: 1_000_000) }
            }
            for (session, _) in loads { session.finishTasksAndInvalidate() }
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
