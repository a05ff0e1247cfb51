import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
                var results = try await Self.results(of: site.request, within: 1, in: site.session)
                // On a busy machine the timeout may pass before even the head is received.
                if count != nil, results.contains(where: { $0.kind == .delegate && Self.isFile($0.head) }) {
                    results = try await Self.results(of: site.request, within: 10, in: site.session)
                }
                for (kind, head, data) in results {
                    if kind == .delegate, count != nil {
                        // The collector returns the bytes it has received, all of them from the network.
                        #expect(!Self.isFile(head))
                        #expect(body.starts(with: data))
                    } else {
                        expectFile((head, data), "fwd=bypass; detail=\"a.txt (offline)\"")
                    }
                }
            }
        }

        private static func isFile(_ head: HTTPURLResponse) -> Bool {
            head.value(forHTTPHeaderField: "Cache-Status") != nil
        }

        /// Sets a request's timeout, and loads the request with all kinds of tasks at once.
        private static func results(
            of request: URLRequest,
            within timeout: TimeInterval,
            in session: URLSession
        ) async throws -> [(kind: TaskKind, head: HTTPURLResponse, data: Data)] {
            var request = request
            request.timeoutInterval = timeout
            let load = request
            return try await withThrowingTaskGroup(of: (TaskKind, HTTPURLResponse, Data).self) { group in
                for kind in TaskKind.receiving {
                    group.addTask {
                        let (head, data) = try await kind.load(load, in: session)
                        return (kind, head, data)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
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
                if usingSubstitutions { configuration.useSubstitutions() }
                let delegate = kind == .delegate || named ? Collector() : nil
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                if named { #expect(throws: Never.self) { try session.registerForSubstitutions() } }
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
    }
}
