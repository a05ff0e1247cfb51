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
    @Suite("Files that answer when the network is silent")
    final class PatienceTests: InstalledSuite {
        @Test("If no head comes in time, the file answers every kind of task")
        func silent() async throws {
            let site = try Site(folder, when: "[\"offline\", \"3s\", \"1s\"]") { _ in .init(transfer: .silent) }
            defer { site.server.stop() }
            try await withThrowingTaskGroup(of: (HTTPURLResponse, Data).self) { group in
                for _ in 0..<5 {
                    for kind in TaskKind.receiving {
                        group.addTask { try await kind.load(site.request, in: site.session) }
                    }
                    group.addTask { try await TaskKind.async.load(site.request, in: site.plain) }
                }
                for try await result in group { expectFile(result, "fwd=bypass; detail=\"a.txt (after 1 s)\"") }
            }
        }

        // On Linux, the head of a redirect also counts.
        @Test(
            "A head in time means the network's answer, however slow its body",
            arguments: ["/when", "/length", "/other"],
            TaskKind.receiving
        )
        func head(path: String, kind: TaskKind) async throws {
            let gate = Gate()
            let site = try Site(folder, when: "\"60s\"") { request in
                if request.path == "/when", path != "/when" { return .init(status: 302, headers: ["Location": path]) }
                if path == "/length" { return .init(body: Data("network".utf8), transfer: .stalling(after: 3)) }
                let (parts, sent) = (path == "/when" ? ["net", "work"] : ["network"], Counter())
                return .stream {
                    if path != "/when" || sent.value > 0 { gate.wait() }
                    sent.increment()
                    return sent.value <= parts.count ? Data(parts[sent.value - 1].utf8) : nil
                }
            }
            defer { site.server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Impatient.self]
            let session = URLSession.named(configuration, delegate: StrictClient())
            let result = Task { try? await kind.load(site.request, in: session) }
            await site.server.waitForRequests(path == "/when" ? 1 : 2)
            let load = try #require(Impatient.last)
            while !load.hasHead { await Task.yield() }
            load.endPatience(try #require(load.first.patience))
            gate.open()
            // This body never ends.
            if path == "/length" { session.invalidateAndCancel() }
            let answer = await result.value
            #expect(answer?.0.value(forHTTPHeaderField: "Cache-Status") == nil)
            if path != "/length" { #expect(answer?.1 == Data("network".utf8)) }
        }

        // Only Foundation on Linux waits with a redirect while the task is suspended.
        #if canImport(FoundationNetworking)
        @Test("If the patience ends while a redirect is followed, the load goes on")
        func redirected() async throws {
            let site = try Site(folder, when: "\"60s\"") { request in
                request.path == "/when" ? .init(status: 302, headers: ["Location": "/other"]) : .text(Self.networkText)
            }
            defer { site.server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Impatient.self]
            let delegate = StrictClient(onRedirect: { request, decide in
                if let load = Impatient.last, let patience = load.first.patience { load.endPatience(patience) }
                decide(request)
            })
            let session = URLSession.named(configuration, delegate: delegate)
            var request = site.request
            request.timeoutInterval = 3
            for _ in 0..<50 {
                #expect(try await TaskKind.delegate.load(request, in: session).1 == Data(Self.networkText.utf8))
            }
        }
        #endif

        @Test("If the head and the end of the patience meet, or the task is cancelled then, each task ends once")
        func race() async throws {
            let site = try Site(folder, when: "\"1s\"") { request in
                let delay = request.headers["x-delay"].flatMap { Int($0) } ?? 0
                Thread.sleep(forTimeInterval: 0.99 + Double(delay) / 1000)
                return .text(Self.networkText)
            }
            defer { site.server.stop() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 0..<40 {
                    var request = site.request
                    request.setValue(String(round), forHTTPHeaderField: "X-Delay")
                    let load = request
                    for kind in TaskKind.receiving {
                        group.addTask {
                            let (head, data) = try await kind.load(load, in: site.session)
                            let isFile = head.value(forHTTPHeaderField: "Cache-Status") != nil
                            #expect(data == Data((isFile ? Self.fileText : Self.networkText).utf8))
                        }
                    }
                    group.addTask {
                        let (_, error) = try await site.plain.result(of: load) { task in
                            try await Task.sleep(nanoseconds: UInt64(990 + round) * 1_000_000)
                            task.cancel()
                        }
                        #expect([nil, .cancelled].contains((error as? URLError)?.code))
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("A task that is suspended when the patience ends gets the file after resume()")
        func suspended() async throws {
            let site = try Site(folder, when: "\"1s\"") { _ in .init(transfer: .silent) }
            defer { site.server.stop() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for session in [site.session, site.plain] {
                    group.addTask {
                        let (data, error) = try await session.result(of: site.request) { task in
                            await site.server.waitForRequests(2)
                            task.suspend()
                            try await Task.sleep(nanoseconds: 1_500_000_000)
                            #expect(task.state == .suspended)
                            task.resume()
                        }
                        #expect(error == nil && data == Data(Self.fileText.utf8))
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("A request with another method waits for the network")
        func upload() async throws {
            let site = try Site(folder, when: "\"1s\"") { _ in
                Thread.sleep(forTimeInterval: 1.2)
                return .text(Self.networkText)
            }
            defer { site.server.stop() }
            var request = site.request
            request.httpMethod = "POST"
            request.httpBody = Data("a".utf8)
            #expect(try await TaskKind.async.load(request, in: site.session).1 == Data(Self.networkText.utf8))
        }
    }
}

/// A protocol whose last load the tests know.
private final class Impatient: SubstitutionURLProtocol {
    private static let started = Locked<NetworkLoad?>(nil)

    static var last: NetworkLoad? { started.value }

    override func startLoading() {
        super.startLoading()
        _ = Self.started.replace(with: load)
    }
}
