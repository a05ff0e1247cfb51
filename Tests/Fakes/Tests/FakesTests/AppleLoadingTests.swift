import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Tests of the loading code for Apple's systems, with fakes that follow Apple's documentation.
    @Suite("Loading on Apple's systems", .everyLoadingMode)
    final class AppleLoadingTests: NetworkSuite {
        /// Loads a URL, in a new registered session if `session` is nil, and returns what the delegate received.
        private func load(
            _ path: String,
            with client: StrictClient = StrictClient(),
            in session: URLSession? = nil
        ) async throws -> String {
            let session = session ?? client.session(.default)
            let task = session.dataTask(with: URLRequest(url: try #require(URL(string: "https://h/\(path)"))))
            if session === URLSession.shared { task.delegate = client }
            let load = await client.load(task)
            #expect(client.complaints.filter { session !== URLSession.shared || $0 != "of another session" } == [])
            let head = "\(load.redirects) \(load.status ?? 0) from \(load.heads.last?.url?.path ?? ""): \(load.text)"
            return load.error.map { "\(load.redirects) \(load.text) error \($0.rawValue)" } ?? head
        }

        private func file(_ path: String) -> String { "[] 200 from /\(path): \(Self.fileText)" }

        @Test("A file answers at once, or after a status that its entry names; otherwise the network")
        func answers() async throws {
            for session in [nil, URLSession.shared] {
                Network.shared.asked = []
                #expect(try await load("a", in: session) == file("a"))
                #expect(Network.shared.asked.isEmpty)
                // The network's response never ends.
                Network.shared.answer = { $0.begin(404, "gone") }
                #expect(try await load("late", in: session) == file("late"))
                let exchange = try #require(Network.shared.asked.first)
                try await wait(for: "the end of the request") { exchange.hasStopped }
                Network.shared.answer = { $0.answer(200, "network") }
                #expect(try await load("late", in: session) == "[] 200 from /late: network")
                #expect(Network.shared.asked.count == 2)
            }
        }

        @Test("Offline, a file or the last copy answers, even in a session that waits, which else continues to wait")
        func offline() async throws {
            try installArchive(Self.manifest)
            for waits in [false, true] {
                Network.shared.answer = { exchange in
                    exchange.begin(200, "ke", "pt")
                    exchange.end()
                }
                let (client, configuration) = (StrictClient(), URLSessionConfiguration.default)
                configuration.waitsForConnectivity = waits
                let session = client.session(configuration)
                #expect(try await load("page", with: client, in: session) == "[] 200 from /page: kept")
                Network.shared.isOffline = true
                #expect(try await load("page", with: client, in: session) == "[] 200 from /page: kept")
                #expect(try await load("late", with: client, in: session) == file("late"))
                let task = session.dataTask(with: URLRequest(url: try #require(URL(string: "https://h/gone"))))
                async let end = client.load(task).error
                if waits {
                    try await wait(for: "a load that waits") { Network.shared.waiting > 0 }
                    #expect(task.state == .running)
                    task.cancel()
                }
                #expect(await end == (waits ? .cancelled : .notConnectedToInternet))
                #expect(session.configuration.waitsForConnectivity == waits, "the app's own stays as it is")
                Network.shared.isOffline = false
            }
        }

        @Test("The request of a redirect is substituted when the app loads it itself")
        func loadedAnew() async throws {
            let next = Locked<URLRequest?>(nil)
            let client = StrictClient(onRedirect: { request, follow in
                _ = next.replace(with: request)
                follow(nil)
            })
            Network.shared.answer = { $0.redirect(to: "https://h/a") }
            #expect(try await load("late", with: client) == "[\"/a\"] 302 from /late: Found")
            let (other, followed) = (StrictClient(), next.value)
            let task = other.session(.default).dataTask(with: try #require(followed))
            #expect(await other.load(task).text == Self.fileText)
        }

        @Test("Loads never recurse, even if every session consults registered classes")
        func recursion() async throws {
            Network.shared.asksRegisteredClasses = true
            Network.shared.answer = { exchange in
                exchange.request.url?.query == nil
                    ? exchange.redirect(to: "https://h/late?again") : exchange.answer(410, "gone")
            }
            for session in [nil, URLSession.shared] {
                Network.shared.asked = []
                // The app follows the redirect with a new request, without the properties of the request that the
                // delegate received.
                let client = StrictClient(onRedirect: { next, follow in follow(next.url.map { URLRequest(url: $0) }) })
                let answer = try await load("late", with: client, in: session)
                #expect(answer == "[\"/late\"] 410 from /late: gone")
                #expect(Network.shared.asked.count == 2)
            }
        }

        @Test(
            "An observer and the app's closure see each load of a session once",
            arguments: ["shared", "registered", "unregistered"]
        )
        func events(kind: String) async throws {
            let cache = try #require(Installation.current?.cache)
            let (notes, reported) = (Notes(), Notes())
            cache.observer = notes
            let reporter = reported.follow(cache)
            Network.shared.answer = { exchange in
                switch exchange.request.url?.path {
                case "/moved": exchange.redirect(to: "https://h/next")
                case "/late": exchange.answer(404, "gone")
                default: exchange.answer(200, "network")
                }
            }
            for path in ["a", "page", "moved", "late"] {
                let client = StrictClient()
                let session = kind == "shared" ? .shared : client.session(.default, named: kind == "registered")
                _ = try await load(path, with: client, in: session)
            }
            reporter.queue.sync {}
            let isLoaded = kind != "unregistered"
            // URL loading asks again after a redirect.
            let begun = ["/a: hit a.txt", "/page: miss", "/moved: miss", "/next: miss", "/late: miss"]
            #expect(reported.all == begun + (isLoaded ? ["/late: fallback a.txt"] : []))
            // Requests of the backing session are not recorded, because they belong to another session.
            let seen = ["/a: answered with 45", "/page: asked", "/moved: asked", "/next: asked", "/late: asked"]
            #expect(!isLoaded || notes.all == seen + ["/late: received 404", "/late: answered with 45"])
        }

        @Test("The cache does not report the request of a backing session a second time")
        func backing() throws {
            let (notes, cache) = (Notes(), try #require(Installation.current?.cache))
            let reporter = notes.follow(cache)
            let page = URLRequest(url: try #require(URL(string: "https://h/page")))
            for request in [page, page.marked] {
                cache.getCachedResponse(for: URLSession.shared.dataTask(with: request)) { #expect($0 == nil) }
            }
            reporter.queue.sync {}
            #expect(notes.all == ["/page: miss"])
        }

        @Test("With an archive, an observer sees every status and body, also of redirects")
        func notesOfArchive() async throws {
            try installArchive(Self.manifest)
            let notes = Notes()
            Installation.current?.cache.observer = notes
            Network.shared.answer = { exchange in
                switch exchange.request.url?.path {
                case "/moved": exchange.redirect(to: "https://h/page")
                case "/to-file": exchange.redirect(to: "https://h/a")
                default: exchange.answer(200, "page")
                }
            }
            for path in ["moved", "to-file"] { _ = try await load(path) }
            let seen = """
                /moved: asked, /moved: 302 to /page, /moved: received 200, /moved: part of 4, \
                /to-file: asked, /to-file: 302 to /a, /to-file: answered with 45
                """
            #expect(notes.all.joined(separator: ", ") == seen)
        }

        @Test("Cancelling a task while its response is received also cancels the request on the network")
        func cancelledWhileAsked() async throws {
            Network.shared.answer = { $0.begin(200, "first") }
            #expect(try await load("late", with: StrictClient(onPart: { $0.cancel() })) == "[] first error -999")
            let exchange = try #require(Network.shared.asked.first)
            try await wait(for: "the end of the request") { exchange.hasStopped }
        }

        @Test("Only one session of a configuration can be registered")
        func twoSessions() throws {
            let configuration = URLSessionConfiguration.default
            configuration.useSubstitutions()
            let sessions = (URLSession(configuration: configuration), URLSession(configuration: configuration))
            try sessions.0.registerForSubstitutions()
            let taken = #expect(throws: RegistrationError.self) { try sessions.1.registerForSubstitutions() }
            let plain = URLSession(configuration: .default)
            let unlisted = #expect(throws: RegistrationError.self) { try plain.registerForSubstitutions() }
            #expect(taken?.description.hasPrefix("another ") == true)
            #expect(unlisted?.localizedDescription.hasPrefix("useSubstitutions() was not called") == true)
            withExtendedLifetime(sessions) {}
        }
    }
}
