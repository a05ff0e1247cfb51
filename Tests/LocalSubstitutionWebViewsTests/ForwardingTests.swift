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
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Requests for unmapped URLs that are forwarded for pages", .serialized)
final class ForwardingTests: SchemeSuite {
    private typealias Cookies = ForwardingGuard.Cookies

    /// Requests by pages, each with the cookies to forward; nil if the request must be refused.
    ///
    /// Each `§` is the prefix `substitution-`.
    private static let decisions:
        [(page: String?, url: String, method: String, fields: [String: String], cookies: Cookies?)] = [
            // The page itself, and its resources.
            ("§https://a.org/", "§https://a.org/", "GET", [:], .all),
            ("§https://a.org/", "§https://a.org/x.png", "GET", [:], .fromElsewhere),
            ("§https://a.org/", "§https://A.ORG:443/x.png", "HEAD", [:], .fromElsewhere),
            ("§https://mapped.org/", "§https://a.org/x.png", "GET", [:], Cookies.none),
            // Requests by the page's scripts, as engines send them.
            ("§https://a.org/", "§https://a.org/x", "POST", ["Referer": "§https://a.org/"], .all),
            ("§https://a.org/", "§https://a.org/x", "POST", ["Origin": "§https://a.org"], .all),
            // Requests from the mirror of one forwarded site to another forwarded site. Only GET and HEAD requests that
            // need no preflight are forwarded. They carry no cookies.
            ("§https://a.org/", "§https://b.org/x", "GET", ["Origin": "§https://a.org"], Cookies.none),
            ("§https://a.org/", "§https://b.org/x", "GET", ["X-Own": "1"], nil),
            // Mixed content is refused.
            ("§https://a.org/", "§http://a.org/x.png", "GET", [:], nil),
            ("https://a.org/", "§http://a.org/x.png", "GET", [:], nil),
            // More requests to other origins. Only the GET request is forwarded, without cookies.
            ("§http://a.org/", "§https://a.org/x", "GET", [:], Cookies.none),
            ("§https://a.org/", "§https://b.org/x", "POST", ["Origin": "§https://a.org"], nil),
            // Frames of other origins in the page.
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "https://evil.org"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "https://a.org"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "null"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "§https://evil.org"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Referer": "https://evil.org/"], Cookies.none),
            ("§https://a.org/", "§https://a.org/x", "POST", ["Referer": "https://evil.org/"], nil),
            ("§https://a.org/", "§https://a.org/x", "POST", [:], nil),
            ("§https://a.org/x", "§https://a.org/x", "GET", ["Referer": "https://evil.org/"], Cookies.none),
            // Pages on mirrors of sites that are neither mapped nor forwarded.
            ("§https://evil.org/", "§https://a.org/x", "GET", [:], nil),
            ("§https://a.org:8443/", "§https://a.org/x", "GET", [:], nil),
            // Pages on http or https, which are not mirrors. They get only what any page may read, without cookies.
            ("https://a.org/", "§https://a.org/x", "GET", [:], Cookies.none),
            ("https://evil.org/", "§https://a.org/x", "GET", ["Origin": "https://evil.org"], Cookies.none),
            ("https://a.org/", "§https://a.org/x", "POST", ["Origin": "https://a.org"], nil),
            // Pages whose web origin is unknown.
            (nil, "§https://a.org/x", "GET", [:], nil), ("about:blank", "§https://a.org/x", "GET", [:], nil),
        ]

    @Test("Page, method and fields decide whether a request is forwarded, and with which cookies", arguments: decisions)
    func decision(
        page: String?,
        url: String,
        method: String,
        fields: [String: String],
        cookies: ForwardingGuard.Cookies?
    ) throws {
        let filled = { (text: String) in text.replacingOccurrences(of: "§", with: "substitution-") }
        let request = try request(filled(url), method, from: page.map(filled), fields.mapValues(filled))
        let target = try #require(request.url.flatMap { MirrorURL.original(of: $0) }.flatMap { WebOrigin($0) })
        let guardian = ForwardingGuard(hosts: ["a.org", "b.org"])
        switch guardian.decision(on: request, to: target, isMapped: { $0 == "mapped.org" }) {
        case .allowed(let allowed): #expect(allowed == cookies)
        case .refused(let reason): #expect(cookies == nil && !reason.isEmpty)
        }
    }

    @Test(
        "A host may be named with or without its port, or by a URL",
        arguments: [
            ("a.org", "https://a.org http://a.org"), ("A.org:443", "https://a.org http://a.org:443"),
            ("https://a.org/x", "https://a.org"), ("http://a.org:8080", "http://a.org:8080"),
            ("[::1]:8080", "http://[::1]:8080 https://[::1]:8080"),
        ]
    )
    func names(host: String, origins: String) throws {
        let guardian = ForwardingGuard(hosts: [host])
        let named = [
            "https://a.org", "http://a.org", "https://a.org:80", "http://a.org:443", "http://a.org:8080",
            "https://a.org:8080", "https://b.org", "http://[::1]:8080", "https://[::1]:8080",
        ].filter { WebOrigin($0).map(guardian.isNamed) == true }
        #expect(Set(named) == Set(origins.split(separator: " ").map(String.init)))
    }

    // MARK: - With servers

    /// Two sites that count their requests; requests to the first site, or to both, are forwarded.
    private final class Sites {
        let site: LoopbackServer
        let other: LoopbackServer
        let cache: SubstitutionCache
        let server: SchemeServer
        /// The cookies of the web view.
        let cookies = PageCookies([])

