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
    /// Sessions on Linux that consult the protocol; Tests/Fakes has the tests for Apple's systems.
    @Suite("Registered sessions")
    final class RegisteredSessionTests: InstalledSuite {
        /// Starts a server of ``NetworkFirstSite``, and installs a cache with its manifest.
        private func makeServer(
            _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = NetworkFirstSite.answer
        ) throws -> LoopbackServer {
            let site = try NetworkFirstSite.start(answer)
            try folder.cache(site.manifest).install()
            return site.server
        }

        /// Repeats fields of the request.
        @Sendable private static func echo(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            .text("\(request.headers["x-app"] ?? "-") \(request.headers["cookie"] ?? "-")")
        }

        @Test("Registered and unregistered sessions each load with their own configuration")
        func apart() async throws {
            let server = try makeServer(Self.echo)
            defer { server.stop() }
            func configuration(_ name: String) -> URLSessionConfiguration {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpAdditionalHeaders = ["X-App": name]
                if let cookie = HTTPCookie(properties: [
                    .name: "who", .value: name, .domain: "127.0.0.1", .path: "/",
                ]) {
                    configuration.httpCookieStorage?.setCookie(cookie)
                }
                return configuration
            }
            let clients = [StrictClient(), StrictClient(), StrictClient(), StrictClient()]
            let first = clients[0].session(configuration("first"))
            // Copy the first session's configuration, which contains that session's protocol class, and change the
            // copy.
            let copy = try #require(first.configuration.copy() as? URLSessionConfiguration)
            copy.httpAdditionalHeaders = ["X-App": "copy"]
            let sessions = [
                first, clients[1].session(configuration("second")),
                clients[2].session(configuration("third"), named: false), clients[3].session(copy, named: false),
            ]
            let names = ["first", "second", "third", "copy"]
            for _ in 0..<3 {
                for ((client, session), name) in zip(zip(clients, sessions), names) {
                    let load = await client.load(session.dataTask(with: server.request("200")))
                    #expect(load.text == "\(name) who=\(name == "copy" ? "first" : name)")
                }
            }
            for client in clients { #expect(client.complaints == []) }
        }

        @Test(
            "Fields that the app sets later, and a Cookie field in its request, are sent",
            Platform.measuredOnLinux
        )
        func setLater() async throws {
            let server = try makeServer(Self.echo)
            defer { server.stop() }
            let client = StrictClient()
            let session = client.session()
            for name in ["first", "second"] {
                session.configuration.httpAdditionalHeaders = ["X-App": name]
                var own = server.request("200")
                own.setValue("mine=1", forHTTPHeaderField: "Cookie")
                let task = session.dataTask(with: own)
                // Set the cookie after the task was created: Foundation adds cookies when it creates a task.
                if let cookie = HTTPCookie(properties: [.name: "a", .value: "1", .domain: "127.0.0.1", .path: "/"]) {
                    session.configuration.httpCookieStorage?.setCookie(cookie)
                }
                #expect(await client.load(task).text == "\(name) mine=1")
                if let storage = session.configuration.httpCookieStorage {
                    for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
                }
            }
        }

        @Test(
            "A session may be registered twice, on Linux without useSubstitutions(), and another use its configuration",
            Platform.measuredOnLinux
        )
        func derived() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let (client, other) = (StrictClient(), StrictClient())
            let session = client.session()
            let classes = session.configuration.protocolClasses ?? []
            try session.registerForSubstitutions()
            #expect(classes.first == session.configuration.protocolClasses?.first)
            session.configuration.useSubstitutions()
            #expect(classes.count == session.configuration.protocolClasses?.count)
            let late = URLSession.named(.ephemeral, delegate: StrictClient())
            for session in [session, other.session(session.configuration), late] {
                let (data, _) = try await session.result(of: server.request("503")) { _ in }
                #expect(data == Data(Self.fileText.utf8))
            }
            #expect(client.complaints == [] && other.complaints == [])
        }

        @Test("One call creates a registered session, and does not change the configuration")
        func substituting() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-App": "first"]
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            let (classes, cache) = (configuration.protocolClasses ?? [], configuration.urlCache)
            let queue = OperationQueue()
            let sessions = [
                URLSession(substituting: configuration),
                URLSession(substituting: configuration, delegate: StrictClient(), delegateQueue: queue),
            ]
            for session in sessions {
                try session.registerForSubstitutions()
                let (head, data) = try await TaskKind.async.load(server.request("503"), in: session)
                #expect(head.statusCode == 200 && data == Data(Self.fileText.utf8))
            }
            #expect(sessions[1].delegateQueue === queue && sessions[1].delegate is StrictClient)
            #expect(server.requests.allSatisfy { $0.headers["x-app"] == "first" } && server.requests.count == 2)
            #expect(configuration.urlCache === cache)
            #expect((configuration.protocolClasses ?? []).elementsEqual(classes) { $0 == $1 })
        }

        @Test("finishTasksAndInvalidate() right after resume() lets every load end")
        func finishing() async throws {
            let server = try makeServer()
            defer { server.stop() }
            for path in ["200", "503", "moved", "moved-twice"] {
                let client = StrictClient()
                let session = client.session()
                let task = session.dataTask(with: server.request(path))
                async let load = client.load(task)
                while task.state == .suspended { await Task.yield() }
                session.finishTasksAndInvalidate()
                let text = await load.body
                #expect(text == NetworkFirstSite.body || text == Data(Self.networkText.utf8))
                #expect(client.complaints == [])
            }
        }
    }
}
