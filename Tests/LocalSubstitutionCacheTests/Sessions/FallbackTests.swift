import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension SessionTests {
    /// A server of one's own, whose URLs below `/when` have the file only when a condition holds.
    struct Site {
        let server: LoopbackServer
        let request: URLRequest
        let session: URLSession

        init(
            _ folder: TemporaryFolder,
            when conditions: String,
            ephemeral: Bool = true,
            _ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
        ) throws {
            server = try LoopbackServer(respond)
            let url = server.url.appendingPathComponent("when")
            var request = URLRequest(url: url)
            request.timeoutInterval = 300
            self.request = request
            try folder.cache(
                """
                { "\(url.absoluteString)": { "file": "a.txt", "when": \(conditions) },
                  "\(server.url.absoluteString)/always": "a.txt" }
                """
            ).install()
            let configuration = ephemeral ? URLSessionConfiguration.ephemeral : .default
            configuration.useSubstitutions()
            session = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
        }

        /// Without a delegate.
        var plain: URLSession { URLSession(configuration: session.configuration) }
    }

    private static let kinds: [TaskKind] = [.async, .completion, .delegate]

    private func expectFile(
        _ result: (HTTPURLResponse, Data),
        _ status: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (head, data) = result
        #expect(head.statusCode == 200, sourceLocation: sourceLocation)
        #expect(data == Data(Self.fileText.utf8), sourceLocation: sourceLocation)
        #expect(
            head.value(forHTTPHeaderField: "Cache-Status") == "LocalSubstitutionCache; \(status)",
            sourceLocation: sourceLocation
        )
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
        #expect(head.value(forHTTPHeaderField: "Content-Length") == String(Self.fileText.utf8.count))
        #expect(head.value(forHTTPHeaderField: "Cache-Control") == "no-store")
    }

    @Test("A status that a condition names is replaced by the file", arguments: [401, 403, 404, 410, 429, 500, 503])
    func statuses(status: Int) async throws {
        let site = try Site(folder, when: "[\(status), 418]") { _ in .text("refused", status: status) }
        defer { site.server.stop() }
        for kind in Self.kinds {
            for session in kind == .delegate ? [site.session] : [site.session, site.plain] {
                let result = try await kind.load(site.request, in: session)
                expectFile(result, "fwd=bypass; fwd-status=\(status); detail=\"a.txt\"")
            }
        }
    }

    @Test("A request that times out is answered with the file, unless the network has begun to deliver to a delegate")
    func timedOut() async throws {
        let body = Data(repeating: 97, count: 100_000)
        for count in [nil, 50_000] {
            let transfer = count.map { LoopbackServer.Transfer.stalling(after: $0) } ?? .silent
            let site = try Site(folder, when: "\"offline\"") { _ in .init(body: body, transfer: transfer) }
            defer { site.server.stop() }
            var request = site.request
            // Long enough for the head to arrive on a busy machine.
            request.timeoutInterval = count == nil ? 1 : 8
            let results = try await withThrowingTaskGroup(of: (TaskKind, HTTPURLResponse, Data).self) { group in
                for kind in Self.kinds {
                    let (load, session) = (request, site.session)
                    group.addTask {
                        let (head, data) = try await kind.load(load, in: session)
                        return (kind, head, data)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (kind, head, data) in results {
                if kind == .delegate, count != nil {
                    // The collector returns what it has got, which is only what the network has sent.
                    #expect(head.value(forHTTPHeaderField: "Cache-Status") == nil)
                    #expect(body.starts(with: data))
                } else {
                    expectFile((head, data), "fwd=bypass; detail=\"a.txt (offline)\"")
                }
            }
        }
    }

    @Test("A closed port and a host that does not resolve are no connection", arguments: ["127.0.0.1", "h.invalid"])
    func unreachable(host: String) async throws {
        let site = try Site(folder, when: "\"offline\"") { _ in .text("") }
        site.server.stop()
        let url = "http://\(host):\(site.server.url.port ?? 0)/when"
        try folder.cache("{ \"\(url)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 404] } }").install()
        let request = URLRequest(url: try #require(URL(string: url)))
        for kind in Self.kinds {
            for session in kind == .delegate ? [site.session] : [site.session, site.plain] {
                try await expectFile(kind.load(request, in: session), "fwd=bypass; detail=\"a.txt (offline)\"")
            }
        }
    }

    private static let body = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 / 11) })

    /// Answers that a server may give, by the last part of the path, and the rest of a redirect.
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

    /// What an app can see of a load.
    static func trace(_ kind: TaskKind, _ request: URLRequest, _ session: URLSession) async -> String {
        do {
            let (head, data) = try await kind.load(request, in: session)
            let fields = head.allHeaderFields.map { "\($0.key): \($0.value)" }.filter { !$0.hasPrefix("Date") }.sorted()
            return "\(head.statusCode) \(head.url?.path ?? "") \(fields) \(data.count) \(data.hashValue)"
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0) \(error.localizedDescription)"
        }
    }

    @Test(
        "Without a condition that holds the network's answer is delivered as if the library were not there",
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
        await withTaskGroup(of: Void.self) { group in
            for name in names {
                for kind in Self.kinds {
                    // A HEAD whose head is cut ends the process on Linux; one that stalls after it has been answered.
                    for method in ["head", "stall"].contains(name) ? ["GET"] : ["GET", "HEAD"] {
                        var request = URLRequest(url: server.url.appendingPathComponent(name))
                        request.httpMethod = method
                        // Long enough for what arrives at all to arrive on a busy machine.
                        request.timeoutInterval = ["silent": 1, "stall": 8][name] ?? 300
                        let load = request
                        group.addTask {
                            await Self.compare(load, kind, withCookies: !dependsOnStatus || kind != .delegate)
                        }
                    }
                }
            }
        }
    }

    /// Loads a request without the library and with it.
    ///
    /// The inner session keeps no cookies, which the documentation says.
    private static func compare(_ request: URLRequest, _ kind: TaskKind, withCookies: Bool) async {
        var traces: [String] = []
        for usesProtocol in [false, true] {
            let configuration = URLSessionConfiguration.ephemeral
            if usesProtocol { configuration.useSubstitutions() }
            let delegate = kind == .delegate ? Collector() : nil
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let trace = await Self.trace(kind, request, session)
            let cookies = configuration.httpCookieStorage?.cookies?.map { "\($0.name)=\($0.value)" }.sorted()
            traces.append(trace + (withCookies ? "\(cookies ?? [])" : ""))
            session.invalidateAndCancel()
        }
        #expect(traces[0] == traces[1], "\(request.httpMethod ?? "") \(request.url?.path ?? ""), \(kind)")
    }

    // MARK: - Redirects

    /// A site where `/when` redirects with 302 to `target`.
    private func redirecting(to target: String, when conditions: String = "[418, \"offline\"]") throws -> Site {
        try Site(folder, when: conditions) { request in
            switch request.path {
            case "/when": .init(status: 302, headers: ["Location": target], body: Data("moved".utf8))
            case "/503": .text("unavailable", status: 503)
            default: .text(Self.networkText)
            }
        }
    }

    @Test(
        "A redirect to a URL that an entry names is answered with its file, but not where a delegate gets the body",
        Platform.measuredOnLinux,
        arguments: ["418", "[418, \"offline\"]", "\"offline\""]
    )
    func redirectToSubstituted(conditions: String) async throws {
        let site = try redirecting(to: "/always", when: conditions)
        defer { site.server.stop() }
        for kind in Self.kinds {
            let (head, data) = try await kind.load(site.request, in: site.session)
            #expect(head.url?.path == "/always")
            let status = head.value(forHTTPHeaderField: "Cache-Status")
            if kind == .delegate {
                #expect(data == Data(Self.networkText.utf8))
                #expect(status == nil)
            } else {
                #expect(data == Data(Self.fileText.utf8), "\(kind)")
                #expect(status == "LocalSubstitutionCache; hit; detail=\"a.txt\"")
            }
        }
    }

    @Test(
        "A redirect that ends in a status that a condition names is answered with the file, but not to a delegate",
        Platform.measuredOnLinux
    )
    func redirectToStatus() async throws {
        let site = try redirecting(to: "/503", when: "[\"5xx\"]")
        defer { site.server.stop() }
        for kind in Self.kinds {
            let result = try await kind.load(site.request, in: site.session)
            if kind == .delegate {
                #expect(result.0.statusCode == 503)
                #expect(result.1 == Data("unavailable".utf8))
            } else {
                expectFile(result, "fwd=bypass; fwd-status=503; detail=\"a.txt\"")
                #expect(result.0.url == site.request.url)
            }
        }
    }

    @Test("The app's delegate decides about redirects, in every kind of load", arguments: ["418", "\"offline\""])
    func redirectPolicy(conditions: String) async throws {
        let site = try redirecting(to: "/always", when: conditions)
        defer { site.server.stop() }
        let session = URLSession(
            configuration: site.session.configuration,
            delegate: Collector(refusesRedirects: true),
            delegateQueue: nil
        )
        for kind in Self.kinds {
            #expect(try await kind.load(site.request, in: session).0.statusCode == 302, "\(kind)")
        }
        #expect(site.server.requests.allSatisfy { $0.path == "/when" })
        #expect((session.delegate as? Collector)?.strayCalls.value == 0)
    }

    // MARK: - What the app's session knows

    @Test("Cookies and additional headers of the session are sent, cookies on the way kept", Platform.measuredOnLinux)
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

    @Test("A challenge that no condition is about reaches the app's delegate", arguments: ["418", "\"offline\""])
    func challenge(conditions: String) async throws {
        let site = try Site(folder, when: conditions) { request in
            guard request.headers["authorization"] == "Basic bWU6c2VjcmV0" else {
                return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""])
            }
            return .text(Self.networkText)
        }
        defer { site.server.stop() }
        let session = URLSession(
            configuration: site.session.configuration,
            delegate: Collector(credential: URLCredential(user: "me", password: "secret", persistence: .none)),
            delegateQueue: nil
        )
        // Foundation on Linux asks no delegate about tasks with a completion handler, and never ends them.
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
            let directory = folder.url.appendingPathComponent("archive")
            try folder.cache("{}").install(archive: OfflineArchive(directory: directory, capacity: 1_000_000))
        }
        let recorder = Recorder()
        let session = URLSession(configuration: site.session.configuration, delegate: recorder, delegateQueue: nil)
        if hasHandler {
            let (_, error) = try await Self.result(of: site.request, in: session) { _ in }
            #expect((error as? URLError)?.code == .cancelled)
        } else {
            session.dataTask(with: site.request).resume()
            #expect(await recorder.end() == .cancelled)
        }
    }

    // MARK: - At any moment

    @Test("Cancelling at any stage ends a task once, with the usual error", arguments: ["[503]", "[\"offline\", 418]"])
    func cancelledAtAnyStage(conditions: String) async throws {
        let site = try Site(folder, when: conditions) { request in
            switch request.headers["x-stage"] {
            case "silent": .init(transfer: .silent)
            case "stall": .init(body: Data(repeating: 97, count: 100_000), transfer: .stalling(after: 50_000))
            case "redirect": .init(status: 302, headers: ["Location": "/when"])
            case "status": .text("no", status: 503)
            default: .text(Self.networkText)
            }
        }
        defer { site.server.stop() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stage in ["none", "silent", "stall", "redirect", "status"] {
                // Foundation on Linux ends the process when a task is cancelled while a delegate is asked about a redirect.
                for session in stage == "redirect" ? [site.plain] : [site.session, site.plain] {
                    var request = site.request
                    request.setValue(stage, forHTTPHeaderField: "X-Stage")
                    let load = request
                    group.addTask {
                        for round in 0..<100 {
                            let (_, error) = try await Self.result(of: load, in: session) { task in
                                try await Task.sleep(nanoseconds: UInt64(round) * 40_000)
                                task.cancel()
                            }
                            let code = (error as? URLError)?.code
                            #expect(
                                [nil, .cancelled].contains(code) || stage == "redirect" && code == .httpTooManyRedirects
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A task that is suspended before its answer is answered when it is resumed", arguments: [true, false])
    func suspendedBeforeAnswer(hasDelegate: Bool) async throws {
        let gate = Gate()
        let site = try Site(folder, when: "[503]") { _ in
            gate.wait()
            return .text("no", status: 503)
        }
        defer { site.server.stop() }
        let session = hasDelegate ? site.session : site.plain
        let (data, _) = try await Self.result(of: site.request, in: session) { task in
            await site.server.waitForRequests(1)
            task.suspend()
            // Foundation stops the load later, on its queue; an answer that is quicker is told.
            await session.settle()
            gate.open()
            // Time for the answer to arrive, which must not reach the task.
            try await Task.sleep(nanoseconds: 100_000_000)
            #expect(task.state == .suspended)
            task.resume()
        }
        #expect(data == Data(Self.fileText.utf8))
    }

    @Test("Errors whose bodies never end hold up no other load")
    func endlessErrors() async throws {
        let site = try Site(folder, when: "503") { _ in
            .init(status: 503, body: Data(count: 1000), transfer: .stalling(after: 10))
        }
        defer { site.server.stop() }
        for _ in 0..<20 {
            let result = try await TaskKind.delegate.load(site.request, in: site.session)
            expectFile(result, "fwd=bypass; fwd-status=503; detail=\"a.txt\"")
        }
    }

    @Test("A task that is suspended and resumed again and again, while it loads, is answered")
    func resumedAgain() async throws {
        for _ in 0..<10 {
            let gate = Gate()
            let site = try Site(folder, when: "503") { _ in
                gate.wait()
                return .text("no", status: 503)
            }
            defer { site.server.stop() }
            let (data, _) = try await Self.result(of: site.request, in: site.session) { task in
                for _ in 0..<20 {
                    task.suspend()
                    task.resume()
                    task.resume()
                }
                // A task that is resumed at the moment in which it ends ends the process, with stock Foundation too.
                gate.open()
            }
            #expect(data == Data(Self.fileText.utf8))
        }
    }

    @Test("A delegate that invalidates its session at a redirect, and takes its time, does not disturb others")
    func hostileRedirectDelegate() async throws {
        let site = try redirecting(to: "/always", when: "418")
        defer { site.server.stop() }
        let configuration = site.session.configuration
        for _ in 0..<3 {
            let delegate = Collector(onRedirect: { session in
                session.finishTasksAndInvalidate()
                usleep(50_000)
            })
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            #expect(try await TaskKind.delegate.load(site.request, in: session).1 == Data(Self.networkText.utf8))
            #expect(try await TaskKind.async.load(site.request, in: site.session).1 == Data(Self.fileText.utf8))
            #expect(delegate.strayCalls.value == 0)
        }
    }

    @Test("200 loads at once are each answered as the server decides", arguments: [false, true])
    func manyFallbacks(withDelegate: Bool) async throws {
        let site = try Site(folder, when: "[503]") { request in
            request.headers["x-refused"] == "yes" ? .text("no", status: 503) : .text(Self.networkText)
        }
        defer { site.server.stop() }
        let session = withDelegate ? site.session : site.plain
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                var request = site.request
                request.setValue(number % 2 == 0 ? "yes" : "no", forHTTPHeaderField: "X-Refused")
                let (load, kind) = (request, withDelegate && number % 3 == 0 ? TaskKind.delegate : .async)
                group.addTask {
                    let expected = number % 2 == 0 ? Self.fileText : Self.networkText
                    return try await kind.load(load, in: session).1 == Data(expected.utf8)
                }
            }
            for try await isExpected in group { #expect(isExpected) }
        }
        #expect(site.server.requests.count == 200)
    }

    @Test("A huge body arrives as without the library", arguments: ["\"offline\"", "[503]"])
    func hugeBody(conditions: String) async throws {
        let count = Program.isLongRun ? 500_000_000 : 50_000_000
        let site = try Site(folder, when: conditions) { _ in .init(body: Data(count: count)) }
        defer { site.server.stop() }
        let counter = CountingDelegate()
        let session = URLSession(configuration: site.session.configuration, delegate: counter, delegateQueue: nil)
        await withCheckedContinuation { continuation in
            counter.onEnd = { continuation.resume() }
            session.dataTask(with: site.request).resume()
        }
        #expect(counter.count == count)
        #expect(try await site.plain.data(for: site.request).0.count == count)
    }
}

/// Counts bytes, and keeps none.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private(set) var count = 0
    var onEnd: @Sendable () -> Void = {}

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { count += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { onEnd() }
}
