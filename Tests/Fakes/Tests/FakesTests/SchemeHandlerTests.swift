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

    static let sizes = ["/empty": 0, "/small": 10, "/immediate": 1 << 16, "/large": 1 << 17, "/huge": 3 << 20]

    init(and more: String = "") throws {
        folder = try TemporaryFolder()
        for (path, size) in Self.sizes { try folder.write(Data(repeating: 1, count: size), to: "f\(path)") }
        cache = try folder.cache(#"{ "https://h/": "f/"\#(more) }"#)
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
}

extension InstalledTests {
    @Suite("The scheme handler, with tasks that crash on a wrong call", .timeLimit(.minutes(5)))
    @MainActor
    struct SchemeHandlerTests {
        @Test("The fake crashes where the real task does")
        func trap() async {
            await #expect(processExitsWith: .failure) {
                let task = FakeTask(URLRequest(url: URL(fileURLWithPath: "/")))
                task.stop()
                task.didFailWithError(URLError(.cancelled))
            }
        }

        @Test("A file is delivered whole and in order, and a small response before the start returns")
        func whole() async throws {
            let views = try Views()
            let view = views.view()
            for (path, size) in Views.sizes {
                let task = try #require(view.start(Views.request("substitution-https://h\(path)")))
                #expect(task.hasEnded || path != "/small")
                try await Views.end(of: task)
                #expect(task.body.count == size && task.events.first == .response(200) && task.events.last == .finish)
                #expect(task.head?.url?.absoluteString == "substitution-https://h\(path)")
            }
            let missing = try #require(view.start(Views.request("substitution-https://h/missing")))
            #expect(missing.hasEnded && missing.events.first == .response(404))
        }

        @Test("A task that is stopped inside a call receives no further call")
        func stoppedInside() async throws {
            let view = try Views().view()
            for path in Views.sizes.keys {
                for call in 0..<5 {
                    let task = FakeTask(Views.request("substitution-https://h\(path)"))
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
            let (mirror, hosts) = ("substitution-\(server.url.absoluteString)", Set([server.url.absoluteString]))
            let before = FakeTask.living
            let open = [views.view(forwardingTo: hosts), views.view(forwardingTo: hosts)]
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
            #expect(stopped > 300 && ended > 1_000, "\(stopped) \(ended)")
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
            server.stop()
            let view = try Views().view(forwardingTo: [server.url.absoluteString])
            let mirror = "substitution-\(server.url.absoluteString)"
            let task = try #require(view.start(Views.request(mirror + "/x", from: mirror + "/")))
            try await Views.end(of: task)
            #expect(task.events == [.fail])
            let stopped = try #require(view.start(Views.request(mirror + "/x", from: mirror + "/")))
            view.stop(stopped)
            for _ in 0..<100 { try await Task.sleep(nanoseconds: 100_000) }
            #expect(stopped.events.isEmpty)
        }

        @Test("Cookies of the view or SwiftUI page are sent to its own site, and the site's are stored in the view")
        func cookies() async throws {
            let server = try LoopbackServer { request in
                .init(headers: ["Set-Cookie": "b=2; Path=/"], body: Data((request.headers["cookie"] ?? "-").utf8))
            }
            defer { server.stop() }
            let (views, mirror) = (try Views(), "substitution-\(server.url.absoluteString)")
            let view = views.view(forwardingTo: [server.url.absoluteString])
            var page = WebPage.Configuration()
            page.websiteDataStore = .nonPersistent()
            page.serveMirrors(from: views.cache, forwardingTo: [server.url.absoluteString])
            let stores = [view.configuration.websiteDataStore.httpCookieStore, page.websiteDataStore.httpCookieStore]
            let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "127.0.0.1", .path: "/"]
            let cookie = try #require(HTTPCookie(properties: properties))
            for store in stores { store.setCookie(cookie) }
            let request = Views.request(mirror + "/x", from: mirror + "/")
            let task = try #require(view.start(request))
            try await Views.end(of: task)
            #expect(String(decoding: task.body, as: UTF8.self) == "a=1")
            let scheme = try #require(URLScheme("substitution-http"))
            let handler = try #require(page.urlSchemeHandlers[scheme])
            #expect(try await Self.events(of: handler, request) == "200 a=1")
            let missing = try await Self.events(of: handler, Views.request("substitution-http://h/missing"))
            #expect(missing.hasPrefix("404 "))
            // A second call leaves the handlers unchanged.
            page.serveMirrors(from: views.cache)
            #expect(page.urlSchemeHandlers.count == 2)
            let second = try #require(page.urlSchemeHandlers[scheme])
            #expect(try await Self.events(of: second, request).hasPrefix("200 "))
            for store in stores {
                let names = await withCheckedContinuation { done in
                    store.getAllCookies { done.resume(returning: $0.map(\.name).sorted()) }
                }
                #expect(names == ["a", "b"])
            }
        }

        private static func events(of handler: some URLSchemeHandler, _ request: URLRequest) async throws -> String {
            var events: [String] = []
            for try await result in handler.reply(for: request) {
                switch result {
                case .response(let response): events.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
                case .data(let data): events.append(String(decoding: data, as: UTF8.self))
                }
            }
            return events.joined(separator: " ")
        }

        @Test("Views release the cache, and a second call leaves the handlers of a configuration unchanged")
        func released() throws {
            weak var cache: SubstitutionCache?
            do {
                let views = try Views()
                cache = views.cache
                let view = views.view(forwardingTo: ["h"])
                let handler = view.configuration.urlSchemeHandler(forURLScheme: "substitution-https")
                view.configuration.serveMirrors(from: try Views().cache)
                for scheme in ["substitution-https", "substitution-http"] {
                    #expect(view.configuration.urlSchemeHandler(forURLScheme: scheme) === handler)
                }
                _ = view.start(Views.request("substitution-https://h/small"))
            }
            #expect(cache == nil)
        }
    }
}
