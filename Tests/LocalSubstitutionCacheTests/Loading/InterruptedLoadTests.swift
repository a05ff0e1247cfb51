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
    @Suite("Interrupted loads, and many at once")
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
                let delegate = Collector(onRedirect: { session in
                    session.finishTasksAndInvalidate()
                    usleep(50_000)
                })
                let session = URLSession.named(configuration, delegate: delegate)
                #expect(try await TaskKind.delegate.load(site.request, in: session).1 == Data(Self.networkText.utf8))
                #expect(try await TaskKind.async.load(site.request, in: site.session).1 == Data(Self.fileText.utf8))
                #expect(delegate.strayCalls.value == 0)
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

        @Test("A huge body is received as without the library", arguments: ["\"offline\"", "[503]"])
        func hugeBody(conditions: String) async throws {
            let count = Program.isLongRun ? 500_000_000 : 50_000_000
            let site = try Site(folder, when: conditions) { _ in .init(body: Data(count: count)) }
            defer { site.server.stop() }
            let counter = CountingDelegate()
            let session = URLSession.named(site.session.configuration, delegate: counter)
            await withCheckedContinuation { continuation in
                counter.onEnd = { continuation.resume() }
                session.dataTask(with: site.request).resume()
            }
            #expect(counter.count == count)
            #expect(try await site.plain.data(for: site.request).0.count == count)
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
    }
}

/// Counts bytes, and keeps none.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private(set) var count = 0
    var onEnd: @Sendable () -> Void = {}

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { count += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { onEnd() }
}
