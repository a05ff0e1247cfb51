import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Network-first loads in a registered session, for a client that relies on URLSession's guarantees.
    @Suite("Registered sessions", .everyLoadingMode)
    final class RegisteredSessionTests: ServerSuite {
        private static let (body, paths) = (NetworkFirstSite.body, NetworkFirstSite.paths)

        /// Starts a server of ``NetworkFirstSite``, and installs a cache with its manifest.
        private func makeServer(
            when conditions: String = "503",
            paths: [String] = NetworkFirstSite.paths,
            _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = NetworkFirstSite.answer
        ) throws -> LoopbackServer {
            let site = try NetworkFirstSite.start(when: conditions, paths: paths, answer)
            try install(site.manifest)
            return site.server
        }

        @Test("64 loads at once are answered in order and on the delegate's own queue, after any answer of the network")
        func order() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let client = StrictClient()
            let session = client.session()
            await withTaskGroup(of: (String, StrictClient.Load).self) { group in
                for number in 0..<64 {
                    let path = Self.paths[number % Self.paths.count]
                    let task = session.dataTask(with: request(path, of: server))
                    group.addTask { (path, await client.load(task)) }
                }
                for await (path, load) in group {
                    switch path {
                    case "204": #expect(load.status == 204 && load.count == 0)
                    case "cut": #expect(load.error != nil && Self.body.starts(with: load.body))
                    case "200", "moved": #expect(load.body == Self.body && load.status == 200, "\(path)")
                    default: #expect(load.text == Self.fileText && load.status == 200, "\(path)")
                    }
                    #expect(load.heads.count == 1, "\(path)")
                }
            }
            #expect(client.complaints == [])
        }

        @Test("Each server-sent event reaches the client before the next one is sent")
        func events() async throws {
            let (sent, parts) = (Counter(), Counter())
            let count = Program.isLongRun ? 600 : 60
            let server = try makeServer { _ in
                .stream {
                    while parts.value < sent.value { usleep(1000) }
                    guard sent.value < count else { return nil }
                    if Program.isLongRun { usleep(100_000) }
                    sent.increment()
                    return Data("id: \(sent.value)\n\n".utf8)
                }
            }
            defer { server.stop() }
            let client = StrictClient(onData: { _ in parts.increment() })
            let load = await client.load(client.session().dataTask(with: request("200", of: server)))
            // Some clients treat each part as one message.
            #expect(load.error == nil && parts.value == count)
            #expect(load.text == (1...count).map { "id: \($0)\n\n" }.joined())
            #expect(client.complaints == [])
        }

        @Test("Each session's own fields and cookies are sent, so no condition holds for lack of them")
        func apart() async throws {
            let server = try makeServer(when: "\"4xx\"") { request in
                let (name, cookie) = (request.headers["x-app"] ?? "-", request.headers["cookie"] ?? "-")
                return .init(
                    status: name == "-" ? 401 : 200,
                    headers: ["Set-Cookie": "id=\(name); Path=/"],
                    body: Data("\(name) \(cookie)".utf8)
                )
            }
            defer { server.stop() }
            let sessions = ["first", "second", "unregistered"].map { name in
                let (client, configuration) = (StrictClient(), URLSessionConfiguration.ephemeral)
                // Properties also take effect if they are set after `useSubstitutions()`.
                configuration.useSubstitutions()
                configuration.httpAdditionalHeaders = ["X-App": name]
                return (name, client, client.session(configuration, named: name != "unregistered"))
            }
            for isFirst in [true, false] {
                for (name, client, session) in sessions {
                    let load = await client.load(session.dataTask(with: request("200", of: server)))
                    #expect(load.text == "\(name) \(isFirst ? "-" : "id=\(name)")")
                    #expect(client.complaints == [])
                }
            }
        }

        @Test("Redirects are followed, changed or refused, at once or later")
        func redirects() async throws {
            let server = try makeServer()
            defer { server.stop() }
            for target in ["200", "other", "503", "named", nil] {
                let next = target.map { request($0, of: server) }
                for delay in [0, 20] {
                    let client = StrictClient(onRedirect: { _, follow in
                        if delay == 0 { return follow(next) }
                        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) { follow(next) }
                    })
                    let load = await client.load(client.session().dataTask(with: request("moved", of: server)))
                    #expect(load.redirects == ["/200"])
                    switch target {
                    case "200": #expect(load.body == Self.body)
                    case "other": #expect(load.text == Self.networkText)
                    case "503", "named": #expect(load.text == Self.fileText)
                    default: #expect(load.status == 302 && load.text == "moved")
                    }
                    #expect(client.complaints == [])
                }
            }
        }

        @Test("The file for a 401 answers before the app is asked for a password")
        func replacedChallenge() async throws {
            let server = try makeServer(when: "401", paths: ["basic"]) { _ in Self.challenge }
            defer { server.stop() }
            let client = StrictClient(onChallenge: { $0(.cancelAuthenticationChallenge, nil) })
            let load = await client.load(client.session().dataTask(with: request("basic", of: server)))
            #expect(load.challenges == 0 && load.error == nil && load.text == Self.fileText, "\(load)")
            #expect(client.complaints == [])
        }

        @Test("Wrong passwords are challenged and counted as without the library", Platform.measuredOnLinux)
        func wrongPassword() async throws {
            let server = try makeServer(when: "418", paths: ["basic"]) { _ in Self.challenge }
            defer { server.stop() }
            for isNamed in [false, true] {
                server.forgetRequests()
                let count = Counter()
                let client = StrictClient(onChallenge: { answer in
                    count.increment()
                    let credential = URLCredential(user: "me", password: "\(count.value)", persistence: .none)
                    answer(count.value < 3 ? .useCredential : .cancelAuthenticationChallenge, credential)
                })
                let session = client.session(named: isNamed)
                let load = await client.load(session.dataTask(with: request("basic", of: server)))
                #expect(load.failures == [0, 1, 2] && load.error == .cancelled && server.requests.count == 3)
                #expect(client.complaints == [])
            }
        }

        /// The moment at which the app cancels.
        enum Stage: String, CaseIterable { case atOnce, beforeHead, redirect, body }

        @Test("A load that is cancelled at any stage ends once", arguments: Stage.allCases, [false, true])
        func cancelled(stage: Stage, byInvalidating: Bool) async throws {
            let server = try makeServer(paths: ["silent", "moved", "endless"]) { request in
                switch request.path {
                case "/silent": .init(transfer: .silent)
                case "/endless": .init(body: Data(count: 100_000), transfer: .stalling(after: 50_000))
                default: NetworkFirstSite.answer(request)
                }
            }
            defer { server.stop() }
            for _ in 0..<10 {
                let (box, parts) = (SessionBox(), Counter())
                @Sendable func cancel(_ task: URLSessionTask?) {
                    if byInvalidating { box.session?.invalidateAndCancel() } else { task?.cancel() }
                }
                let client = StrictClient(
                    onRedirect: { request, follow in
                        if stage == .redirect { cancel(box.task) }
                        follow(request)
                    },
                    onPart: { task in
                        parts.increment()
                        // After two cancellations at the same time, Foundation may never report the task's end, even
                        // without this library.
                        if stage == .body, parts.value == 1 { DispatchQueue.global().async { cancel(task) } }
                    }
                )
                // If a session is invalidated while Foundation on Linux asks the session's cache for a response,
                // Foundation does not report the task's end. So use no cache.
                let configuration = URLSessionConfiguration.ephemeral
                configuration.urlCache = nil
                let session = client.session(configuration)
                let path = [.redirect: "moved", .body: "endless"][stage] ?? "silent"
                server.forgetRequests()
                let task = session.dataTask(with: request(path, of: server))
                (box.session, box.task) = (session, task)
                async let load = client.load(task)
                if stage == .atOnce {
                    while task.state == .suspended { await Task.yield() }
                    cancel(task)
                } else if stage == .beforeHead {
                    while server.requests.isEmpty { await Task.yield() }
                    cancel(task)
                }
                #expect(await load.error == .cancelled, "\(stage)")
                #expect(client.complaints == [])
            }
        }

        @Test("Registered sessions, their delegates and their backing sessions are not retained")
        func notKept() async throws {
            let server = try makeServer()
            defer { server.stop() }
            weak var session: URLSession?
            weak var client: StrictClient?
            weak var inner: BackingSession?
            func load() async throws {
                let strong = StrictClient()
                let made = strong.session()
                (client, session) = (strong, made)
                #expect(await strong.load(made.dataTask(with: request("200", of: server))).body == Self.body)
                let link = (made.configuration.protocolClasses?.first as? SubstitutionURLProtocol.Type)?.link
                inner = link?.backingSession
                #expect(inner != nil)
                await withCheckedContinuation { done in made.delegateQueue.addBarrierBlock { done.resume() } }
            }
            try await load()
            try await wait(for: "the session's end") { session == nil && client == nil }
            // A session's backing session is discarded when the next session is registered.
            StrictClient().session().finishTasksAndInvalidate()
            try await wait(for: "the backing session's end") { inner == nil }
        }
    }
}

/// Holds a session and its task for a closure that is created before them.
// They are set once, before they are used.
private final class SessionBox: @unchecked Sendable {
    weak var session: URLSession?
    weak var task: URLSessionTask?
}