        private init(_ folder: TemporaryFolder, _ servers: [LoopbackServer], forwardingTo hosts: [URL]) throws {
            (site, other) = (servers[0], servers[1])
            let keys = servers.map { #""\#($0.url.absoluteString)/mapped.css": "site.css""# }
            cache = try folder.cache("{ \(keys.joined(separator: ", ")) }")
            let authorities = hosts.map { String($0.absoluteString.dropFirst("http://".count)) }
            server = SchemeServer(cache, forwardingTo: Set(authorities))
        }

        convenience init(
            _ folder: TemporaryFolder,
            _ respond: @escaping @Sendable (LoopbackServer.Request, URL) -> LoopbackServer.Response
        ) throws {
            let other = try LoopbackServer { _ in .init(headers: ["Access-Control-Allow-Origin": "*"]) }
            let site = try LoopbackServer { respond($0, other.url) }
            try self.init(folder, [site, other], forwardingTo: [site.url])
        }

        /// Creates two forwarded sites; the first site redirects requests below `/other/` to the second.
        convenience init(
            both folder: TemporaryFolder,
            _ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) throws {
            let other = try LoopbackServer { respond($0) }
            let site = try LoopbackServer { request in
                guard request.path.hasPrefix("/other/") else { return respond(request) }
                let target = other.url.absoluteString + request.path.dropFirst("/other".count)
                let fields = ["Location": target, "Set-Cookie": "a=b; Path=/"]
                return .init(status: request.path == "/other/kept" ? 307 : 302, headers: fields)
            }
            try self.init(folder, [site, other], forwardingTo: [site.url, other.url])
        }

        deinit { [site, other].forEach { $0.stop() } }

        func mirror(_ path: String) -> String { "substitution-\(site.url.absoluteString)\(path)" }
        func otherMirror(_ path: String) -> String { "substitution-\(other.url.absoluteString)\(path)" }
    }

    private func answer(
        _ sites: Sites,
        _ path: String,
        _ method: String = "GET",
        _ fields: [String: String] = [:],
        from page: String? = nil,
        body: Data? = nil
    ) async throws -> Answer {
        let request = try request(sites.mirror(path), method, from: page ?? sites.mirror("/page"), fields, body: body)
        return try await answer(sites.server.reply(to: request) { [cookies = sites.cookies] in cookies })
    }

