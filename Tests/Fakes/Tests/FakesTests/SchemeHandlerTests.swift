import LoopbackServer
import TestSupport
import Testing
import WebKit

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// A cache, and web views whose configuration serves the cache's files.
@MainActor
struct Views {
    let folder: TemporaryFolder
    let cache: SubstitutionCache

    nonisolated static let sizes = [
        "/empty": 0, "/small": 10, "/immediate": 1 << 16, "/large": 1 << 17, "/huge": 3 << 20,
    ]

    init(and more: String = "") throws {
        folder = try TemporaryFolder()
        for (path, size) in Self.sizes { try folder.write(Data(repeating: 1, count: size), to: "f\(path)") }
        let manifest = Data(#"{ "https://h/": "f/"\#(more) }"#.utf8)
        cache = try SubstitutionCache(manifestData: manifest, folder: folder.url)
    }

    func view(forwardingTo hosts: Set<String> = []) -> WKWebView {
        let configuration = WKWebViewConfiguration()
        configuration.serveMirrors(from: cache, forwardingTo: hosts)
        return WKWebView(frame: .zero, configuration: configuration)
    }

    static func request(_ url: String, from page: String = "substitution-https://h/") -> URLRequest {
        var request = URLRequest(url: URL(string: url) ?? URL(fileURLWithPath: "/"))
        request.mainDocumentURL = URL(string: page)
        return request
    }

    /// Waits until the task has ended; the test's time limit is the only timeout.
    static func end(of task: FakeTask) async throws {
        while !task.hasEnded { try await Task.sleep(nanoseconds: 100_000) }
    }

    /// Returns the cookie `a=1` of 127.0.0.1.
    static func cookie() throws -> HTTPCookie {
        let properties: [HTTPCookiePropertyKey: String] = [.name: "a", .value: "1", .domain: "127.0.0.1", .path: "/"]
        return try #require(HTTPCookie(properties: properties))
    }

    /// Returns the sorted names of a store's cookies.
    static func names(in store: WKHTTPCookieStore) async -> [String] {
        await withCheckedContinuation { done in
            store.getAllCookies { done.resume(returning: $0.map(\.name).sorted()) }
        }
    }
}

extension InstalledTests {
    @Suite("The scheme handler, with tasks that crash on a wrong call", .realNetwork, .timeLimit(.minutes(5)))
    @MainActor
    struct SchemeHandlerTests {
        @Test("A file is delivered whole and in order", arguments: Views.sizes.keys.sorted())
        func whole(path: String) async throws {
            let views = try Views()
            let view = views.view()
            let task = try #require(view.start(Views.request("substitution-https://h\(path)")))
            try await Views.end(of: task)
            #expect(
                task.body.count == Views.sizes[path] && task.events.first == .response(200)
                    && task.events.last == .finish
            )
            #expect(task.head?.url?.absoluteString == "substitution-https://h\(path)")
        }

        @Test("A small response is delivered before the start returns")
        func immediate() throws {
            let views = try Views()
            for (path, event) in [("/small", FakeTask.Event.data(10)), ("/missing", .response(404))] {
                let task = try #require(views.view().start(Views.request("substitution-https://h\(path)")))
                #expect(task.hasEnded && task.events.contains(event))
            }
        }

        @Test("A task that is stopped inside a call receives no further call", arguments: 0..<5)
        func stoppedInside(call: Int) async throws {
            let views = try Views()
            let view = views.view()
            for path in Views.sizes.keys.sorted() {
                let request = Views.request("substitution-https://h\(path)")
                let task = FakeTask(request)
                var calls = 0
                task.afterEvent = { [unowned task] _ in
                    if calls == call { MainActor.assumeIsolated { view.stop(task) } }
                    calls += 1
                }
                view.configuration.urlSchemeHandler(forURLScheme: "substitution-https")?.webView(view, start: task)
                for _ in 0..<50 { await Task.yield() }
                #expect(calls <= call + 1 || task.hasEnded)
            }
        }

