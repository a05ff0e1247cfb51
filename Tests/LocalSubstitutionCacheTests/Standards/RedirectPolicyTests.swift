import Foundation
import LoopbackServer
import SubstitutionRules
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects", .serialized)
final class RedirectPolicyTests {
    private let server: LoopbackServer
    /// A server with the same responses as `server`, at another port and thus at another origin.
    private let elsewhere: LoopbackServer

    init() throws {
        // `/from/here` and `/from/STATUS` redirect to the URL in the request's `X-Location` field.
        let respond: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            if request.path == "/loop" { return LoopbackServer.Response(status: 302, headers: ["Location": "/loop"]) }
            let name = request.target.hasPrefix("/from/") ? request.target.dropFirst(6) : ""
            guard let location = request.headers["x-location"], let status = name == "here" ? 302 : Int(name) else {
                return .text("\(request.method) \(request.target)")
            }
            return LoopbackServer.Response(status: status, headers: ["Location": location], body: Data("moved".utf8))
        }
        server = try LoopbackServer(respond)
        elsewhere = try LoopbackServer(respond)
    }

    deinit {
        server.stop()
        elsewhere.stop()
    }

    private func load(
        _ path: String = "/from/here",
        location: String,
        _ policy: RedirectPolicy,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (status: Int, url: String?, body: String) {
        var request = URLRequest(url: try #require(URL(string: server.url.absoluteString + path)))
        request.setValue(location, forHTTPHeaderField: "X-Location")
        change(&request)
        let session = URLSession(configuration: .ephemeral, delegate: policy, delegateQueue: nil)
        let (data, response) = try await session.data(for: request)
        let head = try #require(response as? HTTPURLResponse)
        return (head.statusCode, head.url?.absoluteString, String(decoding: data, as: UTF8.self))
    }

    @Test(
        "Location is resolved as RFC 3986 §5 says",
        arguments: [
            ("page2", "/from/page2"), ("/page2", "/page2"), ("../page2?x=%2F", "/page2?x=%2F"), ("./a/../b", "/from/b"),
            ("?y", "/from/here?y"), ("/a%2Fb", "/a%2Fb"), ("/%7Euser", "/%7Euser"), ("/a;b=c", "/a;b=c"),
        ]
    )
    func resolved(location: String, target: String) async throws {
        let result = try await load(location: location, .follow)
        #expect(result.body == "GET \(target)")
        #expect(result.url == server.url.absoluteString + target)
    }

    @Test("A Location without a scheme, and an absolute one, lead to another origin", arguments: [true, false])
    func absolute(isComplete: Bool) async throws {
        let target = elsewhere.url.absoluteString + "/there"
        let location = isComplete ? target : String(target.drop { $0 != "/" })
        #expect(try await load(location: location, .follow).url == target)
    }

    @Test("The response of a refused redirect is the answer", arguments: [301, 302, 303, 307, 308])
    func refused(status: Int) async throws {
        let result = try await load("/from/\(status)", location: "/page2", .refuse)
        #expect(result.status == status)
        #expect(server.requests.count == 1)
    }

    @Test("The policy sameOrigin follows redirects only within scheme, host and port")
    func sameOrigin() async throws {
        #expect(try await load(location: "/page2", .sameOrigin).body == "GET /page2")
        #expect(try await load(location: elsewhere.url.absoluteString + "/page2", .sameOrigin).status == 302)
        #expect(elsewhere.requests.isEmpty)
    }

    @Test("Authorization and Cookie are sent to the same origin, but not to another")
    func credentials() async throws {
        func load(_ location: String, on target: LoopbackServer) async throws -> [String: String] {
            _ = try await self.load(location: location, .follow) { request in
                request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
                request.setValue("a=b", forHTTPHeaderField: "Cookie")
            }
            return try #require(target.requests.last?.headers)
        }
        let same = try await load("/page2", on: server)
        #expect(same["authorization"] == "Basic eDp5")
        #expect(same["cookie"] == "a=b")
        let other = try await load(elsewhere.url.absoluteString + "/page2", on: elsewhere)
        #expect(other["authorization"] == nil)
        #expect(other["cookie"] == nil)
        #expect(other["x-location"] != nil)
    }

    @Test("A user name does not change the origin, and a redirect's user name is not sent to another origin")
    func userNames() async throws {
        let named = server.url.absoluteString.replacingOccurrences(of: "//", with: "//me:secret@")
        #expect(try await load(location: named + "/page2", .sameOrigin).status == 200)
        let other = elsewhere.url.absoluteString
        let result = try await load(
            location: other.replacingOccurrences(of: "//", with: "//me:secret@") + "/page2#top",
            .follow
        )
        #expect(result.url == other + "/page2#top")
        #expect(elsewhere.requests.last?.headers["authorization"] == nil)
    }

    @Test("A custom policy that leads to another origin sends only the credentials it sets")
    func ownElsewhere() async throws {
        let mirror = elsewhere.url.appendingPathComponent("mirror")
        for ownCookie in [nil, "own=1"] {
            let policy = RedirectPolicy { request, _ in
                var request = request
                request.url = mirror
                if let ownCookie { request.setValue(ownCookie, forHTTPHeaderField: "Cookie") }
                return request
            }
            _ = try await load(location: "/page2", policy) { request in
                request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
                request.setValue("a=b", forHTTPHeaderField: "Cookie")
            }
            let headers = try #require(elsewhere.requests.last?.headers)
            #expect(headers["authorization"] == nil)
            #expect(headers["cookie"] == ownCookie)
        }
    }

    @Test("A request without a URL refuses the redirect")
    func noURL() async throws {
        let policy = RedirectPolicy { request, _ in
            var request = request
            request.url = nil
            return request
        }
        #expect(try await load(location: "/page2", policy).status == 302)
    }

    @Test("A custom policy may change the request, or accept the redirect as the answer")
    func own() async throws {
        let policy = RedirectPolicy { request, response in
            guard response.statusCode != 301 else { return nil }
            var request = request
            request.setValue("yes", forHTTPHeaderField: "X-Changed")
            return request
        }
        #expect(try await load("/from/302", location: "/page2", policy).body == "GET /page2")
        #expect(server.requests.last?.headers["x-changed"] == "yes")
        #expect(try await load("/from/301", location: "/page2", policy).status == 301)
    }

    @Test("A task's own delegate is asked when it is set before the task is resumed")
    func taskDelegate() async throws {
        var request = URLRequest(url: server.url.appendingPathComponent("from/302"))
        request.setValue("/page2", forHTTPHeaderField: "X-Location")
        let session = URLSession(configuration: .ephemeral)
        let response = await withCheckedContinuation { continuation in
            let task = session.dataTask(with: request) { _, response, _ in continuation.resume(returning: response) }
            task.delegate = RedirectPolicy.refuse
            task.resume()
        }
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("A loop ends with the usual error")
    func loop() async throws {
        let error = await #expect(throws: URLError.self) {
            _ = try await self.load("/loop", location: "/loop", .follow)
        }
        #expect(error?.code == .httpTooManyRedirects)
    }
}