    @Test("A page that was shown once is shown without its server, with what it loads, by another archive")
    func archive() async throws {
        let sites = try Sites(folder) { request, _ in
            switch request.path {
            case "/page": .init(headers: ["Content-Type": "text/html"], body: Data(#"<img src="/a.png">"#.utf8))
            case "/private": .init(headers: ["Cache-Control": "no-store"], body: Data("private".utf8))
            case "/moved.png": .init(status: 302, headers: ["Location": "/a.png"])
            default: .init(headers: ["Content-Type": "image/png"], body: Data("bytes of \(request.path)".utf8))
            }
        }
        let directory = folder.url.appendingPathComponent("archive")
        func load() async throws -> [String] {
            let archive = try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["127.0.0.1"])
            let server = SchemeServer(sites.cache, forwardingTo: [sites.site.url.absoluteString], archive: archive)
            var answers: [String] = []
            for path in ["/page", "/a.png", "/moved.png", "/private"] {
                let answer = try? await answer(server, request(sites.mirror(path), "GET", from: sites.mirror("/page")))
                answers.append(answer.map { "\($0.status) \($0["Content-Type"] ?? "") \($0.text)" } ?? "failed")
            }
            archive.directory.queue.sync {}
            return answers
        }
        let online = try await load()
        sites.site.stop()
        let offline = try await load()
        #expect(offline == online.dropLast() + ["failed"] && !online.contains("failed"))
        #expect(online[0].contains(#"<img src="/a.png">"#))
    }

    @Test("A refused request reaches no server")
    func refused() async throws {
        let sites = try Sites(folder) { _, _ in .text("network") }
        for (page, fields) in [
            ("substitution-https://evil.org/", [:]), ("about:blank", [:]), (nil, ["Origin": "https://evil.org"]),
        ] as [(String?, [String: String])] {
            let answer = try await answer(sites, "/x", "GET", fields, from: page)
            #expect(answer.status == 403 && answer["Access-Control-Allow-Origin"] == nil)
            #expect(answer.text.contains("It is not loaded from the network for this page, because "))
        }
        let other = try request(sites.otherMirror("/x"), "GET", from: sites.mirror("/page"))
        #expect(try await answer(sites.server, other).status == 404)
        #expect(sites.site.requests.isEmpty && sites.other.requests.isEmpty)
    }

    @Test("A request's fields name the site's own URLs, and the response's fields the mirror's")
    func heads() async throws {
        let sites = try Sites(folder) { request, _ in
            let sharing = request.path == "/foreign" ? "https://a.org" : request.headers["origin"] ?? "none"
            let headers = [
                "Content-Type": "application/json", "Cache-Control": "max-age=60", "X-Own": "1",
                "Strict-Transport-Security": "max-age=1", "Access-Control-Allow-Origin": sharing,
                "Content-Security-Policy": "default-src 'self' https://cdn.org",
            ]
            return .init(status: 201, headers: headers, body: Data("{}".utf8))
        }
        let (url, origin) = (sites.site.url.absoluteString, sites.mirror(""))
        let fields = [
            "Origin": origin, "Referer": sites.mirror("/page"), "X-Own": "2", "If-None-Match": "\"x\"",
            "Accept-Encoding": "br",
        ]
        let answer = try await answer(sites, "/api?x=1", "POST", fields, body: Data("sent".utf8))
        #expect(answer.status == 201 && answer.text == "{}" && answer["X-Own"] == "1")
        #expect(answer["Cache-Control"] == "no-cache" && answer["Strict-Transport-Security"] == nil)
        #expect(answer["Access-Control-Allow-Origin"] == origin)
        #expect(answer["Content-Security-Policy"]?.contains("substitution-https://cdn.org") == true)
        #expect(answer.head.url?.absoluteString == sites.mirror("/api?x=1"))
        let received = try #require(sites.site.requests.first)
        #expect(received.method == "POST" && received.target == "/api?x=1" && received.body == Data("sent".utf8))
        #expect(received.headers["origin"] == url && received.headers["referer"] == url + "/page")
        #expect(received.headers["x-own"] == "2")
        #expect(received.headers["if-none-match"] == nil && received.headers["accept-encoding"] != "br")
        // The field is translated only if it names the requesting page's site.
        let foreign = try await self.answer(sites, "/foreign", "GET", ["Origin": origin])
        #expect(foreign["Access-Control-Allow-Origin"] == "https://a.org")
    }

    @Test("Cookies are those of the view, kept apart from the app's, and sent and used for no other page")
    func cookies() async throws {
        let sites = try Sites(folder) { request, _ in
            var response = LoopbackServer.Response.text(request.headers["cookie"] ?? "-")
            response.headers.merge(["Set-Cookie": "a=b; Path=/", "Cache-Control": "max-age=600"]) { $1 }
            return response
        }
        #expect(try await answer(sites, "/1").text == "-")
        let second = try await answer(sites, "/2")
        #expect(second.text == "a=b" && second["Set-Cookie"] == nil)
        // A response that was loaded with cookies never answers a request without them.
        #expect(try await answer(sites, "/2", "GET", ["Referer": "https://evil.org/"]).text == "-")
        #expect(try await answer(sites, "/2", from: sites.site.url.absoluteString).text == "-")
        let shared = HTTPCookieStorage.shared.cookies(for: sites.site.url) ?? []
        #expect(!shared.contains { $0.name == "a" })
    }

    @Test("Cookies that a site sets at a redirect, or deletes, are applied and reported to the view")
    func cookiesOfRedirects() async throws {
        let sites = try Sites(folder) { request, _ in
            switch request.path {
            case "/login": .init(status: 302, headers: ["Location": "/home", "Set-Cookie": "sid=1; Path=/"])
            case "/logout": .init(headers: ["Set-Cookie": "sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
            default: .text(request.headers["cookie"] ?? "-")
            }
        }
        let (stored, deleted) = (Counter(), Counter())
        let cookies = PageCookies([]) { $0.forEach { ($0.hasExpired ? deleted : stored).increment() } }
        for (path, text) in [("/login", "sid=1"), ("/own", "sid=1"), ("/logout", ""), ("/own", "-")] {
            let request = try request(sites.mirror(path), "GET", from: sites.mirror("/page"))
            #expect(try await answer(sites.server.reply(to: request) { cookies }).text == text, "\(path)")
        }
        #expect(stored.value == 1 && deleted.value == 1)
    }

    @Test(
        "A site sets cookies for itself only",
        arguments: [
            ("https://www.a.org/", "a=1", true), ("https://www.a.org/", "a=1; Domain=.A.org", true),
            ("https://www.a.org/", "a=1; Domain=b.a.org", false), ("https://a.org/", "a=1; Domain=www.a.org", false),
            ("https://www.a.org/", "a=1; Domain=org", false),
            ("https://www.a.org/", "a=1; Domain=bank.example", false),
            ("https://www.a.org/", "a=; Domain=bank.example; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
            ("https://evila.org/", "a=1; Domain=a.org", false), ("https://127.0.0.1/", "a=1; Domain=0.0.1", false),
            ("https://evil.org./", "a=1; Domain=org.", false), ("https://a.org./", "a=1; Domain=a.org", true),
            ("https://a.org/", "a=1; Secure", true), ("http://a.org/", "a=1; Secure", false),
            ("https://a.org/", "__Secure-a=1; Secure", true), ("https://a.org/", "__Secure-a=1", false),
            ("https://a.org/", "__Host-a=1; Secure; Path=/", true),
            ("https://www.a.org/", "__Host-a=1; Secure; Path=/; Domain=a.org", false),
            ("https://a.org/", "__Host-a=1; Secure; Path=/x", false),
            // An http response must not replace the `Secure` cookie `safe` of a.org.
            ("http://a.org/", "safe=2", false), ("http://b.org/", "safe=2", true), ("https://a.org/", "safe=2", true),
        ]
    )
    func settable(url: String, field: String, isKept: Bool) throws {
        let properties: [HTTPCookiePropertyKey: String] = [
            .name: "safe", .value: "1", .domain: ".a.org", .path: "/", .secure: "TRUE",
        ]
        let (safe, kept) = (try #require(HTTPCookie(properties: properties)), Counter())
        let cookies = try #require(PageCookies([safe]) { _ in kept.increment() })
        let (address, fields) = (try #require(URL(string: url)), ["Set-Cookie": field])
        let response = HTTPURLResponse(url: address, statusCode: 200, httpVersion: nil, headerFields: fields)
        cookies.storeCookies(from: try #require(response))
        #expect(kept.value == (isKept ? 1 : 0))
    }

    @Test(
        "SameSite cookies are not sent if the request may be from another site",
        .enabled(if: !Platform.isLinux, "Foundation on Linux drops the attribute")
    )
    func sameSite() throws {
        let cookies = try ["plain", "lax"].map { name -> HTTPCookie in
            var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: "a.org", .path: "/"]
            if name == "lax" { properties[HTTPCookiePropertyKey(rawValue: "SameSite")] = name }
            return try #require(HTTPCookie(properties: properties))
        }
        var page = try #require(PageCookies(cookies))
        let request = try request("https://a.org/x", "GET", from: nil)
        let sent = { (page: PageCookies) in page.added(to: request).value(forHTTPHeaderField: "Cookie") ?? "" }
        #expect(sent(page).contains("plain=1") && sent(page).contains("lax=1"))
        page.isFromElsewhere = true
        #expect(sent(page) == "plain=1")
    }

    @Test("Redirects are followed within the same site, and may lead to the app's files")
    func redirects() async throws {
        let sites = try Sites(folder) { request, other in
            switch request.path {
            case "/same": .init(status: 302, headers: ["Location": "/target"])
            case "/mapped": .init(status: 301, headers: ["Location": "/mapped.css"])
            case "/other": .init(status: 302, headers: ["Location": other.absoluteString + "/x"])
            case "/other-mapped": .init(status: 302, headers: ["Location": other.absoluteString + "/mapped.css"])
            case "/file": .init(status: 302, headers: ["Location": "file:///etc/passwd"])
            case "/nowhere": .init(status: 302)
            case "/unchanged": .init(status: 304)
            default: .text("network \(request.path)")
            }
        }
        for (path, text) in [("/same", "network /target"), ("/mapped", body), ("/other-mapped", body)] {
            let answer = try await answer(sites, path)
            #expect(answer.status == 200 && answer.text == text)
        }
        for path in ["/other", "/file", "/nowhere", "/unchanged"] {
            #expect(try await answer(sites, path).status == 502, "\(path)")
        }
        #expect(sites.other.requests.isEmpty)
    }

    /// An observer that records each event of a request as text, in order.
    // Mutable state is only accessed inside the lock.
    private final class Notes: RequestObserver, @unchecked Sendable {
        private let lock = NSLock()
        private var notes: [String] = []

        var all: [String] { lock.withLock { notes } }

        func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
            var words = String("\(step)".prefix { $0 != "(" })
            if case .answered(let response, let count, _) = step {
                words += " \((response as? HTTPURLResponse)?.statusCode ?? 0) \(count)"
            }
            let name = asker == nil ? "nobody" : asker is URLSessionTask ? "a task" : "a page"
            lock.withLock { notes.append("\(request.url?.path ?? "") \(words), by \(name)") }
        }
    }

    @Test("An observer sees files, forwarded requests and refused ones, under their original URLs")
    func notes() async throws {
        let sites = try Sites(folder) { _, _ in .text("network") }
        let notes = Notes()
        sites.cache.observer = notes
        for path in ["/mapped.css", "/page"] { _ = try await answer(sites, path) }
        _ = try await answer(sites.server, request("substitution-https://unnamed.org/x", "GET"))
        #expect(
            notes.all == [
                "/mapped.css answered 200 \(body.utf8.count), by nobody", "/page asked, by a task",
                "/page sent, by a task", "/page received, by a task", "/page receivedPart, by a task",
                "/x asked, by a page", "/x ended, by a page",
            ]
        )
    }

    @Test("A redirect to another site that is forwarded to carries no cookies")
    func redirectedElsewhere() async throws {
        let sites = try Sites(both: folder) { request in
            let type = ["/x.html": "text/html", "/private": "image/png"][request.path] ?? "text/plain"
            let sharing = request.path == "/private" ? "https://c.org" : "*"
            let text = "\(request.path) \(request.headers["cookie"] ?? "-")"
            let headers = ["Content-Type": type, "Access-Control-Allow-Origin": sharing]
            return .init(headers: headers, body: Data(text.utf8))
        }
        // Both sites have the same host. Cookies ignore the port, so cookies of the first site also match the second.
        for _ in 0..<2 {
            let answer = try await answer(sites, "/other/x")
            #expect(answer.status == 200 && answer.text == "/x -")
        }
        // These responses are refused. In the web view, each response would have the first site's origin, and a script
        // of the first site could read data that the second site does not share.
        for (path, fields) in [
            ("/other/x.html", [:]), ("/other/private", [:]), ("/other/private", ["Referer": sites.mirror("/")]),
        ] as [(String, [String: String])] {
            #expect(try await answer(sites, path, "GET", fields).status == 502)
        }
        let frame = try await answer(sites, "/other/x.html", "GET", ["Accept": "text/html,*/*"])
        #expect(frame.text.contains("location.replace(\"\(sites.otherMirror("/x.html"))\""))
        let posted = try await answer(sites, "/other/kept", "POST", ["Origin": sites.mirror("")], body: Data("x".utf8))
        #expect(posted.status == 502 && sites.other.requests.count == 5)
    }

    @Test("A redirect sends no script's fields to another site, and returns only what any page may show")
    func redirectedFields() async throws {
        let sites = try Sites(both: folder) { request in
            var headers = ["Content-Type": request.path == "/x.js" ? "text/javascript" : "application/json"]
            if request.path == "/shared" { headers["Access-Control-Allow-Origin"] = "*" }
            return .init(headers: headers, body: Data("second".utf8))
        }
        let page = sites.mirror("/")
        for (fields, status) in [
            (["Referer": page, "X-Own": "secret"], 502), (["Authorization": "Bearer x"], 502),
            (["Referer": page, "Range": "bytes=0-", "If-Range": "\"x\""], 200),
        ] {
            let answer = try await answer(sites, "/other/shared", "GET", fields)
            #expect(answer.status == status, "\(fields) \(answer.text)")
            // A refusal does not say where the redirect leads.
            #expect(status == 200 || !answer.text.contains(sites.other.url.absoluteString))
        }
        #expect(sites.other.requests.count == 1)
        for field in ["range", "if-range"] { #expect(sites.other.requests.first?.headers[field] == nil) }
        for (path, status) in [("/other/x.json", 502), ("/other/x.js", 502), ("/other/shared", 200), ("/x.json", 200)] {
            #expect(try await answer(sites, path).status == status, "\(path)")
        }
    }

    @Test("A body reaches the server, also after a redirect that keeps it", arguments: ["/plain", "/307", "/303"])
    func bodies(path: String) async throws {
        let sites = try Sites(folder) { request, _ in
            if let status = Int(request.path.dropFirst()) {
                return .init(status: status, headers: ["Location": "/plain"])
            }
            let length = request.headers["content-length"] ?? "-"
            return .text("\(request.method) \(length) \(String(decoding: request.body, as: UTF8.self))")
        }
        let sent = String(repeating: "x", count: 100_000)
        for cookies in [sites.cookies, nil] {
            let fields = ["Origin": sites.mirror("")]
            var request = try request(sites.mirror(path), "POST", from: sites.mirror("/page"), fields)
            if cookies == nil {
                request.httpBody = Data(sent.utf8)
            } else {
                request.httpBodyStream = InputStream(data: Data(sent.utf8))
            }
            let answer = try await answer(sites.server.reply(to: request) { cookies })
            #expect(answer.text == (path == "/303" ? "GET - " : "POST 100000 \(sent)"), "\(answer.text.prefix(40))")
        }
    }

    @Test("A body that is too long is refused")
    func longBody() async throws {
        let sites = try Sites(folder) { _, _ in .text("network") }
        var request = try request(sites.mirror("/x"), "POST", from: sites.mirror("/page"), ["Origin": sites.mirror("")])
        request.httpBodyStream = InputStream(data: Data(count: ForwardedHead.longestBody + 1))
        let refused = try await answer(sites.server, request)
        #expect(refused.status == 413 && refused.text.contains("longer than 64 MB"))
        request.httpBodyStream = nil
        request.httpBody = Data(count: ForwardedHead.longestBody + 1)
        #expect(try await answer(sites.server, request).status == 413)
        #expect(sites.site.requests.isEmpty)
    }

    @Test("A policy is translated for its own document, also in a frame")
    func framedPolicy() async throws {
        let page = Data("<meta http-equiv=Content-Security-Policy content=\"img-src 'self'\">".utf8)
        let sites = try Sites(both: folder) { _ in
            .init(headers: ["Content-Security-Policy": "script-src 'self'", "Content-Type": "text/html"], body: page)
        }
        let framed = sites.other.url.absoluteString
        let answer = try await answer(sites.server, request(sites.otherMirror("/x"), "GET", from: sites.mirror("/")))
        #expect(answer["Content-Security-Policy"] == "script-src \(framed) 'self'")
        #expect(answer.text.contains("img-src \(framed)&#32;'self'"))
    }

    @Test("Empty, partial and long responses are delivered unchanged, and a compressed one is decompressed")
    func shapes() async throws {
        // `printf hello | gzip -n`
        let gzip: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let page = Data(repeating: UInt8(ascii: "x"), count: 3 << 20)
        let sites = try Sites(folder) { request, _ in
            switch request.path {
            case "/204": .init(status: 204)
            case "/206": .init(status: 206, headers: ["Content-Range": "bytes 1-2/5"], body: Data("el".utf8))
            case "/long": .init(headers: ["Content-Type": "text/html"], body: page)
            case "/gzip": .init(headers: ["Content-Encoding": "gzip"], body: Data(gzip))
            default: .text("hello")
            }
        }
        let empty = try await answer(sites, "/204")
        #expect(empty.status == 204 && empty.body.isEmpty)
        let part = try await answer(sites, "/206", "GET", ["Range": "bytes=1-2"])
        #expect(part.status == 206 && part.text == "el" && part["Content-Range"] == "bytes 1-2/5")
        let compressed = try await answer(sites, "/gzip")
        #expect(compressed.text == "hello" && compressed["Content-Encoding"] == nil)
        #expect(compressed["Content-Length"] == nil)
        // `answer(_:)` checks the length of each part.
        let long = try await answer(sites, "/long")
        #expect(long.body == page && long.parts == 3)
        let head = try await answer(sites, "/head", "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "5")
    }

    @Test("Unforwarded methods other than GET and HEAD on a mapped URL are refused with 405")
    func methods() async throws {
        let sites = try Sites(folder) { _, _ in .text("network") }
        for page in ["https://a.org/", sites.mirror("/page")] {
            let answer = try await answer(sites, "/mapped.css", "POST", [:], from: page)
            #expect(answer.status == 405 && answer["Allow"] == "GET, HEAD")
        }
        let own = try await answer(sites, "/mapped.css", "POST", ["Origin": sites.mirror("")])
        #expect(own.status == 200 && own.text == "network")
    }

    @Test("A stylesheet with an integrity attribute stays unchanged, also if it redirects to a file")
    func promisedRedirect() async throws {
        try folder.write("a{b:url(https://h/x)}", to: "own.css")
        let page = Data("<link integrity=x href=/promised.css>".utf8)
        let site = try LoopbackServer { request in
            request.path == "/page"
                ? .init(headers: ["Content-Type": "text/html"], body: page)
                : .init(status: 302, headers: ["Location": "/real.css"])
        }
        defer { site.stop() }
        let url = site.url.absoluteString
        let server = SchemeServer(
            try cache(#"{ "\#(url)/real.css": "own.css", "https://h/x": "site.css" }"#),
            forwardingTo: [url]
        )
        for (path, text) in [
            ("/other.css", "a{b:url(substitution-https://h/x)}"), ("/page", String(decoding: page, as: UTF8.self)),
            ("/promised.css", "a{b:url(https://h/x)}"),
        ] {
            let request = try request("substitution-\(url)\(path)", "GET", from: "substitution-\(url)/page")
            #expect(try await answer(server, request).text == text)
        }
    }

    @Test("A redirected page navigates to its new address, with an opaque origin, and a script gets its text")
    func redirectedPages() async throws {
        let sites = try Sites(folder) { request, other in
            switch request.path {
            case "/same": .init(status: 302, headers: ["Location": "new?\"<x"])
            case "/other": .init(status: 302, headers: ["Location": other.absoluteString + "/x"])
            default: .init(headers: ["Content-Type": "text/html"], body: Data("new".utf8))
            }
        }
        for (path, target) in [
            ("/same", sites.mirror("/new?%22%3Cx")), ("/other", sites.other.url.absoluteString + "/x"),
        ] {
            let answer = try await answer(sites, path, "GET", [:], from: sites.mirror(path) + "#top")
            #expect(answer.status == 200 && answer["Content-Type"] == "text/html; charset=utf-8")
            #expect(answer.text.contains("<script>location.replace(\"\(target)\" + location.hash)"), "\(answer.text)")
            #expect(answer["Content-Security-Policy"] == "sandbox allow-scripts")
        }
        #expect(sites.other.requests.isEmpty)
        for field in ["Referer": sites.mirror("/page"), "X-Requested-With": "x"] {
            let fields = ["Accept": "text/html, application/xhtml+xml", field.key: field.value]
            #expect(try await answer(sites, "/same", "GET", fields).text == "new")
        }
    }

    @Test("A page that redirects to itself, to set a cookie, is followed and not navigated to again")
    func pageRedirectedToItself() async throws {
        let sites = try Sites(folder) { request, _ in
            request.path == "/endless" || request.headers["cookie"] == nil
                ? .init(status: 302, headers: ["Location": request.path, "Set-Cookie": "seen=1; Path=/"])
                : .text("the page")
        }
        for (path, status) in [("/page", 200), ("/endless", 502)] {
            sites.site.forgetRequests()
            let cookies = PageCookies([]) { _ in }
            let request = try request(sites.mirror(path), "GET", from: sites.mirror(path))
            let answer = try await answer(sites.server.reply(to: request) { cookies })
            #expect(answer.status == status && answer.text.hasPrefix(status == 200 ? "the page" : "It redirects to"))
            #expect((2...25).contains(sites.site.requests.count))
        }
    }

    @Test("Pages and stylesheets are rewritten, and other types are delivered unchanged")
    func rewritten() async throws {
        let sites = try Sites(folder) { request, other in
            let type = ["/page": "text/html", "/a.css": "text/css", "/a.txt": "text/plain"][request.path] ?? ""
            let text = "<style>a{b:url(\(other.absoluteString)/mapped.css)}</style>"
            return .init(headers: ["Content-Type": type], body: Data(text.utf8))
        }
        // A page on http or https is not a mirror, so nothing is rewritten for it.
        for (path, page, isRewritten) in [
            ("/page", nil, true), ("/a.css", nil, true), ("/a.txt", nil, false), ("/a.css", "http://a.org/", false),
        ] as [(String, String?, Bool)] {
            let answer = try await answer(sites, path, from: page)
            let url = isRewritten ? sites.otherMirror("/mapped.css") : sites.other.url.absoluteString + "/mapped.css"
            #expect(answer.text == "<style>a{b:url(\(url))}</style>")
            #expect((answer["Content-Length"] == nil) == isRewritten)
        }
    }

    @Test("Bodies are delivered while they are received")
    func streamed() async throws {
        let (parts, read) = (Counter(), Flag())
        let sites = try Sites(folder) { _, _ in
            .stream {
                parts.increment()
                // Send the second part after the client has read the first part.
                while parts.value == 2, !read.isSet { usleep(1000) }
                return parts.value > 2 ? nil : Data(["first", "second"][parts.value - 1].utf8)
            }
        }
        var text = ""
        let request = try request(sites.mirror("/x"), "GET", from: sites.mirror("/page"))
        for try await element in sites.server.reply(to: request) {
            guard case .data(let data) = element else { continue }
            text += String(decoding: data, as: UTF8.self)
            read.set()
        }
        #expect(text == "firstsecond")
    }

    @Test("A load that is no longer read is cancelled")
    func cancelled() async throws {
        /// An object that is released together with the response, once the server can send no more of the response.
        final class Sending: Sendable {
            let hasEnded: Flag
            init(_ hasEnded: Flag) { self.hasEnded = hasEnded }
            deinit { hasEnded.set() }
        }
        let hasEnded = Flag()
        let sites = try Sites(folder) { _, _ in
            let sending = Sending(hasEnded)
            return .stream {
                // Pause here. On Linux, URL loading cannot end any transfer while a transfer continues without pauses.
                withExtendedLifetime(sending) { _ = usleep(1000) }
                return Data(count: 10_000)
            }
        }
        let reply = sites.server.reply(to: try request(sites.mirror("/x"), "GET", from: sites.mirror("/page")))
        let task = Task { for try await _ in reply { withUnsafeCurrentTask { $0?.cancel() } } }
        _ = await task.result
        while !hasEnded.isSet { try await Task.sleep(nanoseconds: 1_000_000) }
    }

    @Test("Loads that end at any moment, also through their redirects, do not end other loads")
    func stopped() async throws {
        for round in 0..<20 {
            let sites = try Sites(folder) { request, other in
                switch request.path {
                case "/0": .init(status: 302, headers: ["Location": "/moved"])
                case "/1": .init(status: 302, headers: ["Location": other.absoluteString + "/x"])
                case "/2": .init(status: 302, headers: ["Location": "/mapped.css"])
                case "/3": .init(body: Data(count: 100), transfer: .closing(after: 50))
                default: .text("network")
                }
            }
            let replies = try (0..<20).map { number in
                sites.server.reply(to: try request(sites.mirror("/\(number % 5)"), "GET", from: sites.mirror("/page")))
            }
            await withTaskGroup(of: Void.self) { group in
                for (number, reply) in replies.enumerated() {
                    group.addTask { _ = try? await reply.first { _ in (number + round) % 3 == 0 } }
                }
                for _ in 0..<round * 3 { await Task.yield() }
                if round % 2 == 0 { group.cancelAll() }
            }
            #expect(try await answer(sites, "/mapped.css").text == body)
        }
    }

    @Test(
        "A policy allows of the mirror what it allows of the site",
        arguments: [
            ("https:", "default-src 'self'", "default-src https://h 'self'"),
            ("https:", "img-src https: data:", "img-src §https: https: data:"),
            (
                "https:", "script-src https://c.org 'nonce-x'; report-uri /r",
                "script-src §https://c.org https://c.org 'nonce-x'; report-uri /r"
            ),
            ("https:", "style-src *.c.org:8/x/", "style-src §https://*.c.org:8/x/ https://*.c.org:8/x/ *.c.org:8/x/"),
            ("https:", "font-src http://c.org/f/", "font-src §http://c.org/f/ §https://c.org/f/ http://c.org/f/"),
            // On an http page, a source without a scheme means both schemes.
            ("http:", "img-src c.org", "img-src §http://c.org §https://c.org http://c.org https://c.org c.org"),
            ("https:", "connect-src 'none', img-src *", "connect-src 'none', img-src §http: §https: *"),
            ("https:", "sandbox allow-scripts; upgrade-insecure-requests", nil), ("https:", "img-src a\0https:", nil),
            ("https:", "connect-src wss://c.org blob:", nil), ("https:", "", nil), ("https:", ";;img-src", nil),
            ("https:", "img-src  https:\tdata: ;", "img-src  §https: https:\tdata: ;"),
            ("https:", "img-src https: substitution-https:", nil),
        ] as [(String, String, String?)]
    )
    func policies(scheme: String, policy: String, expected: String?) throws {
        let site = try #require(WebOrigin("\(scheme)//h/"))
        let expected = expected?.replacingOccurrences(of: "§", with: "substitution-") ?? policy
        #expect(ContentPolicy.translated(policy, for: site) == expected)
    }

    @Test("An https mirror refuses mixed content by an added policy, beside those of the site")
    func mixedContent() throws {
        let policy = { (fields: [String: String], url: String) throws -> [String: String] in
            var fields = fields
            ContentPolicy.translate(&fields, for: try #require(WebOrigin(url)))
            return fields
        }
        #expect(try policy([:], "http://h/") == [:])
        let own = try #require(try policy([:], "https://h/")["Content-Security-Policy"])
        let directives = own.split(separator: ";").map { $0.split(separator: " ") }
        #expect(directives.map(\.first) == ["default-src", "img-src", "media-src", "frame-src"])
        for directive in directives {
            let isPassive = directive.first == "img-src" || directive.first == "media-src"
            #expect(directive.contains("https:") && directive.contains("substitution-https:"))
            #expect(directive.contains("tel:") == (directive.first == "frame-src"))
            #expect(!["*", "http:", "ws:", "substitution-http:"].contains { directive.contains($0) })
            #expect(directive.contains { $0.hasPrefix("http://") } == isPassive)
        }
        let both = try policy(["content-security-policy": "script-src 'self'", "X": "1"], "https://h/")
        #expect(both == ["content-security-policy": "script-src https://h 'self', \(own)", "X": "1"])
        let reported = try policy(["Content-Security-Policy-Report-Only": "img-src 'none'"], "https://h/")
        #expect(reported == ["Content-Security-Policy-Report-Only": "img-src 'none'", "Content-Security-Policy": own])
    }

    /// Header fields, each with values that need no consent of the other origin, and with values that need it.
    ///
    /// The other origin gives its consent in a preflight (Fetch §2.2.2).
    private static let fields: [(name: String, free: [String], asking: [String])] = [
        ("Accept", ["image/*;q=0.8,*/*", String(repeating: "a", count: 128)], ["a(b", "a\u{7F}"]),
        ("Accept", [], [String(repeating: "a", count: 129)]), ("Accept-Language", ["de-CH, en;q=0.5"], ["de_CH"]),
        ("Content-Language", ["*"], ["\"de\""]), ("content-type", ["Multipart/Form-Data; boundary=x"], []),
        ("Content-Type", ["text/plain;charset=utf-8", "application/x-www-form-urlencoded"], ["application/json"]),
        ("Content-Type", [], ["text/plain; x=\"y\"", "text"]), ("Range", ["bytes=0-", "bytes=9-10"], ["bytes=10-9"]),
        ("Range", ["bytes=007-7"], ["bytes=-5", "bytes=0-1,3-4", "Bytes=0-1", "bytes=0-x"]),
        ("Cache-Control", ["no-cache", "max-age=0"], ["secret"]), ("Pragma", ["no-cache"], ["secret"]),
        ("Upgrade-Insecure-Requests", ["1"], ["secret"]), ("X-Own", [], [""]), ("Authorization", [], ["Basic eA=="]),
        ("DNT", ["1"], []), ("Sec-Fetch-Mode", ["cors"], []), ("Accept-Encoding", ["gzip"], []),
    ]

    @Test("A field needs consent or not by its name and value", arguments: fields)
    func consent(name: String, free: [String], asking: [String]) throws {
        for value in free + asking {
            let fields = ["Origin": "substitution-https://a.org", name: value]
            let asked = try request("substitution-https://b.org/x", "GET", fields)
            #expect(ForwardingGuard.fieldNeedingConsent(asked) == (free.contains(value) ? nil : name), "\(value)")
        }
    }

    @Test("The values of a script's fields have a common limit, and those of an engine's fields have none")
    func longFields() throws {
        let field = { (fields: [String: String]) in
            ForwardingGuard.fieldNeedingConsent(try self.request("substitution-https://b.org/x", "GET", fields))
        }
        #expect(try field(["Accept": String(repeating: "a", count: 200)]) == nil)
        var many = ["Origin": "substitution-https://a.org"]
        for name in ["Accept", "Accept-Language", "Content-Language"] {
            many[name] = String(repeating: "a", count: 128)
        }
        #expect(try field(many) == nil)
        many["X"] = String(repeating: "a", count: 700)
        #expect(try field(many) == "Accept")
    }

    @Test("Another site gets the engine's own User-Agent, and no range of the page's")
    func engineFields() async throws {
        let sites = try Sites(both: folder) { request in
            let text = "\(request.headers["user-agent"] ?? "-") \(request.headers["range"] ?? "-")"
            let headers = ["Content-Type": "text/plain", "Access-Control-Allow-Origin": "*"]
            return .init(headers: headers, body: Data(text.utf8))
        }
        let page = sites.mirror("/")
        _ = try await answer(sites, "/", "GET", ["User-Agent": "Engine/1"], from: page)
        let own = ["User-Agent": "secret", "Range": "bytes=0-", "If-Range": "\"secret\"", "Referer": page]
        _ = try await answer(sites, "/", "GET", own, from: page)
        #expect(try await answer(sites, "/x", "GET", own, from: page).text == "secret bytes=0-")
        for url in [sites.otherMirror("/x"), sites.mirror("/other/x")] {
            let answer = try await answer(sites.server, request(url, "GET", from: page, own))
            #expect(answer.text == "Engine/1 -", "\(url)")
        }
        for request in sites.other.requests { #expect(!request.headers.values.contains { $0.contains("secret") }) }
    }

    @Test("Every site of a redirect chain must share, and gets the page's origin but not its URL")
    func chains() async throws {
        let sites = try Sites(both: folder) { request in
            let host = request.path.hasPrefix("/back/") ? request.path.dropFirst("/back/".count) : nil
            let target = host.map { "http://\($0)/secret" } ?? "http://\(request.headers["host"] ?? "")/shared"
            let fields = ["\(request.headers["origin"] ?? "-")", "\(request.headers["referer"] ?? "-")"]
            var response = LoopbackServer.Response.text(fields.joined(separator: " "))
            if host != nil || ["/unshared", "/hop"].contains(request.path) {
                response = .init(status: 302, headers: ["Location": target])
            }
            if !["/unshared", "/secret"].contains(request.path) {
                response.headers["Access-Control-Allow-Origin"] = request.headers["origin"]
            }
            return response
        }
        let site = sites.site.url.absoluteString
        // A redirect chain that leads back to the site is cross-origin, too.
        let back = "/other/back/\(site.dropFirst("http://".count))"
        for (path, expected) in [("/other/shared", 200), ("/other/hop", 200), ("/other/unshared", 502), (back, 502)] {
            for fields in [["Referer": sites.mirror("/deep?private=1")], [:]] {
                let answer = try await answer(sites, path, "GET", fields)
                let text = "\(site) \(fields.isEmpty ? "-" : "\(site)/")"
                #expect(answer.status == expected && (expected == 502 || answer.text == text), "\(answer.text)")
            }
        }
        #expect(sites.site.requests.filter { $0.path == "/secret" }.count == 2)
    }

    @Test("An interim response is ignored, and its cookies are not kept")
    func interim() async throws {
        let sites = try Sites(folder) { request, _ in
            .text(request.headers["cookie"] ?? "final").after(interim: 103, ["Set-Cookie": "early=1; Path=/"])
        }
        for _ in 0..<2 {
            let answer = try await answer(sites, "/x")
            #expect(answer.status == 200 && answer.text == "final")
        }
    }

    @Test("In an https mirror no file answers for a plain http URL")
    func mixedFiles() async throws {
        let server = SchemeServer(try folder.cache(#"{ "http://h/site.css": "site.css" }"#))
        for (page, css) in [("substitution-https://h/", 403), ("substitution-http://h/", 200), ("https://h/", 200)] {
            let status = { (path: String) async throws in
                try await self.answer(server, self.request("substitution-http://h\(path)", "GET", from: page)).status
            }
            #expect(try await status("/site.css") == css, "\(page)")
        }
        let link = try request("substitution-http://h/site.css", "GET", from: "substitution-http://h/site.css")
        #expect(try await answer(server, link).status == 200)
    }
}
