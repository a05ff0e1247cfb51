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

extension InstalledTests {
    @Suite("Files that answer after the network")
    final class FallbackTests: InstalledSuite {
        @Test(
            "A status that a condition names is replaced by the file",
            arguments: [401, 403, 404, 410, 429, 500, 503]
        )
        func statuses(status: Int) async throws {
            let site = try Site(folder, when: "[\(status), 418]") { _ in .text("refused", status: status) }
            defer { site.server.stop() }
            for kind in [TaskKind.async, .completion] {
                for session in [site.session, site.plain] {
                    let result = try await kind.load(site.request, in: session)
                    expectFile(result, "fwd=bypass; fwd-status=\(status); detail=\"a.txt\"")
                }
            }
            let (head, data) = try await TaskKind.delegate.load(site.request, in: site.session)
            #expect(
                head.statusCode == status && data == Data("refused".utf8),
                "the network's answer to a delegate stands"
            )
        }

        @Test(
            "A request that times out is answered with the file, unless a delegate already received network bytes"
        )
        func timedOut() async throws {
            let body = Data(repeating: 97, count: 100_000)
            for count in [nil, 50_000] {
                let transfer = count.map { LoopbackServer.Transfer.stalling(after: $0) } ?? .silent
                let site = try Site(folder, when: "\"offline\"") { _ in .init(body: body, transfer: transfer) }
                defer { site.server.stop() }
                var request = site.request
                request.timeoutInterval = 1
                let load = request
                try await withThrowingTaskGroup(of: (HTTPURLResponse, Data).self) { group in
                    // A delegate has received the network's bytes: see OneSourceTests.
                    for kind in TaskKind.receiving where count == nil || kind != .delegate {
                        group.addTask { try await kind.load(load, in: site.session) }
                    }
                    for try await result in group { expectFile(result, "fwd=bypass; detail=\"a.txt (offline)\"") }
                }
            }
        }

