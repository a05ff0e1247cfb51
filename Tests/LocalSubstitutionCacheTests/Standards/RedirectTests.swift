import Foundation
import LoopbackServer
import SubstitutionRules
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects", .serialized)
final class RedirectTests {
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

    /// Follows each redirect as the library does.
    private final class Follower: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(response.redirected(request))
        }
    }

    private func load(
        _ path: String = "/from/here",
        location: String,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> (status: Int, url: String?, body: String) {
        var request = URLRequest(url: try #require(URL(string: server.url.absoluteString + path)))
        request.setValue(location, forHTTPHeaderField: "X-Location")
        change(&request)
        let session = URLSession(configuration: .ephemeral, delegate: Follower(), delegateQueue: nil)
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
        let result = try await load(location: location)
        #expect(result.body == "GET \(target)")
        #expect(result.url == server.url.absoluteString + target)
    }

    @Test("A Location without a scheme, and an absolute one, lead to another origin", arguments: [true, false])
    func absolute(isComplete: Bool) async throws {
        let target = elsewhere.url.absoluteString + "/there"
        let location = isComplete ? target : String(target.drop { $0 != "/" })
        #expect(try await load(location: location).url == target)
    }

    @Test("Authorization and Cookie are sent to the same origin, but not to another")
    func credentials() async throws {
        func load(_ location: String, on target: LoopbackServer) async throws -> [String: String] {
            _ = try await self.load(location: location) { request in
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
        #expect(try await load(location: named + "/page2").body == "GET /page2")
        let other = elsewhere.url.absoluteString
        let result = try await load(
            location: other.replacingOccurrences(of: "//", with: "//me:secret@") + "/page2#top"
        )
        #expect(result.url == other + "/page2#top")
        #expect(elsewhere.requests.last?.headers["authorization"] == nil)
    }
}