        /// The tasks load files of every size, missing files and forwarded URLs.
        ///
        /// A task is stopped before its first call, between two calls, or after its last call.
        @Test("Ten thousand tasks, stopped at any moment, leave nothing behind")
        func fuzzed() async throws {
            let server = try LoopbackServer { request in
                request.path == "/closing"
                    ? .init(body: Data(count: 10), transfer: .closing(after: 5)) : .text("network")
            }
            defer { server.stop() }
            let views = try Views(and: #", "https://h/page": { "file": "f/small", "type": "text/html" }"#)
            let authority = String(server.url.absoluteString.dropFirst("http://".count))
            let mirror = "substitution-\(server.url.absoluteString)"
            let before = FakeTask.living
            let open = [views.view(forwardingTo: [authority]), views.view(forwardingTo: [authority])]
            var random = Numbers(state: 1)
            var running: [(view: WKWebView, task: FakeTask)] = []
            var (stopped, ended) = (0, 0)
            let files = (Views.sizes.keys.sorted() + ["/missing", "/page", "/huge", "/huge", "/large"]).map {
                "substitution-https://h\($0)"
            }
            for number in 0..<10_000 {
                // Only a few requests are forwarded, because the network is slow.
                let isForwarded = number.isMultiple(of: 50)
                let urls = isForwarded ? ["\(mirror)/a", "\(mirror)/closing"] : files
                let view = open[Int.random(in: 0...1, using: &random)]
                let url = try #require(urls.randomElement(using: &random))
                let request = Views.request(url, from: isForwarded ? mirror + "/" : "substitution-https://h/")
                if let task = view.start(request) { running.append((view, task)) }
                await yield(upTo: 2, &random)
                while running.count > 20 || !running.isEmpty && Int.random(in: 0...2, using: &random) == 0 {
                    let (view, task) = running.remove(at: Int.random(in: running.indices, using: &random))
                    if task.hasEnded { ended += 1 } else { stopped += 1 }
                    view.stop(task)
                    await yield(upTo: 2, &random)
                }
            }
            for (_, task) in running { try await Views.end(of: task) }
            running = []
            #expect(stopped > 300, "\(stopped)")
            #expect(ended > 1_000, "\(ended)")
            // All tasks must be deallocated, although the views still exist.
            try await wait(for: "the tasks' end") { FakeTask.living == before }
            withExtendedLifetime(open) {}
        }

        private func yield(upTo count: Int, _ random: inout Numbers) async {
            for _ in 0..<Int.random(in: 0...count, using: &random) { await Task.yield() }
        }

        @Test("A load that fails is reported once, and a load that is stopped is not reported")
        func failures() async throws {
            let server = try LoopbackServer { _ in .text("x") }
            let authority = String(server.url.absoluteString.dropFirst("http://".count))
            server.stop()
            let view = try Views().view(forwardingTo: [authority])
            let mirror = "substitution-\(server.url.absoluteString)"
            let task = try #require(view.start(Views.request(mirror + "/x", from: mirror + "/")))
            try await Views.end(of: task)
            #expect(task.events == [.fail])
            let stopped = try #require(view.start(Views.request(mirror + "/x", from: mirror + "/")))
            view.stop(stopped)
            for _ in 0..<100 { try await Task.sleep(nanoseconds: 100_000) }
            #expect(stopped.events.isEmpty)
        }

        @Test("The view's cookies are sent to its own site, and the site's cookies are stored in the view")
        func cookies() async throws {
            let server = try LoopbackServer { request in
                .init(headers: ["Set-Cookie": "b=2; Path=/"], body: Data((request.headers["cookie"] ?? "-").utf8))
            }
            defer { server.stop() }
            let authority = String(server.url.absoluteString.dropFirst("http://".count))
            let view = try Views().view(forwardingTo: [authority])
            let store = view.configuration.websiteDataStore.httpCookieStore
            store.setCookie(try Views.cookie())
            let mirror = "substitution-\(server.url.absoluteString)"
            let task = try #require(view.start(Views.request(mirror + "/x", from: mirror + "/")))
            try await Views.end(of: task)
            #expect(String(decoding: task.body, as: UTF8.self) == "a=1")
            #expect(await Views.names(in: store) == ["a", "b"])
        }

        @Test("A second call leaves the handlers of a configuration unchanged")
        func twice() throws {
            let views = try Views()
            let configuration = WKWebViewConfiguration()
            configuration.serveMirrors(from: views.cache)
            let handler = configuration.urlSchemeHandler(forURLScheme: "substitution-https")
            configuration.serveMirrors(from: try Views().cache)
            #expect(configuration.urlSchemeHandler(forURLScheme: "substitution-https") === handler)
            #expect(configuration.urlSchemeHandler(forURLScheme: "substitution-http") === handler)
        }

        @Test("Views release the cache")
        func released() throws {
            weak var cache: SubstitutionCache?
            do {
                let views = try Views()
                cache = views.cache
                let view = views.view(forwardingTo: ["h"])
                _ = view.start(Views.request("substitution-https://h/small"))
            }
            #expect(cache == nil)
        }

        @Test("The fake crashes where the real task does")
        func traps() async {
            await #expect(processExitsWith: .failure) {
                FakeTask(URLRequest(url: URL(fileURLWithPath: "/"))).didFinish()
            }
            await #expect(processExitsWith: .failure) {
                FakeTask(URLRequest(url: URL(fileURLWithPath: "/"))).didReceive(Data([1]))
            }
            await #expect(processExitsWith: .failure) {
                let task = FakeTask(URLRequest(url: URL(fileURLWithPath: "/")))
                task.stop()
                task.didFailWithError(URLError(.cancelled))
            }
            await #expect(processExitsWith: .failure) {
                let url = URL(fileURLWithPath: "/")
                let head = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
                let task = FakeTask(URLRequest(url: url))
                task.didReceive(head)
                task.didReceive(Data([1]))
                task.didReceive(head)
            }
            await #expect(processExitsWith: .failure) {
                let task = FakeTask(URLRequest(url: URL(fileURLWithPath: "/")))
                task.didFailWithError(URLError(.cancelled))
                task.didFailWithError(URLError(.cancelled))
            }
            await #expect(processExitsWith: .failure) {
                await MainActor.run { WKWebViewConfiguration().setURLSchemeHandler(nil, forURLScheme: "https") }
            }
        }
    }
}