        @Test(
            "A closed port and a host that does not resolve count as offline",
            arguments: ["127.0.0.1", "h.invalid"]
        )
        func unreachable(host: String) async throws {
            let site = try Site(folder, when: "\"offline\"") { _ in .text("") }
            site.server.stop()
            let url = "http://\(host):\(site.server.url.port ?? 0)/when"
            try folder.cache("{ \"\(url)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 404] } }").install()
            let request = URLRequest(url: try #require(URL(string: url)))
            for kind in TaskKind.receiving {
                for session in kind == .delegate ? [site.session] : [site.session, site.plain] {
                    try await expectFile(kind.load(request, in: session), "fwd=bypass; detail=\"a.txt (offline)\"")
                }
            }
        }

        private static let body = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 / 11) })

        /// Returns the server's answer to a request, by the request's path.
        ///
        /// For an unknown path, the answer is a 400 whose body repeats the request's cookies.
        @Sendable private static func answer(to request: LoopbackServer.Request) -> LoopbackServer.Response {
            typealias Response = LoopbackServer.Response
            let fields = [
                "Content-Type": "image/x-test", "ETag": "\"1\"", "Set-Cookie": "seen=\(request.path.dropFirst())",
            ]
            switch request.path {
            case "/whole": return Response(headers: fields, body: body)
            case "/404": return Response(status: 404, headers: fields, body: body)
            case "/503": return Response(status: 503, headers: fields)
            case "/204": return Response(status: 204, headers: fields)
            case "/chunked": return Response(headers: fields, body: body, transfer: .chunked(1000))
            case "/gzip":
                let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
                return Response(headers: ["Content-Encoding": "gzip"], body: gzip)
            case "/head": return Response(headers: fields, body: body, transfer: .closingInHead)
            case "/body": return Response(headers: fields, body: body, transfer: .closing(after: 300))
            case "/silent": return Response(transfer: .silent)
            case "/stall": return Response(headers: fields, body: body, transfer: .stalling(after: 300))
            case "/loop": return Response(status: 302, headers: ["Location": "/loop"])
            case "/chain": return Response(status: 302, headers: ["Location": "/307"])
            case "/301", "/302", "/303", "/307", "/308":
                let status = Int(request.path.dropFirst()) ?? 0
                return Response(status: status, headers: ["Location": "/whole", "Set-Cookie": "way=1"], body: body)
            case "/no-location": return Response(status: 302, body: body)
            default: return .text("\(request.method) \(request.headers["cookie"] ?? "-")", status: 400)
            }
        }

        private static let answers = [
            "whole", "404", "503", "204", "chunked", "gzip", "head", "body", "silent", "stall", "loop", "chain", "301",
            "302",
            "303", "307", "308", "no-location",
        ]

        @Test(
            "If no condition holds, the network's answer is delivered as without the library",
            Platform.measuredOnLinux,
            arguments: [false, true]
        )
        func untouched(dependsOnStatus: Bool) async throws {
            let server = try LoopbackServer(Self.answer)
            defer { server.stop() }
            let entries = Self.answers.map { name in
                let condition = dependsOnStatus ? "418" : "\"offline\""
                return "\"\(server.url.absoluteString)/\(name)\": { \"file\": \"a.txt\", \"when\": \(condition) }"
            }
            try folder.cache("{ \(entries.joined(separator: ", ")) }").install()
            let names = Self.answers.filter { dependsOnStatus || !["silent", "stall"].contains($0) }
            // Test one name after the other, because each name needs dozens of sessions.
            for name in names {
                await withTaskGroup(of: Void.self) { group in
                    for kind in TaskKind.receiving {
                        // On Linux a HEAD request crashes the process if the response head is cut off, or if the
                        // connection stalls after the head.
                        for method in ["head", "stall"].contains(name) ? ["GET"] : ["GET", "HEAD"] {
                            var request = URLRequest(url: server.url.appendingPathComponent(name))
                            request.httpMethod = method
                            request.timeoutInterval = ["silent", "stall"].contains(name) ? 1 : 300
                            let load = request
                            group.addTask {
                                var differences = await Self.differences(load, kind)
                                // On a busy machine the timeout may pass before even the head is received.
                                if name == "stall", !differences.isEmpty {
                                    var load = load
                                    load.timeoutInterval = 10
                                    differences = await Self.differences(load, kind)
                                }
                                #expect(differences == [])
                            }
                        }
                    }
                }
            }
        }

        /// Compares a request's loads without the library, with the library, and in a registered session.
        private static func differences(_ request: URLRequest, _ kind: TaskKind) async -> [String] {
            @Sendable func trace(usingSubstitutions: Bool, named: Bool = false) async -> String {
                let configuration = URLSessionConfiguration.ephemeral
                let delegate = kind == .delegate || named ? StrictClient() : nil
                let session =
                    usingSubstitutions
                    ? URLSession.using(configuration, delegate: delegate, registered: named)
                    : URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                defer { session.finishTasksAndInvalidate() }
                let trace = await kind.trace(request, in: session)
                let cookies = configuration.httpCookieStorage?.cookies?.map { "\($0.name)=\($0.value)" }.sorted()
                return "\(trace) \(cookies ?? [])"
            }
            async let without = trace(usingSubstitutions: false)
            async let with = trace(usingSubstitutions: true)
            async let known = trace(usingSubstitutions: true, named: true)
            let (expected, seen, seenInKnown) = await (without, with, known)
            let title = "\(request.httpMethod ?? "") \(request.url?.path ?? ""), \(kind)"
            return [(seen, ""), (seenInKnown, ", named")].filter { $0.0 != expected }
                .map { "\(title)\($0.1): \($0.0), and without the library \(expected)" }
        }

        @Test("Interim responses do not keep the file from answering", arguments: [100, 103])
        func interim(status: Int) async throws {
            let site = try Site(folder, when: "503") { _ in
                LoopbackServer.Response(status: 503, body: Data("unavailable".utf8)).after(interim: status)
            }
            defer { site.server.stop() }
            for kind in [TaskKind.async, .completion] {
                #expect(try await kind.load(site.request, in: site.session).1 == Data(Self.fileText.utf8), "\(kind)")
            }
        }

        @Test(
            "A redirect to a mapped URL is answered with the file, but the network answers a delegate",
            Platform.measuredOnLinux,
            arguments: ["418", "[418, \"offline\"]", "\"offline\""]
        )
        func redirectToSubstituted(conditions: String) async throws {
            let site = try redirecting(to: "/always", when: conditions)
            defer { site.server.stop() }
            for kind in TaskKind.receiving {
                let (head, data) = try await kind.load(site.request, in: site.session)
                let isFile = kind != .delegate
                #expect(head.url?.path == "/always")
                #expect(data == Data((isFile ? Self.fileText : Self.networkText).utf8), "\(kind)")
                let status = head.value(forHTTPHeaderField: "Cache-Status")
                #expect(status == (isFile ? "LocalSubstitutionCache; hit; detail=\"a.txt\"" : nil))
            }
        }

        @Test(
            "A redirect that leads to a status in `when` is answered with the file, but the network answers a delegate",
            Platform.measuredOnLinux
        )
        func redirectToStatus() async throws {
            let site = try redirecting(to: "/503", when: "[\"5xx\"]")
            defer { site.server.stop() }
            for kind in [TaskKind.async, .completion] {
                let result = try await kind.load(site.request, in: site.session)
                expectFile(result, "fwd=bypass; fwd-status=503; detail=\"a.txt\"")
                #expect(result.0.url == site.request.url)
            }
            #expect(try await TaskKind.delegate.load(site.request, in: site.session).0.statusCode == 503)
        }

        @Test("The app's delegate decides about redirects, in every kind of load", arguments: ["418", "\"offline\""])
        func redirectPolicy(conditions: String) async throws {
            let site = try redirecting(to: "/always", when: conditions)
            defer { site.server.stop() }
            let client = StrictClient(onRedirect: { $1(nil) })
            let session = URLSession.named(site.session.configuration, delegate: client)
            for kind in TaskKind.receiving {
                #expect(try await kind.load(site.request, in: session).0.statusCode == 302, "\(kind)")
            }
            #expect(site.server.requests.allSatisfy { $0.path == "/when" })
            #expect(!client.complaints.contains("on another queue"))
        }

        @Test(
            "The session's cookies and additional headers are sent, and a redirect's cookies stored",
            Platform.measuredOnLinux
        )
        func sessionIsKept() async throws {
            let site = try Site(folder, when: "[\"offline\", 503]") { request in
                let fields = ["Set-Cookie": "\(request.path.dropFirst())=1; Path=/"]
                return request.path == "/when"
                    ? .init(status: 302, headers: fields.merging(["Location": "/other"]) { $1 })
                    : .init(headers: fields, body: Data((request.headers["cookie"] ?? "-").utf8))
            }
            defer { site.server.stop() }
            let configuration = site.session.configuration
            configuration.httpAdditionalHeaders = ["X-App": "yes"]
            for kind in [TaskKind.async, .completion] {
                let session = URLSession(configuration: configuration)
                let (_, data) = try await kind.load(site.request, in: session)
                #expect(String(decoding: data, as: UTF8.self).contains("when=1"))
                #expect(site.server.requests.allSatisfy { $0.headers["x-app"] == "yes" })
            }
            #expect(configuration.httpCookieStorage?.cookies?.map(\.name).sorted() == ["other", "when"])
        }

        @Test("A challenge not named in `when` reaches the app's delegate", arguments: ["418", "\"offline\""])
        func challenge(conditions: String) async throws {
            let site = try Site(folder, when: conditions) { request in
                guard request.headers["authorization"] == "Basic bWU6c2VjcmV0" else {
                    return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""])
                }
                return .text(Self.networkText)
            }
            defer { site.server.stop() }
            let client = StrictClient(
                onChallenge: { $0(.useCredential, URLCredential(user: "me", password: "secret", persistence: .none)) }
            )
            let session = URLSession.named(site.session.configuration, delegate: client)
            // If a task has a completion handler, Foundation on Linux asks no delegate about a challenge, and never
            // finishes the task.
            let (head, data) = try await TaskKind.delegate.load(site.request, in: session)
            #expect(head.statusCode == 200)
            #expect(data == Data(Self.networkText.utf8))
        }

        @Test(
            "A challenge that the app's delegate cancels ends the load with the usual error",
            Platform.measuredOnLinux,
            arguments: ["\"offline\"", "418", nil],
            [true, false]
        )
        func challengeCancelled(conditions: String?, hasHandler: Bool) async throws {
            let site = try Site(folder, when: conditions ?? "418") { _ in
                .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
            }
            defer { site.server.stop() }
            if conditions == nil {
                try folder.cache("{}").install(archive: makeArchive())
            }
            let client = StrictClient(onChallenge: { $0(.cancelAuthenticationChallenge, nil) })
            let session = client.session(site.session.configuration)
            if hasHandler {
                let (_, error) = try await session.result(of: site.request) { _ in }
                #expect((error as? URLError)?.code == .cancelled)
            } else {
                #expect(await client.load(session.dataTask(with: site.request)).error == .cancelled)
            }
        }
    }
}
