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
    @Suite("Files that answer after the network, or its silence")
    final class FallbackTests: InstalledSuite {
        // The second number is the status of an interim response; 0 for none.
        @Test("A status that a condition names is replaced by the file", arguments: [401: 0, 404: 100, 503: 103])
        func statuses(status: Int, interim: Int) async throws {
            let site = try Site(folder, when: "[\(status), 418]") { _ in
                let refusal = LoopbackServer.Response.text("refused", status: status)
                return interim == 0 ? refusal : refusal.after(interim: interim)
            }
            defer { site.server.stop() }
            for kind in [TaskKind.async, .completion] {
                for session in [site.session, site.plain] {
                    let result = try await kind.load(site.request, in: session)
                    expectFile(result, "fwd=bypass; fwd-status=\(status); detail=\"a.txt\"")
                }
            }
            if interim > 0 { return }
            // The network's answer to a delegate stands.
            let (head, data) = try await TaskKind.delegate.load(site.request, in: site.session)
            #expect(head.statusCode == status && data == Data("refused".utf8))
        }

        @Test("A class of statuses holds for its hundred, and a lost connection, but no untrusted server, is offline")
        func outcomes() {
            let statuses = [399, 400, 499, 500, 599, 600]
            let classes: [Substitution.Condition] = [.clientError, .serverError]
            let held = classes.map { condition in statuses.filter { condition.holds(after: .status($0)) } }
            #expect(held == [[400, 499], [500, 599]])
            let codes: [URLError.Code] = [
                .networkConnectionLost, .notConnectedToInternet, .serverCertificateUntrusted, .badServerResponse,
                .cancelled,
            ]
            let errors = codes.map { NSError(domain: NSURLErrorDomain, code: $0.rawValue) }
            #expect(errors.map(\.meansOffline) == [true, true, false, false, false])
        }

        @Test("A request that times out is answered with the file, unless a delegate already received network bytes")
        func timedOut() async throws {
            let body = Data(repeating: 97, count: 100_000)
            let site = try Site(folder, when: "\"offline\"") { request in
                request.headers["x-part"] == nil
                    ? .init(transfer: .silent) : .init(body: body, transfer: .stalling(after: 50_000))
            }
            defer { site.server.stop() }
            try await withThrowingTaskGroup(of: (HTTPURLResponse, Data).self) { group in
                for isPart in [false, true] {
                    // A delegate has received the network's bytes: see OneSourceTests.
                    for kind in TaskKind.receiving where !isPart || kind != .delegate {
                        var request = site.request.with(isPart ? ["X-Part": "yes"] : [:])
                        request.timeoutInterval = 1
                        group.addTask { [request] in try await kind.load(request, in: site.session) }
                    }
                }
                for try await result in group { expectFile(result, "fwd=bypass; detail=\"a.txt (offline)\"") }
            }
        }

        @Test("A closed port and a host that does not resolve count as offline", arguments: ["127.0.0.1", "h.invalid"])
        func unreachable(host: String) async throws {
            let site = try Site(folder, when: "\"offline\"") { _ in .text("") }
            site.server.stop()
            let url = "http://\(host):\(site.server.url.port ?? 0)/when"
            try folder.cache(networkFirst([url], when: "[\"offline\", 404]")).install()
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
        /// For an unknown path, the answer is a 400 whose body repeats fields of the request.
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
            case "/302", "/307":
                let status = Int(request.path.dropFirst()) ?? 0
                let fields = ["Location": status == 302 ? "/echo" : "/whole", "Set-Cookie": "way=1; Path=/"]
                return Response(status: status, headers: fields, body: body)
            case "/no-location": return Response(status: 302, body: body)
            default: return .text("\(["cookie", "x-app"].map { request.headers[$0] ?? "-" })", status: 400)
            }
        }

        private static let answers = [
            "whole", "404", "503", "204", "chunked", "gzip", "head", "body", "loop", "chain", "302", "no-location",
            "silent", "stall",
        ]

        @Test(
            "If no condition holds, the network's answer is delivered as without the library",
            Platform.measuredOnLinux,
            arguments: [false, true]
        )
        func untouched(dependsOnStatus: Bool) async throws {
            let server = try LoopbackServer(Self.answer)
            defer { server.stop() }
            let urls = Self.answers.map { "\(server.url.absoluteString)/\($0)" }
            try folder.cache(networkFirst(urls, when: dependsOnStatus ? "418" : "\"offline\"")).install()
            // Test one name after the other, because each name needs dozens of sessions. The last two only wait.
            let (groups, slow) = (Self.answers.dropLast(2).map { [$0] }, Array(Self.answers.suffix(2)))
            for names in groups + (dependsOnStatus ? [slow] : []) {
                await withTaskGroup(of: Void.self) { group in
                    for (name, kind) in names.flatMap({ name in TaskKind.receiving.map { (name, $0) } }) {
                        // On Linux a HEAD request crashes the process if the response head is cut off, or if the
                        // connection stalls after the head.
                        for method in ["head", "stall"].contains(name) ? ["GET"] : ["GET", "HEAD"] {
                            var request = server.request(name, method)
                            if slow.contains(name) { request.timeoutInterval = 1 }
                            group.addTask { [request] in
                                var differences = await Self.differences(request, kind)
                                // On a busy machine the timeout may pass before even the head is received.
                                if name == "stall", !differences.isEmpty {
                                    var load = request
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
                configuration.httpAdditionalHeaders = ["X-App": "yes"]
                // If a session has a delegate, Foundation on Linux sends no cookies after a redirect.
                let hasDelegate = kind == .delegate || named && request.url?.path != "/302"
                let delegate = hasDelegate ? StrictClient() : nil
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

        @Test(
            "A redirect to a mapped URL, or to a status in `when`, gets the file, unless a delegate decides otherwise",
            Platform.measuredOnLinux,
            arguments: ["418", "\"offline\""]
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
            site.server.forgetRequests()
            let client = StrictClient(onRedirect: { $1(nil) })
            let session = URLSession.named(site.session.configuration, delegate: client)
            for kind in TaskKind.receiving {
                #expect(try await kind.load(site.request, in: session).0.statusCode == 302, "\(kind)")
            }
            #expect(site.server.requests.allSatisfy { $0.path == "/when" })
            #expect(!client.complaints.contains("on another queue"))
            let refusing = try redirecting(to: "/503", when: "[\"5xx\"]")
            defer { refusing.server.stop() }
            let result = try await TaskKind.async.load(refusing.request, in: refusing.session)
            expectFile(result, "fwd=bypass; fwd-status=503; detail=\"a.txt\"")
            #expect(result.0.url == refusing.request.url)
            #expect(try await TaskKind.delegate.load(refusing.request, in: refusing.session).0.statusCode == 503)
        }

        @Test("A challenge not named in `when` reaches the app's delegate", arguments: ["418", "\"offline\"", nil])
        func challenge(conditions: String?) async throws {
            let site = try Site(folder, when: conditions ?? "418") { request in
                request.headers["authorization"] == "Basic bWU6c2VjcmV0" ? .text(Self.networkText) : .challenge
            }
            defer { site.server.stop() }
            if conditions == nil { try folder.cache("{}").install(archive: makeArchive()) }
            // If a task has a completion handler, Foundation on Linux asks no delegate about a challenge, and never
            // finishes the task, unless the delegate cancels it.
            let signingIn = URLSession.using(delegate: StrictClient.signingIn(), registered: true)
            let (head, data) = try await TaskKind.delegate.load(site.request, in: signingIn)
            #expect(head.statusCode == 200 && String(decoding: data, as: UTF8.self).hasSuffix(Self.networkText))
            guard Platform.isLinux else { return }
            let client = StrictClient(onChallenge: { $0(.cancelAuthenticationChallenge, nil) })
            let session = client.session()
            #expect(await client.load(session.dataTask(with: site.request)).error == .cancelled)
            let (_, error) = try await session.result(of: site.request) { _ in }
            #expect((error as? URLError)?.code == .cancelled)
        }

        @Test("If no head comes in time, the file answers every kind of task, even a suspended one, but no upload")
        func silent() async throws {
            let site = try Site(folder, when: "[\"offline\", \"3s\", \"1s\"]") { request in
                guard let delay = request.headers["x-delay"].flatMap({ Double($0) }) else {
                    return .init(transfer: .silent)
                }
                Thread.sleep(forTimeInterval: delay / 1000)
                return .text(Self.networkText)
            }
            defer { site.server.stop() }
            let racing = URLSession.using(delegate: StrictClient(), registered: true)
            let (file, network) = (Data(Self.fileText.utf8), Data(Self.networkText.utf8))
            try await withThrowingTaskGroup(of: (HTTPURLResponse, Data)?.self) { group in
                for session in [site.session, site.plain] {
                    group.addTask {
                        let (data, error) = try await session.result(of: site.request) { task in
                            await site.server.waitForRequests(2)
                            task.suspend()
                            try await Task.sleep(nanoseconds: 1_300_000_000)
                            #expect(task.state == .suspended)
                            task.resume()
                        }
                        #expect(error == nil && data == file)
                        return nil
                    }
                }
                await site.server.waitForRequests(2)
                for _ in 0..<5 {
                    for kind in TaskKind.receiving {
                        group.addTask { try await kind.load(site.request, in: site.session) }
                    }
                    group.addTask { try await TaskKind.async.load(site.request, in: site.plain) }
                }
                group.addTask {
                    var upload = site.request.with(["X-Delay": "1200"], "POST")
                    upload.httpBody = Data("a".utf8)
                    let text = try await TaskKind.async.load(upload, in: site.plain).1
                    #expect(text == network)
                    return nil
                }
                // The head and the end of the patience meet, or the task is cancelled then.
                for delay in 990..<1030 {
                    let load = site.request.with(["X-Delay": "\(delay)"])
                    for kind in TaskKind.receiving {
                        group.addTask {
                            let (head, data) = try await kind.load(load, in: racing)
                            #expect(data == (head.value(forHTTPHeaderField: "Cache-Status") == nil ? network : file))
                            return nil
                        }
                    }
                    group.addTask {
                        let (_, error) = try await site.plain.result(of: load) { task in
                            try await Task.sleep(nanoseconds: UInt64(delay) * 1_000_000)
                            task.cancel()
                        }
                        #expect([nil, .cancelled].contains((error as? URLError)?.code))
                        return nil
                    }
                }
                for try await case let result? in group {
                    expectFile(result, "fwd=bypass; detail=\"a.txt (after 1 s)\"")
                }
            }
        }

        private func session(_ delegate: StrictClient) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Impatient.self]
            return .named(configuration, delegate: delegate)
        }

        // On Linux, the head of a redirect also counts.
        @Test(
            "A head in time means the network's answer, however slow its body",
            arguments: ["/when", "/length", "/other"],
            TaskKind.receiving
        )
        func head(path: String, kind: TaskKind) async throws {
            let gate = Gate()
            let site = try Site(folder, when: "\"60s\"") { request in
                if request.path == "/when", path != "/when" { return .init(status: 302, headers: ["Location": path]) }
                if path == "/length" { return .init(body: Data("network".utf8), transfer: .stalling(after: 3)) }
                let (parts, sent) = (path == "/when" ? ["net", "work"] : ["network"], Counter())
                return .stream {
                    if path != "/when" || sent.value > 0 { gate.wait() }
                    sent.increment()
                    return sent.value <= parts.count ? Data(parts[sent.value - 1].utf8) : nil
                }
            }
            defer { site.server.stop() }
            let session = session(StrictClient())
            let result = Task { try? await kind.load(site.request, in: session) }
            await site.server.waitForRequests(path == "/when" ? 1 : 2)
            let load = try #require(Impatient.last)
            try await wait(for: "the head") { load.hasHead }
            load.endPatience(try #require(load.first.patience))
            gate.open()
            // This body never ends.
            if path == "/length" { session.invalidateAndCancel() }
            let answer = await result.value
            #expect(answer?.0.value(forHTTPHeaderField: "Cache-Status") == nil)
            if path != "/length" { #expect(answer?.1 == Data("network".utf8)) }
        }

        // Only Foundation on Linux waits with a redirect while the task is suspended.
        #if canImport(FoundationNetworking)
        @Test("If the patience ends while a redirect is followed, the load goes on")
        func redirected() async throws {
            let site = try Site(folder, when: "\"60s\"") { request in
                request.path == "/when" ? .init(status: 302, headers: ["Location": "/other"]) : .text(Self.networkText)
            }
            defer { site.server.stop() }
            let delegate = StrictClient(onRedirect: { request, decide in
                if let load = Impatient.last, let patience = load.first.patience { load.endPatience(patience) }
                decide(request)
            })
            let session = session(delegate)
            var request = site.request
            request.timeoutInterval = 3
            for _ in 0..<50 {
                #expect(try await TaskKind.delegate.load(request, in: session).1 == Data(Self.networkText.utf8))
            }
        }
        #endif
    }
}

/// A protocol whose last load the tests know.
private final class Impatient: SubstitutionURLProtocol {
    private static let started = Locked<NetworkLoad?>(nil)

    static var last: NetworkLoad? { started.value }

    override func startLoading() {
        super.startLoading()
        _ = Self.started.replace(with: load)
    }
}
