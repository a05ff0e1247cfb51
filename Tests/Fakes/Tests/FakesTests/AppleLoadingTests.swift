import Foundation
import FoundationNetworking
@testable import LocalSubstitutionCache
import Testing

extension InstalledTests {
    /// Tests of the loading code for Apple's systems, with fakes that follow Apple's documentation.
    @Suite("Loading on Apple's systems", .everyLoadingMode)
    struct AppleLoadingTests {
        @Test("A file answers in a registered session, and in the shared one")
        func file() async throws {
            let app = try App()
            let answer = ["200 from https://h/a", "a file", "end"]
            for isShared in [false, true] {
                let client = Client()
                #expect(
                    try await client.events(of: "https://h/a", in: isShared ? .shared : app.session(client)) == answer
                )
            }
            #expect(Network.shared.asked.isEmpty)
        }

        @Test("After a status that an entry names, its file answers; otherwise the network", arguments: [false, true])
        func status(isShared: Bool) async throws {
            let app = try App()
            let client = Client()
            Network.shared.answer = { $0.answer(404, "gone") }
            let answer = ["200 from https://h/late", "a file", "end"]
            #expect(
                try await client.events(of: "https://h/late", in: isShared ? .shared : app.session(client)) == answer
            )
            let other = Client()
            Network.shared.answer = { $0.answer(200, "from the network") }
            let network = ["200 from https://h/late", "from the network", "end"]
            #expect(
                try await other.events(of: "https://h/late", in: isShared ? .shared : app.session(other)) == network
            )
            #expect(Network.shared.asked.count == 2)
        }

        @Test("A file answers offline, even in a session that waits for connectivity", arguments: [false, true])
        func offline(waits: Bool) async throws {
            let app = try App()
            let client = Client()
            Network.shared.isOffline = true
            let session = app.session(client) { $0.waitsForConnectivity = waits }
            let answer = ["200 from https://h/late", "a file", "end"]
            #expect(try await client.events(of: "https://h/late", in: session) == answer)
            #expect(session.configuration.waitsForConnectivity == waits, "the app's own stays as it is")
        }

        @Test("In Low Data Mode, the file answers a session that forbids such loads, and the network any other")
        func lowDataMode() async throws {
            let app = try App()
            Network.shared.isConstrained = true
            Network.shared.answer = { $0.answer(200, "from the network") }
            for isAllowed in [false, true] {
                let client = Client()
                let session = app.session(client) { $0.allowsConstrainedNetworkAccess = isAllowed }
                let answer = ["200 from https://h/late", isAllowed ? "from the network" : "a file", "end"]
                #expect(try await client.events(of: "https://h/late", in: session) == answer)
            }
            #expect(Network.shared.asked.count == 1)
        }

        @Test("A file answers after the network's silence, also in a session that waits for connectivity")
        func silence() async throws {
            let app = try App()
            let answer = ["200 from https://h/slow", "a file", "end"]
            for waits in [false, true] {
                let client = Client()
                Network.shared.answer = { _ in }
                Network.shared.isOffline = waits
                let session = app.session(client) { $0.waitsForConnectivity = waits }
                #expect(try await client.events(of: "https://h/slow", in: session) == answer)
            }
        }

        @Test("If nothing can answer offline, a session that waits for connectivity continues to wait")
        func waits() async throws {
            let app = try App()
            let client = Client()
            Network.shared.isOffline = true
            let session = app.session(client) { $0.waitsForConnectivity = true }
            let task = session.dataTask(with: URLRequest(url: try #require(URL(string: "https://h/gone"))))
            task.resume()
            while Network.shared.waiting == 0 { await Task.yield() }
            #expect(task.state == .running)
            task.cancel()
        }

        @Test("The last good copy answers offline, even in a session that waits for connectivity")
        func copy() async throws {
            let app = try App(archive: true)
            Network.shared.answer = { $0.answer(200, "kept", ["ETag": "\"1\""]) }
            for isOffline in [false, true] {
                let client = Client()
                Network.shared.isOffline = isOffline
                let session = app.session(client) { $0.waitsForConnectivity = true }
                let answer = ["200 from https://h/page", "kept", "end"]
                #expect(try await client.events(of: "https://h/page", in: session) == answer)
            }
        }

        @Test("The request of a redirect is substituted when the app loads it itself")
        func loadedAnew() async throws {
            let app = try App()
            let requests = Requests()
            let client = Client(decide: { request, follow in
                requests.append(request)
                follow(nil)
            })
            Network.shared.answer = { exchange in
                exchange.request.url?.path == "/late"
                    ? exchange.redirect(to: "https://h/a") : exchange.answer(200, "network")
            }
            let session = app.session(client)
            _ = try await client.events(of: "https://h/late", in: session)
            let other = Client()
            let events = try await other.events(of: #require(requests.all.first), in: app.session(other))
            #expect(events == ["200 from https://h/a", "a file", "end"])
        }

        @Test("A refused redirect that then times out does not count as offline")
        func refusedAndLost() async throws {
            let app = try App()
            let client = Client(decide: { $1(nil) })
            Network.shared.answer = { $0.redirect(to: "https://h/next", endsWith: URLError(.timedOut)) }
            let events = try await client.events(of: "https://h/late", in: app.session(client))
            #expect(events == ["redirect to https://h/next", "error -1001"])
        }

        @Test("If the delegate cancels the task while it decides, only the error follows")
        func cancelledWhileDeciding() async throws {
            let app = try App()
            let client = Client(
                decide: { $1($0) },
                onEvent: { event, task in if event.hasPrefix("redirect") { task.cancel() } }
            )
            Network.shared.answer = { $0.redirect(to: "https://h/next") }
            let events = try await client.events(of: "https://h/late", in: app.session(client))
            #expect(events == ["redirect to https://h/next", "error -999"])
            #expect(Network.shared.asked.count == 1)
        }

        @Test("Loads never recurse, even if every session consults registered classes", arguments: [false, true])
        func recursion(isShared: Bool) async throws {
            let app = try App()
            let client = Client(decide: { request, follow in
                // The app follows the redirect with a new request, without the properties of the request that the
                // delegate received.
                follow(request.url.map { URLRequest(url: $0) })
            })
            Network.shared.asksRegisteredClasses = true
            Network.shared.answer = { exchange in
                Network.shared.asked.count == 1
                    ? exchange.redirect(to: "https://h/late?again") : exchange.answer(410, "gone")
            }
            let events = try await client.events(of: "https://h/late", in: isShared ? .shared : app.session(client))
            #expect(events == ["redirect to https://h/late?again", "410 from https://h/late?again", "gone", "end"])
            #expect(Network.shared.asked.count == 2)
        }

        @Test(
            "An observer and the app's closure see each load of a session once",
            arguments: ["shared", "registered", "unregistered"]
        )
        func events(kind: String) async throws {
            let app = try App()
            let (notes, reported) = (Notes(), Notes())
            app.cache.observer = notes
            let reporter = reported.follow(app.cache)
            Network.shared.answer = { exchange in
                switch exchange.request.url?.path {
                case "/moved": exchange.redirect(to: "https://h/next")
                case "/late": exchange.answer(404, "gone")
                default: exchange.answer(200, "network")
                }
            }
            for path in ["a", "page", "moved", "late"] {
                let client = Client()
                let configuration = URLSessionConfiguration.default
                configuration.useSubstitutions()
                let session =
                    switch kind {
                    case "shared": URLSession.shared
                    case "registered": app.session(client)
                    default: URLSession(configuration: configuration, delegate: client)
                    }
                _ = try await client.events(of: "https://h/\(path)", in: session)
            }
            reporter.queue.sync {}
            let isLoaded = kind != "unregistered"
            // URL loading asks again after a redirect.
            let begun = ["/a: hit file.txt", "/page: miss", "/moved: miss", "/next: miss", "/late: miss"]
            #expect(reported.all == begun + (isLoaded ? ["/late: fallback file.txt"] : []))
            // Requests of the backing session are not recorded, because they belong to another session.
            let seen = ["/a: answered with 6", "/page: asked", "/moved: asked", "/next: asked", "/late: asked"]
            #expect(!isLoaded || notes.all == seen + ["/late: received 404", "/late: answered with 6"])
            app.cache.observer = nil
        }

        @Test("The cache does not report the request of a backing session a second time")
        func backing() throws {
            let app = try App()
            let notes = Notes()
            let reporter = notes.follow(app.cache)
            let page = URLRequest(url: try #require(URL(string: "https://h/page")))
            for request in [page, page.marked] {
                let task = URLSession.shared.dataTask(with: request)
                app.cache.getCachedResponse(for: task) { #expect($0 == nil) }
            }
            reporter.queue.sync {}
            #expect(notes.all == ["/page: miss"])
        }

        @Test("With an archive, an observer sees every status and body, also of redirects")
        func notesOfArchive() async throws {
            let app = try App(archive: true)
            let notes = Notes()
            app.cache.observer = notes
            Network.shared.answer = { exchange in
                switch exchange.request.url?.path {
                case "/moved": exchange.redirect(to: "https://h/page")
                case "/to-file": exchange.redirect(to: "https://h/a")
                default: exchange.answer(200, "page")
                }
            }
            for path in ["moved", "to-file"] {
                let client = Client()
                _ = try await client.events(of: "https://h/\(path)", in: app.session(client))
            }
            #expect(
                notes.all == [
                    "/moved: asked", "/moved: 302 to /page", "/moved: received 200", "/moved: part of 4",
                    "/to-file: asked", "/to-file: 302 to /a", "/to-file: answered with 6",
                ]
            )
            app.cache.observer = nil
        }

        /// Actions of a server, each with the events that the session's delegate then receives.
        private static let stories: [(@Sendable (Exchange) -> Void, [String])] = [
            ({ $0.answer(200, "body") }, ["200 from https://h/late", "body"]),
            ({ $0.answer(404, "gone") }, ["200 from https://h/late", "a file"]),
            ({ $0.end(URLError(.timedOut)) }, ["200 from https://h/late", "a file"]),
            ({ $0.end(URLError(.serverCertificateUntrusted)) }, []),
            ({ $0.redirect(to: "https://h/a") }, ["redirect to https://h/a", "200 from https://h/a", "a file"]),
        ]

        @Test("A task that is cancelled at any moment ends once, and no event follows", arguments: stories.indices)
        func cancelled(story: Int) async throws {
            let app = try App()
            let (answer, events) = Self.stories[story]
            Network.shared.answer = answer
            for moment in 0..<events.count {
                for isShared in [false, true] {
                    let client = Client(onEvent: { event, task in if event == events[moment] { task.cancel() } })
                    let received = try await client.events(
                        of: "https://h/late",
                        in: isShared ? .shared : app.session(client)
                    )
                    #expect(Array(received.prefix(moment + 1)) == Array(events[...moment]))
                    // Events that are already in the delegate queue are still delivered; "end" may be one of them.
                    #expect(["error -999", "end"].contains(received.last), "\(received)")
                    #expect(received.filter { $0 == "end" }.count <= 1, "\(received)")
                }
            }
        }

        @Test("Cancelling a task while its response is received also cancels the request on the network")
        func cancelledWhileAsked() async throws {
            let app = try App()
            Network.shared.answer = { exchange in
                exchange.head(200)
                exchange.body("first")
            }
            let client = Client(onEvent: { event, task in if event == "first" { task.cancel() } })
            let events = try await client.events(of: "https://h/late", in: app.session(client))
            #expect(events == ["200 from https://h/late", "first", "error -999"])
            let exchange = try #require(Network.shared.asked.first)
            while !exchange.hasStopped { await Task.yield() }
        }

        @Test("Only one session of a configuration can be registered")
        func twoSessions() throws {
            _ = try App()
            let configuration = URLSessionConfiguration.default
            configuration.useSubstitutions()
            let first = URLSession(configuration: configuration, delegate: Client())
            let second = URLSession(configuration: configuration, delegate: Client())
            try first.registerForSubstitutions()
            let taken = #expect(throws: RegistrationError.self) { try second.registerForSubstitutions() }
            let plain = URLSession(configuration: .default)
            let unlisted = #expect(throws: RegistrationError.self) { try plain.registerForSubstitutions() }
            #expect(taken?.description.hasPrefix("another ") == true)
            #expect(unlisted?.localizedDescription.hasPrefix("useSubstitutions() was not called") == true)
            withExtendedLifetime((first, second)) {}
        }
    }
}
