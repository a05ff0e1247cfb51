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

        @Test("A delegate gets everything in order, on its own queue", arguments: [false, true])
        func order(isMain: Bool) async throws {
            let server = try makeServer()
            defer { server.stop() }
            let client = StrictClient()
            let session = client.session(queue: isMain ? .main : nil)
            for path in Self.paths {
                let load = await client.load(session.dataTask(with: request(path, of: server)))
                switch path {
                case "503", "moved-to-503", "moved-to-named", "moved-twice":
                    #expect(load.text == Self.fileText, "\(path)")
                    #expect(load.status == 200)
                case "204": #expect(load.status == 204 && load.count == 0)
                case "cut":
                    #expect(load.error != nil)
                    #expect(Self.body.starts(with: load.body))
                default: #expect(load.body == Self.body && load.status == 200, "\(path)")
                }
                #expect(load.heads.count == 1, "\(path)")
            }
            #expect(client.complaints == [])
        }

        @Test(
            "The session's fields, cookies and credentials are sent, so no condition holds for lack of them"
        )
        func nothingIsMissing() async throws {
            let server = try makeServer(when: "\"4xx\"", paths: ["token", "cookie", "way", "basic"]) { request in
                switch request.path {
                case "/token": .text("document", status: request.headers["authorization"] == "Bearer t" ? 200 : 401)
                case "/cookie", "/way-2":
                    .text("document", status: request.headers["cookie"]?.contains("id=1") ?? false ? 200 : 403)
                case "/way": .init(status: 302, headers: ["Location": "/way-2", "Set-Cookie": "id=1; Path=/"])
                default:
                    request.headers["authorization"] == "Basic bWU6c2VjcmV0"
                        ? .text("document")
                        : .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""])
                }
            }
            defer { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            // Properties also take effect if they are set after `useSubstitutions()`.
            configuration.useSubstitutions()
            configuration.httpAdditionalHeaders = ["Authorization": "Bearer t"]
            let client = StrictClient(onRedirect: { request, follow in
                // Foundation on Linux adds no cookies to a redirected request if it asks a delegate about the redirect.
                var request = request
                request.setValue("id=1", forHTTPHeaderField: "Cookie")
                follow(request)
            })
            let session = client.session(configuration)
            for path in ["token", "way", "cookie"] {
                let load = await client.load(session.dataTask(with: request(path, of: server)))
                #expect(load.text == "document", "\(path)")
            }
            #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["id"])
            #expect(client.complaints == [])
        }

        @Test("Registered and unregistered sessions each load with their own configuration")
        func apart() async throws {
            let server = try makeServer { request in
                .text("\(request.headers["x-app"] ?? "-") \(request.headers["cookie"] ?? "-")")
            }
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
            let clients = [StrictClient(), StrictClient(), StrictClient()]
            let sessions = [
                clients[0].session(configuration("first")), clients[1].session(configuration("second")),
                clients[2].session(configuration("third"), named: false),
            ]
            for _ in 0..<3 {
                for ((client, session), name) in zip(zip(clients, sessions), ["first", "second", "third"]) {
                    let load = await client.load(session.dataTask(with: request("200", of: server)))
                    #expect(load.text == "\(name) who=\(name)")
                }
            }
            for client in clients { #expect(client.complaints == []) }
        }

        @Test("Redirects are followed, changed or refused, at once or later")
        func redirects() async throws {
            let server = try makeServer()
            defer { server.stop() }
            for isLate in [false, true] {
                for target in ["200", "other", "503", "named", nil] {
                    let next = target.map { request($0, of: server) }
                    let client = StrictClient(onRedirect: { _, follow in
                        if isLate {
                            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { follow(next) }
                        } else {
                            follow(next)
                        }
                    })
                    let session = client.session()
                    let load = await client.load(session.dataTask(with: request("moved", of: server)))
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

        @Test(
            "After a late answer to a challenge, the network's response is delivered",
            arguments: ["418", "[418, \"offline\"]"]
        )
        func lateChallenge(conditions: String) async throws {
            let server = try makeServer(when: conditions, paths: ["basic"]) { request in
                request.headers["authorization"] == "Basic bWU6c2VjcmV0"
                    ? .text(Self.networkText)
                    : .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
            }
            defer { server.stop() }
            let client = StrictClient(onChallenge: { answer in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
                    answer(.useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession))
                }
            })
            let session = client.session()
            let load = await client.load(session.dataTask(with: request("basic", of: server)))
            #expect(load.text == Self.networkText)
            #expect(load.challenges == 1)
            #expect(load.status == 200)
            #expect(client.complaints == [])
        }

        @Test("The file for a 401 answers before the app is asked for a password")
        func replacedChallenge() async throws {
            let server = try makeServer(when: "401", paths: ["basic"]) { _ in
                .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
            }
            defer { server.stop() }
            let client = StrictClient(onChallenge: { $0(.cancelAuthenticationChallenge, nil) })
            let load = await client.load(client.session().dataTask(with: request("basic", of: server)))
            #expect(load.challenges == 0 && load.error == nil, "\(load)")
            #expect(load.text == Self.fileText, "\(load)")
            #expect(client.complaints == [])
        }

        @Test("Wrong passwords are challenged and counted as without the library", Platform.measuredOnLinux)
        func wrongPassword() async throws {
            let server = try makeServer(when: "418", paths: ["basic"]) { _ in
                .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
            }
            defer { server.stop() }
            var seen: [String] = []
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
                seen.append("\(load.failures) \(load.error == .cancelled) \(server.requests.count)")
                #expect(client.complaints == [])
            }
            #expect(seen[0] == seen[1])
            #expect(seen[0] == "[0, 1, 2] true 3")
        }

        @Test("64 loads at once are answered, whether or not their conditions hold")
        func manyAtOnce() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let client = StrictClient()
            let session = client.session()
            await withTaskGroup(of: (String, StrictClient.Load).self) { group in
                for number in 0..<64 {
                    let path = Self.paths[number % 6]
                    let task = session.dataTask(with: request(path, of: server))
                    group.addTask { (path, await client.load(task)) }
                }
                for await (path, load) in group {
                    let isNetwork = ["200", "moved"].contains(path)
                    #expect(load.body == (isNetwork ? Self.body : path == "204" ? Data() : Data(Self.fileText.utf8)))
                }
            }
            #expect(client.complaints == [])
        }

        /// The moment at which the app cancels.
        enum Stage: String, CaseIterable {
            case atOnce
            case beforeHead
            case redirect
            case body
        }

        @Test(
            "A load that is cancelled at any stage ends once, as cancelled",
            arguments: Stage.allCases,
            [false, true]
        )
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
                    onRedirect: { request, follow in if stage != .redirect { follow(request) } },
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
                box.session = session
                let path = [.redirect: "moved", .body: "endless"][stage] ?? "silent"
                server.forgetRequests()
                let task = session.dataTask(with: request(path, of: server))
                async let load = client.load(task)
                if stage == .atOnce {
                    while task.state == .suspended { await Task.yield() }
                    cancel(task)
                } else if stage != .body {
                    await server.waitForRequests(1)
                    if stage == .redirect { await session.settle() }
                    cancel(task)
                }
                #expect(await load.error == .cancelled, "\(stage)")
                #expect(client.complaints == [])
            }
        }

        @Test("Error responses whose bodies never end are replaced, and do not hold up other loads")
        func endlessErrors() async throws {
            let server = try makeServer { _ in
                .init(status: 503, body: Data(count: 1000), transfer: .stalling(after: 10))
            }
            defer { server.stop() }
            let client = StrictClient()
            let session = client.session()
            for _ in 0..<20 {
                let load = await client.load(session.dataTask(with: request("200", of: server)))
                #expect(load.text == Self.fileText && load.status == 200)
                let status = load.heads.last?.value(forHTTPHeaderField: "Cache-Status")
                #expect(status == "LocalSubstitutionCache; fwd=bypass; fwd-status=503; detail=\"a.txt\"")
            }
            #expect(client.complaints == [])
        }

        @Test("Registered sessions, their delegates and their backing sessions are not retained")
        func notKept() async throws {
            let server = try makeServer()
            defer { server.stop() }
            weak var session: URLSession?
            weak var client: StrictClient?
            weak var inner: BackingSession?
            func load() async throws {
                let (strong, made) = try await { () async throws -> (StrictClient, URLSession) in
                    let client = StrictClient()
                    return (client, client.session())
                }()
                (client, session) = (strong, made)
                #expect(await strong.load(made.dataTask(with: request("200", of: server))).body == Self.body)
                let link = (made.configuration.protocolClasses?.first as? SubstitutionURLProtocol.Type)?.link
                inner = link?.backingSession
                #expect(inner != nil)
                await made.settle()
            }
            try await load()
            try await wait(for: "the session's end") { session == nil && client == nil }
            // A session's backing session is discarded when the next session is registered.
            StrictClient().session().finishTasksAndInvalidate()
            try await wait(for: "the backing session's end") { inner == nil }
        }
    }
}

/// Holds a session for a closure that is created before the session.
// The session is set once, before it is used.
private final class SessionBox: @unchecked Sendable {
    weak var session: URLSession?
}
