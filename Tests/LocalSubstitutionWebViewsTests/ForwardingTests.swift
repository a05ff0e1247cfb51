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
    /// Requests by pages, each with the cookies to forward; nil if the request must be refused.
    ///
    /// Each `§` is the prefix `substitution-`.
    private static let decisions:
        [(page: String?, url: String, method: String, fields: [String: String], cookies: ForwardingGuard.Cookies?)] = [
            // The page itself, and its resources.
            ("§https://a.org/", "§https://a.org/", "GET", [:], .all),
            ("§https://a.org/", "§https://a.org/x.png", "GET", [:], .fromElsewhere),
            ("§https://a.org/", "§https://A.ORG:443/x.png", "HEAD", [:], .fromElsewhere),
            ("§https://mapped.org/", "§https://a.org/x.png", "GET", [:], ForwardingGuard.Cookies.none),
            // Requests by the page's scripts, as engines send them.
            ("§https://a.org/", "§https://a.org/x", "POST", ["Referer": "§https://a.org/"], .all),
            ("§https://a.org/", "§https://a.org/x", "POST", ["Origin": "§https://a.org"], .all),
            // Requests from the mirror of one forwarded site to another forwarded site. Only GET and HEAD requests that
            // need no preflight are forwarded. They carry no cookies.
            ("§https://a.org/", "§https://b.org/x", "GET", ["Origin": "§https://a.org"], ForwardingGuard.Cookies.none),
            ("§https://a.org/", "§https://b.org/x", "GET", ["X-Own": "1"], nil),
            // Mixed content is refused. A link to http that the user follows is not mixed content.
            ("§https://a.org/", "§http://a.org/x.png", "GET", [:], nil),
            ("https://a.org/", "§http://a.org/x.png", "GET", [:], nil),
            ("§http://a.org/", "§http://a.org/", "GET", [:], .all),
            // More requests to other origins. Only the GET request is forwarded, without cookies.
            ("§http://a.org/", "§https://a.org/x", "GET", [:], ForwardingGuard.Cookies.none),
            ("§https://a.org/", "§https://b.org/x", "POST", ["Origin": "§https://a.org"], nil),
            // Frames of other origins in the page.
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "https://evil.org"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "https://a.org"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "null"], nil),
            ("§https://a.org/", "§https://a.org/x", "GET", ["Origin": "§https://evil.org"], nil),
            (
                "§https://a.org/", "§https://a.org/x", "GET", ["Referer": "https://evil.org/"],
                ForwardingGuard.Cookies.none
            ),
            ("§https://a.org/", "§https://a.org/x", "POST", ["Referer": "https://evil.org/"], nil),
            ("§https://a.org/", "§https://a.org/x", "POST", [:], nil),
            (
                "§https://a.org/x", "§https://a.org/x", "GET", ["Referer": "https://evil.org/"],
                ForwardingGuard.Cookies.none
            ),
            // Pages on mirrors of sites that are neither mapped nor forwarded.
            ("§https://evil.org/", "§https://a.org/x", "GET", [:], nil),
            ("§https://a.org:8443/", "§https://a.org/x", "GET", [:], nil),
            // Pages on http or https, which are not mirrors. They get only what any page may read, without cookies.
            ("https://a.org/", "§https://a.org/x", "GET", [:], ForwardingGuard.Cookies.none),
            (
                "https://evil.org/", "§https://a.org/x", "GET", ["Origin": "https://evil.org"],
                ForwardingGuard.Cookies.none
            ),
            ("https://a.org/", "§https://a.org/x", "POST", ["Origin": "https://a.org"], nil),
            // Pages whose web origin is unknown.
            (nil, "§https://a.org/x", "GET", [:], nil),
            ("about:blank", "§https://a.org/x", "GET", [:], nil),
            ("app://a.org/", "§https://a.org/x", "GET", [:], nil),
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
            ("a.org", "https://a.org http://a.org"), ("a.org:80", "http://a.org https://a.org:80"),
            ("A.org:443", "https://a.org http://a.org:443"), ("https://a.org/x", "https://a.org"),
            ("http://a.org:8080", "http://a.org:8080"), ("[::1]:8080", "http://[::1]:8080 https://[::1]:8080"),
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

    /// Two sites that count their requests; requests to the first site are forwarded.
    private final class Sites {
        let site: LoopbackServer
        let other: LoopbackServer
        let cache: SubstitutionCache
        let server: SchemeServer

        init(
            _ folder: TemporaryFolder,
            _ respond: @escaping @Sendable (LoopbackServer.Request, URL) -> LoopbackServer.Response
        ) throws {
            let other = try LoopbackServer { request in
                .init(
                    headers: ["Access-Control-Allow-Origin": "*"],
                    body: Data("other \(request.headers["cookie"] ?? "-")".utf8)
                )
            }
            let site = try LoopbackServer { respond($0, other.url) }
            (self.site, self.other) = (site, other)
            cache = try folder.cache(
                #"{ "\#(site.url.absoluteString)/mapped.css": "site.css", "\#(other.url.absoluteString)/mapped.css": "site.css" }"#
            )
            let authority = site.url.absoluteString.dropFirst("http://".count)
            server = SchemeServer(cache, forwardingTo: [String(authority)])
        }

        deinit {
            site.stop()
            other.stop()
        }

        /// The cookies of the web view.
        let cookies = PageCookies([])

        func mirror(_ path: String) -> String { "substitution-\(site.url.absoluteString)\(path)" }
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
        func server(to host: String) throws -> (OfflineArchive, SchemeServer) {
            let directory = folder.url.appendingPathComponent("archive")
            let archive = try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["127.0.0.1"])
            return (archive, SchemeServer(sites.cache, forwardingTo: [host], archive: archive))
        }
        func answers(_ server: SchemeServer) async throws -> [String] {
            var answers: [String] = []
            for path in ["/page", "/a.png", "/moved.png", "/private"] {
                let request = try request(sites.mirror(path), "GET", from: sites.mirror("/page"))
                let answer = try? await answer(server.reply(to: request))
                answers.append(answer.map { "\($0.status) \($0["Content-Type"] ?? "") \($0.text)" } ?? "failed")
            }
            return answers
        }
        let (archive, first) = try server(to: sites.site.url.absoluteString)
        let online = try await answers(first)
        archive.directory.queue.sync {}
        sites.site.stop()
        let offline = try await answers(try server(to: sites.site.url.absoluteString).1)
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
            #expect(
                answer.status == 403
                    && answer.text.contains("It is not loaded from the network for this page, because ")
            )
            #expect(answer["Access-Control-Allow-Origin"] == nil)
        }
        let other = try request("substitution-\(sites.other.url.absoluteString)/x", "GET", from: sites.mirror("/page"))
        #expect(try await answer(sites.server, other).status == 404)
        #expect(sites.site.requests.isEmpty && sites.other.requests.isEmpty)
    }

    @Test("A request's fields name the site's own URLs, and the response's fields the mirror's")
    func heads() async throws {
        let sites = try Sites(folder) { request, _ in
            let sharing = request.path == "/foreign" ? "https://a.org" : request.headers["origin"]
            return .init(
                status: 201,
                headers: [
                    "Content-Type": "application/json", "Cache-Control": "max-age=60",
                    "Strict-Transport-Security": "max-age=1", "Access-Control-Allow-Origin": sharing ?? "none",
                    "X-Own": "1", "Content-Security-Policy": "default-src 'self' https://cdn.org",
                ],
                body: Data("{}".utf8)
            )
        }
        let answer = try await answer(
            sites,
            "/api?x=1",
            "POST",
            [
                "Origin": sites.mirror(""), "Referer": sites.mirror("/page"), "X-Own": "2", "If-None-Match": "\"x\"",
                "Accept-Encoding": "br",
            ],
            body: Data("sent".utf8)
        )
        #expect(answer.status == 201 && answer.text == "{}" && answer["X-Own"] == "1")
        #expect(answer["Cache-Control"] == "no-cache" && answer["Strict-Transport-Security"] == nil)
        #expect(answer["Access-Control-Allow-Origin"] == sites.mirror(""))
        #expect(answer["Content-Security-Policy"]?.contains("substitution-https://cdn.org") == true)
        #expect(answer.head.url?.absoluteString == sites.mirror("/api?x=1"))
        let received = try #require(sites.site.requests.first)
        #expect(received.method == "POST" && received.target == "/api?x=1" && received.body == Data("sent".utf8))
        #expect(received.headers["origin"] == sites.site.url.absoluteString && received.headers["x-own"] == "2")
        #expect(received.headers["referer"] == sites.site.url.absoluteString + "/page")
        #expect(received.headers["if-none-match"] == nil && received.headers["accept-encoding"] != "br")
        // The field is translated only if it names the requesting page's site.
        let foreign = try await self.answer(sites, "/foreign", "GET", ["Origin": sites.mirror("")])
        #expect(foreign["Access-Control-Allow-Origin"] == "https://a.org")
    }

    @Test("Cookies are those of the view, kept apart from the app's, and sent for no other page")
    func cookies() async throws {
        let sites = try Sites(folder) { request, _ in
            .init(headers: ["Set-Cookie": "a=b; Path=/"], body: Data("cookie \(request.headers["cookie"] ?? "-")".utf8))
        }
        #expect(try await answer(sites, "/1").text == "cookie -")
        let second = try await answer(sites, "/2")
        #expect(second.text == "cookie a=b" && second["Set-Cookie"] == nil)
        #expect(try await answer(sites, "/3", "GET", ["Referer": "https://evil.org/"]).text == "cookie -")
        #expect(try await answer(sites, "/4", "GET", [:], from: sites.site.url.absoluteString).text == "cookie -")
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
        let reported = ReportedCookies()
        let cookies = PageCookies([]) { reported.add($0) }
        for (path, text) in [("/login", "sid=1"), ("/own", "sid=1"), ("/logout", ""), ("/own", "-")] {
            let request = try request(sites.mirror(path), "GET", from: sites.mirror("/page"))
            #expect(try await answer(sites.server.reply(to: request) { cookies }).text == text, "\(path)")
        }
        #expect(reported.names == ["sid", "-sid"])
    }

    @Test(
        "A site sets cookies for itself only",
        arguments: [
            ("https://www.a.org/", "a=1", true), ("https://www.a.org/", "a=1; Domain=www.a.org", true),
            ("https://www.a.org/", "a=1; Domain=a.org", true), ("https://www.a.org/", "a=1; Domain=.A.org", true),
            ("https://www.a.org/", "a=1; Domain=b.a.org", false), ("https://www.a.org/", "a=1; Domain=org", false),
            ("https://www.a.org/", "a=1; Domain=bank.example", false),
            ("https://www.a.org/", "a=; Domain=bank.example; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
            ("https://evila.org/", "a=1; Domain=a.org", false), ("https://a.org/", "a=1; Domain=www.a.org", false),
            ("https://127.0.0.1/", "a=1; Domain=0.0.1", false), ("https://127.0.0.1/", "a=1", true),
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
        let reported = ReportedCookies()
        let properties: [HTTPCookiePropertyKey: String] = [
            .name: "safe", .value: "1", .domain: ".a.org", .path: "/", .secure: "TRUE",
        ]
        let safe = try #require(HTTPCookie(properties: properties))
        let cookies = try #require(PageCookies([safe]) { reported.add($0) })
        let address = try #require(URL(string: url))
        let response = HTTPURLResponse(
            url: address,
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Set-Cookie": field]
        )
        cookies.storeCookies(from: try #require(response))
        #expect(reported.names.isEmpty != isKept, "\(reported.names)")
    }

    /// The names of the cookies that are reported to a view's store; a hyphen precedes the name of a deleted cookie.
    private final class ReportedCookies: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [String] = []
        var names: [String] { lock.withLock { list } }

        func add(_ cookies: [HTTPCookie]) {
            lock.withLock { list += cookies.map { ($0.hasExpired ? "-" : "") + $0.name } }
        }
    }

    @Test(
        "SameSite cookies are not sent if the request may be from another site",
        .enabled(if: !Platform.isLinux, "Foundation on Linux drops the attribute")
    )
    func sameSite() throws {
        var properties: [HTTPCookiePropertyKey: Any] = [.name: "plain", .value: "1", .domain: "a.org", .path: "/"]
        var cookies = [try #require(HTTPCookie(properties: properties))]
        properties[.name] = "lax"
        properties[HTTPCookiePropertyKey(rawValue: "SameSite")] = "lax"
        cookies.append(try #require(HTTPCookie(properties: properties)))
        var page = try #require(PageCookies(cookies))
        let request = try request("https://a.org/x", "GET", from: nil)
        let sent = { (page: PageCookies) in page.added(to: request).value(forHTTPHeaderField: "Cookie") ?? "" }
        #expect(sent(page).contains("plain=1") && sent(page).contains("lax=1"))
        page.isFromElsewhere = true
        #expect(sent(page) == "plain=1")
    }

    @Test("A response that was loaded with cookies never answers a request without them")
    func personal() async throws {
        let sites = try Sites(folder) { request, _ in
            .init(
                headers: [
                    "Cache-Control": "max-age=600", "Set-Cookie": "a=b; Path=/", "Access-Control-Allow-Origin": "*",
                ],
                body: Data("for \(request.headers["cookie"] ?? "nobody")".utf8)
            )
        }
        _ = try await answer(sites, "/first")
        #expect(try await answer(sites, "/me").text == "for a=b")
        let stranger = try await answer(sites, "/me", "GET", ["Origin": "http://evil.org"], from: "http://evil.org/")
        #expect(stranger.text == "for nobody")
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
        let same = try await answer(sites, "/same")
        #expect(same.status == 200 && same.text == "network /target")
        #expect(try await answer(sites, "/mapped").text == body)
        #expect(try await answer(sites, "/other-mapped").text == body)
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
            let words =
                switch step {
                case .asked: "asked"
                case .answered(let response, let count, _):
                    "answered \((response as? HTTPURLResponse)?.statusCode ?? 0) \(count)"
                case .ended: "ended"
                case .sent: "sent"
                case .received: "head"
                case .receivedPart: "part"
                default: "more"
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
                "/page sent, by a task", "/page head, by a task", "/page part, by a task", "/x asked, by a page",
                "/x ended, by a page",
            ]
        )
    }

    /// Creates two forwarded sites; the first site redirects requests below `/other/` to the second.
    private func twoSites(
        _ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws -> (first: LoopbackServer, second: LoopbackServer, server: SchemeServer) {
        let second = try LoopbackServer { respond($0) }
        let first = try LoopbackServer { request in
            guard request.path.hasPrefix("/other/") else { return respond(request) }
            let target = second.url.absoluteString + request.path.dropFirst("/other".count)
            return .init(
                status: request.path == "/other/kept" ? 307 : 302,
                headers: ["Location": target, "Set-Cookie": "a=b; Path=/"]
            )
        }
        let names = [first, second].map { String($0.url.absoluteString.dropFirst("http://".count)) }
        return (first, second, SchemeServer(try cache(), forwardingTo: Set(names)))
    }

    @Test("A redirect to another site that is forwarded to carries no cookies")
    func redirectedElsewhere() async throws {
        let (site, other, server) = try twoSites { request in
            .init(
                headers: [
                    "Content-Type": ["/x.html": "text/html", "/private": "image/png"][request.path] ?? "text/plain",
                    "Access-Control-Allow-Origin": request.path == "/private" ? "https://c.org" : "*",
                ],
                body: Data("\(request.path) \(request.headers["cookie"] ?? "-")".utf8)
            )
        }
        defer { [site, other].forEach { $0.stop() } }
        let page = "substitution-\(site.url.absoluteString)"
        // Both sites have the same host. Cookies ignore the port, so cookies of the first site also match the second.
        let cookies = PageCookies([])
        for _ in 0..<2 {
            let moved = try request(page + "/other/x", "GET", from: page + "/")
            let answer = try await answer(server.reply(to: moved) { cookies })
            #expect(answer.status == 200 && answer.text == "/x -")
        }
        // These responses are refused. In the web view, each response would have the first site's origin, and a script
        // of the first site could read data that the second site does not share.
        for (path, fields) in [
            ("/other/x.html", [:]), ("/other/private", [:]), ("/other/private", ["Referer": page + "/"]),
        ] as [(String, [String: String])] {
            #expect(try await answer(server, request(page + path, "GET", from: page + "/", fields)).status == 502)
        }
        let frame = try request(page + "/other/x.html", "GET", from: page + "/", ["Accept": "text/html,*/*"])
        #expect(
            try await answer(server, frame).text.contains(
                "location.replace(\"substitution-\(other.url.absoluteString)/x.html\""
            )
        )
        let posted = try request(page + "/other/kept", "POST", from: page + "/", ["Origin": page], body: Data("x".utf8))
        #expect(try await answer(server, posted).status == 502)
        #expect(other.requests.count == 5)
    }

    @Test("A redirect sends no script's fields to another site, and returns only what any page may show")
    func redirectedFields() async throws {
        let (first, second, server) = try twoSites { request in
            var headers = ["Content-Type": request.path == "/x.js" ? "text/javascript" : "application/json"]
            if request.path == "/shared" { headers["Access-Control-Allow-Origin"] = "*" }
            return .init(headers: headers, body: Data("second".utf8))
        }
        defer { [first, second].forEach { $0.stop() } }
        let page = "substitution-\(first.url.absoluteString)"
        for (fields, status) in [
            (["Referer": page + "/", "X-Own": "secret"], 502), (["Authorization": "Bearer x"], 502),
            (["Referer": page + "/", "Range": "bytes=0-", "If-Range": "\"x\""], 200),
        ] {
            let request = try request(page + "/other/shared", "GET", from: page + "/", fields)
            let answer = try await answer(server, request)
            #expect(answer.status == status, "\(fields) \(answer.text)")
            // A refusal does not say where the redirect leads.
            #expect(status == 200 || !answer.text.contains(second.url.absoluteString))
        }
        #expect(second.requests.count == 1)
        for field in ["range", "if-range"] { #expect(second.requests.first?.headers[field] == nil) }
        for (path, status) in [("/other/x.json", 502), ("/other/x.js", 502), ("/other/shared", 200), ("/x.json", 200)] {
            #expect(try await answer(server, request(page + path, "GET", from: page + "/")).status == status, "\(path)")
        }
    }

    @Test("A script that requests a redirected page gets its text, not a page that navigates there")
    func scriptedPages() async throws {
        let sites = try Sites(folder) { request, _ in
            request.path == "/moved"
                ? .init(status: 302, headers: ["Location": "/new"])
                : .init(headers: ["Content-Type": "text/html"], body: Data("new".utf8))
        }
        let accept = "text/html, application/xhtml+xml"
        for fields in [
            ["Accept": accept, "Referer": sites.mirror("/page")], ["Accept": accept, "X-Requested-With": "x"],
        ] {
            #expect(try await answer(sites, "/moved", "GET", fields).text == "new")
        }
    }

    @Test(
        "A body reaches the server, also after a redirect that keeps it",
        arguments: ["/plain", "/307", "/308", "/303"],
        [true, false]
    )
    func bodies(path: String, isStream: Bool) async throws {
        let sites = try Sites(folder) { request, _ in
            if let status = Int(request.path.dropFirst()) {
                return .init(status: status, headers: ["Location": "/plain"])
            }
            let length = request.headers["content-length"] ?? "-"
            return .text("\(request.method) \(length) \(String(decoding: request.body, as: UTF8.self))")
        }
        let sent = Data(String(repeating: "x", count: 100_000).utf8)
        for cookies in [PageCookies([]), nil] {
            var request = try request(
                sites.mirror(path),
                "POST",
                from: sites.mirror("/page"),
                ["Origin": sites.mirror("")],
                body: isStream ? nil : sent
            )
            if isStream { request.httpBodyStream = InputStream(data: sent) }
            let answer = try await answer(sites.server.reply(to: request) { cookies })
            let expected = path == "/303" ? "GET - " : "POST 100000 \(String(decoding: sent, as: UTF8.self))"
            #expect(answer.text == expected, "\(answer.text.prefix(40))")
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
        let (first, second, server) = try twoSites { _ in
            .init(
                headers: ["Content-Security-Policy": "script-src 'self'", "Content-Type": "text/html"],
                body: Data("<meta http-equiv=Content-Security-Policy content=\"img-src 'self'\">".utf8)
            )
        }
        defer { [first, second].forEach { $0.stop() } }
        let (page, framed) = ("substitution-\(first.url.absoluteString)/", second.url.absoluteString)
        let answer = try await answer(server, request("substitution-\(framed)/x", "GET", from: page))
        #expect(answer["Content-Security-Policy"] == "script-src \(framed) 'self'")
        #expect(answer.text.contains("img-src \(framed)&#32;'self'"))
    }

    @Test("A long page is delivered in parts")
    func longPage() async throws {
        let page = Data(repeating: UInt8(ascii: "x"), count: 3 << 20)
        let sites = try Sites(folder) { _, _ in .init(headers: ["Content-Type": "text/html"], body: page) }
        // `answer(_:)` checks the length of each part.
        let answer = try await answer(sites, "/long.html")
        #expect(answer.body == page && answer.parts == 3)
    }

    @Test("Empty and partial responses are delivered unchanged, and a compressed one is decompressed")
    func shapes() async throws {
        // `printf hello | gzip -n`
        let gzip: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let sites = try Sites(folder) { request, _ in
            switch request.path {
            case "/204": .init(status: 204)
            case "/206":
                .init(status: 206, headers: ["Content-Range": "bytes 1-2/5"], body: Data("el".utf8))
            case "/gzip": .init(headers: ["Content-Encoding": "gzip"], body: Data(gzip))
            default: .text("hello")
            }
        }
        let empty = try await answer(sites, "/204")
        #expect(empty.status == 204 && empty.body.isEmpty)
        let part = try await answer(sites, "/206", "GET", ["Range": "bytes=1-2"])
        #expect(part.status == 206 && part.text == "el" && part["Content-Range"] == "bytes 1-2/5")
        let compressed = try await answer(sites, "/gzip")
        #expect(
            compressed.text == "hello" && compressed["Content-Encoding"] == nil && compressed["Content-Length"] == nil
        )
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
        let site = try LoopbackServer { request in
            request.path == "/page"
                ? .init(
                    headers: ["Content-Type": "text/html"],
                    body: Data("<link integrity=x href=/promised.css>".utf8)
                ) : .init(status: 302, headers: ["Location": "/real.css"])
        }
        defer { site.stop() }
        let url = site.url.absoluteString
        let cache = try cache(#"{ "\#(url)/real.css": "own.css", "https://h/x": "site.css" }"#)
        let server = SchemeServer(cache, forwardingTo: [url])
        let page = "substitution-\(url)/page"
        for (path, text) in [
            ("/other.css", "a{b:url(substitution-https://h/x)}"), ("/page", "<link integrity=x href=/promised.css>"),
            ("/promised.css", "a{b:url(https://h/x)}"),
        ] {
            let request = try request("substitution-\(url)\(path)", "GET", from: page)
            #expect(try await answer(server, request).text == text)
        }
    }

    @Test("A redirected page navigates to its new address, with an opaque origin")
    func redirectedPages() async throws {
        let sites = try Sites(folder) { request, other in
            .init(
                status: 302,
                headers: ["Location": request.path == "/same" ? "new?\"<x" : other.absoluteString + "/x"]
            )
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
            return .init(
                headers: ["Content-Type": type],
                body: Data("<style>a{b:url(\(other.absoluteString)/mapped.css)}</style>".utf8)
            )
        }
        let url = sites.other.url.absoluteString + "/mapped.css"
        for path in ["/page", "/a.css"] {
            let answer = try await answer(sites, path)
            #expect(answer.text == "<style>a{b:url(substitution-\(url))}</style>")
            #expect(answer["Content-Length"] == nil)
        }
        #expect(try await answer(sites, "/a.txt").text == "<style>a{b:url(\(url))}</style>")
        // A page on http or https is not a mirror, so nothing is rewritten for it.
        #expect(
            try await answer(sites, "/a.css", "GET", [:], from: "http://a.org/").text
                == "<style>a{b:url(\(url))}</style>"
        )
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
        let task = Task {
            for try await _ in reply {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
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
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let request = try? request(sites.mirror("/\(number % 5)"), "GET", from: sites.mirror("/page"))
                    guard let reply = request.map({ sites.server.reply(to: $0) }) else { continue }
                    group.addTask {
                        do {
                            for try await _ in reply where (number + round) % 3 == 0 { return }
                        } catch {}
                    }
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
            ("default-src 'self'", "default-src https://h 'self'"),
            ("img-src https: data:", "img-src substitution-https: https: data:"),
            (
                "script-src https://c.org 'nonce-x'; report-uri /r",
                "script-src substitution-https://c.org https://c.org 'nonce-x'; report-uri /r"
            ),
            ("style-src c.org", "style-src substitution-https://c.org https://c.org c.org"),
            (
                "script-src *.c.org:8443/x/",
                "script-src substitution-https://*.c.org:8443/x/ https://*.c.org:8443/x/ *.c.org:8443/x/"
            ),
            (
                "font-src http://c.org/f/",
                "font-src substitution-http://c.org/f/ substitution-https://c.org/f/ http://c.org/f/"
            ),
            ("connect-src 'none', img-src *", "connect-src 'none', img-src substitution-http: substitution-https: *"),
            ("sandbox allow-scripts; upgrade-insecure-requests", "sandbox allow-scripts; upgrade-insecure-requests"),
            ("connect-src wss://c.org blob:", "connect-src wss://c.org blob:"), ("", ""), (";;", ";;"),
            ("img-src", "img-src"), ("img-src a\0https:", "img-src a\0https:"),
            ("img-src https: substitution-https:", "img-src https: substitution-https:"),
            ("img-src  https:\tdata: ;", "img-src  substitution-https: https:\tdata: ;"),
        ]
    )
    func policies(policy: String, expected: String) throws {
        let site = try #require(WebOrigin("https://h/"))
        #expect(ContentPolicy.translated(policy, for: site) == expected)
    }

    @Test("On an http page, a source without a scheme means both schemes")
    func plainPolicy() throws {
        let site = try #require(WebOrigin("http://h/"))
        let expected =
            "img-src substitution-http://c.org substitution-https://c.org http://c.org https://c.org c.org"
        #expect(ContentPolicy.translated("img-src c.org", for: site) == expected)
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
            #expect(
                !directive.contains("substitution-http:")
                    && directive.contains("tel:") == (directive.first == "frame-src")
            )
            #expect(!directive.contains("*") && !directive.contains("http:") && !directive.contains("ws:"))
            #expect(directive.contains { $0.hasPrefix("http://") } == isPassive)
        }
        let both = try policy(["content-security-policy": "script-src 'self'", "X": "1"], "https://h/")
        #expect(both == ["content-security-policy": "script-src https://h 'self', \(own)", "X": "1"])
        let reported = try policy(["Content-Security-Policy-Report-Only": "img-src 'none'"], "https://h/")
        #expect(reported == ["Content-Security-Policy-Report-Only": "img-src 'none'", "Content-Security-Policy": own])
    }

    /// Header fields, and whether each needs the other origin's consent.
    ///
    /// The other origin gives its consent in a preflight (Fetch §2.2.2).
    private static let fields: [(name: String, value: String, needsConsent: Bool)] = [
        ("Accept", "image/*;q=0.8,*/*", false), ("Accept", "a(b", true), ("Accept", "a\u{7F}", true),
        ("Accept", String(repeating: "a", count: 128), false), ("Accept", String(repeating: "a", count: 129), true),
        ("Accept-Language", "de-CH, en;q=0.5", false), ("Accept-Language", "de_CH", true),
        ("Content-Language", "*", false), ("Content-Language", "\"de\"", true),
        ("Content-Type", "text/plain;charset=utf-8", false), ("content-type", "Multipart/Form-Data; boundary=x", false),
        ("Content-Type", "application/x-www-form-urlencoded", false), ("Content-Type", "application/json", true),
        ("Content-Type", "text/plain; x=\"y\"", true), ("Content-Type", "text", true),
        ("Range", "bytes=0-", false), ("Range", "bytes=5-10", false), ("Range", "bytes=9-10", false),
        ("Range", "bytes=10-9", true), ("Range", "bytes=-5", true), ("Range", "bytes=0-1,3-4", true),
        ("Range", "lines=0-1", true), ("Range", "Bytes=0-1", true), ("Range", "bytes=0-x", true),
        ("Range", "bytes=007-7", false),
        ("Cache-Control", "no-cache", false), ("Cache-Control", "max-age=0", false), ("Cache-Control", "secret", true),
        ("Pragma", "no-cache", false), ("Pragma", "secret", true),
        ("Upgrade-Insecure-Requests", "1", false), ("Upgrade-Insecure-Requests", "secret", true),
        ("Priority", "u=1", true), ("X-Own", "", true), ("Authorization", "Basic eA==", true),
        ("DNT", "1", false), ("Sec-Fetch-Mode", "cors", false), ("Accept-Encoding", "gzip", false),
    ]

    @Test("A field needs consent or not by its name and value", arguments: fields)
    func consent(name: String, value: String, needsConsent: Bool) throws {
        let asked = try request(
            "substitution-https://b.org/x",
            "GET",
            ["Origin": "substitution-https://a.org", name: value]
        )
        #expect(ForwardingGuard.fieldNeedingConsent(asked) == (needsConsent ? name : nil))
    }

    @Test("The values of a script's fields have a common limit, and those of an engine's fields have none")
    func longFields() throws {
        let long = ["Accept": String(repeating: "a", count: 200)]
        #expect(ForwardingGuard.fieldNeedingConsent(try request("substitution-https://b.org/x", "GET", long)) == nil)
        var many = ["Origin": "substitution-https://a.org"]
        for name in ["Accept", "Accept-Language", "Content-Language"] {
            many[name] = String(repeating: "a", count: 128)
        }
        let asked = { try self.request("substitution-https://b.org/x", "GET", many) }
        #expect(ForwardingGuard.fieldNeedingConsent(try asked()) == nil)
        many["X"] = String(repeating: "a", count: 700)
        #expect(ForwardingGuard.fieldNeedingConsent(try asked()) == "Accept")
    }

    @Test("Another site gets the engine's own User-Agent, and no range of the page's")
    func engineFields() async throws {
        let (first, second, server) = try twoSites { request in
            let text = "\(request.headers["user-agent"] ?? "-") \(request.headers["range"] ?? "-")"
            let headers = ["Content-Type": "text/plain", "Access-Control-Allow-Origin": "*"]
            return .init(headers: headers, body: Data(text.utf8))
        }
        defer { [first, second].forEach { $0.stop() } }
        let pages = [first, second].map { "substitution-\($0.url.absoluteString)" }
        let page = pages[0] + "/"
        _ = try await answer(server, request(page, "GET", from: page, ["User-Agent": "Engine/1"]))
        let own = ["User-Agent": "secret", "Range": "bytes=0-", "If-Range": "\"secret\"", "Referer": page]
        _ = try await answer(server, request(page, "GET", from: page, own))
        #expect(try await answer(server, request(page + "x", "GET", from: page, own)).text == "secret bytes=0-")
        for url in [pages[1] + "/x", page + "other/x"] {
            #expect(try await answer(server, request(url, "GET", from: page, own)).text == "Engine/1 -", "\(url)")
        }
        for request in second.requests { #expect(!request.headers.values.contains { $0.contains("secret") }) }
    }

    @Test("Every site of a redirect chain must share, and gets the page's origin but not its URL")
    func chains() async throws {
        let (first, second, server) = try twoSites { request in
            let back = request.headers["host"].map { "http://\($0)/shared" } ?? ""
            let fields = ["\(request.headers["origin"] ?? "-")", "\(request.headers["referer"] ?? "-")"]
            var response = LoopbackServer.Response.text(fields.joined(separator: " "))
            if ["/unshared", "/hop"].contains(request.path) {
                response = .init(status: 302, headers: ["Location": back])
            }
            if request.path != "/unshared" {
                response.headers["Access-Control-Allow-Origin"] = request.headers["origin"]
            }
            return response
        }
        defer { [first, second].forEach { $0.stop() } }
        let page = "substitution-\(first.url.absoluteString)"
        let site = first.url.absoluteString
        for (path, expected) in [("/other/shared", 200), ("/other/hop", 200), ("/other/unshared", 502)] {
            for fields in [["Referer": "\(page)/deep?private=1"], [:]] {
                let answer = try await answer(server, request(page + path, "GET", from: page + "/", fields))
                let referer = fields.isEmpty ? "-" : "\(site)/"
                #expect(
                    answer.status == expected && (expected == 502 || answer.text == "\(site) \(referer)"),
                    "\(answer.text)"
                )
            }
        }
    }

    @Test("A redirect chain that leads back to the site is cross-origin, too")
    func backAgain() async throws {
        let second = try LoopbackServer { request in
            let back = "http://\(request.target.dropFirst("/?".count))/secret"
            return .init(status: 302, headers: ["Location": back, "Access-Control-Allow-Origin": "*"])
        }
        defer { second.stop() }
        let first = try LoopbackServer { request in
            switch request.path {
            case "/away":
                let target = "\(second.url.absoluteString)/?\(request.headers["host"] ?? "")"
                return .init(status: 302, headers: ["Location": target])
            default: return .text("secret")
            }
        }
        defer { first.stop() }
        let names = [first, second].map { String($0.url.absoluteString.dropFirst("http://".count)) }
        let server = SchemeServer(try cache(), forwardingTo: Set(names))
        let page = "substitution-\(first.url.absoluteString)"
        let asked = try request(page + "/away", "GET", from: page + "/", ["Referer": page + "/"])
        #expect(try await answer(server, asked).status == 502)
        #expect(first.requests.map(\.path) == ["/away", "/secret"] && second.requests.count == 1)
    }

    @Test("A refusal has its mirror's policy")
    func policiesOfTexts() async throws {
        let server = SchemeServer(try cache())
        for page in [SchemeSuite.page, "https://a.org/", nil] {
            let missing = try request("substitution-https://missing/", "GET", from: page)
            #expect(
                try await answer(server, missing)["Content-Security-Policy"]?.hasPrefix("default-src https:") == true
            )
        }
    }

    @Test("An interim response is ignored, and its cookies are not kept", arguments: [100, 102, 103])
    func interim(status: Int) async throws {
        let sites = try Sites(folder) { request, _ in
            LoopbackServer.Response.text(request.headers["cookie"] ?? "final")
                .after(interim: status, ["Set-Cookie": "early=1; Path=/"])
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
