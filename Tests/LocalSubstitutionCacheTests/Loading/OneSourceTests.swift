import Foundation
import LoopbackServer
import SubstitutionRules
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

/// A response has one source: with any combination of delegates, no network bytes precede the bytes of the file.
extension InstalledTests {
    @Suite("A response has one source")
    final class OneSourceTests: InstalledSuite {
        /// The session's delegate, or the task's own.
        private enum Delegate: CaseIterable {
            case none, plain, redirects, data

            func make(_ recorder: Recorder) -> (any URLSessionTaskDelegate)? {
                switch self {
                case .none: nil
                case .plain: Plain()
                case .redirects: RedirectDelegate.follow
                case .data: recorder
                }
            }
        }

        /// The way in which the app receives the response.
        enum Receiver: CaseIterable {
            case handler, delegate
            /// `data(for:delegate:)`, whose second argument is the task's delegate.
            case async
        }

        /// The network's behaviour in a load, and the kind of entry or archive that applies to the URL.
        enum Way: CaseIterable {
            case status, redirectToNamed, redirectWhenOffline, redirectWithArchive, broken

            var path: String { self == .status ? "status" : self == .broken ? "broken" : "moved" }

            var conditions: String? {
                switch self {
                case .status: "503"
                case .redirectToNamed: "418"
                case .redirectWhenOffline, .broken: "\"offline\""
                case .redirectWithArchive: nil
                }
            }
        }

        private final class Plain: NSObject, URLSessionTaskDelegate {}

        /// A delegate that notes the bytes that it receives.
        private final class Recorder: NSObject, URLSessionDataDelegate {
            private let received = Locked(Data())

            var data: Data { received.value }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                received.withLock { $0 += data }
            }
        }

        private struct Load {
            let receiver: Receiver
            let session, task: Delegate
            let isNamed: Bool
        }

        private static let body = Data(String(repeating: "NETWORK", count: 3000).utf8)

        @Sendable private static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            switch request.path {
            case "/status": .init(status: 503, body: body, transfer: .chunked(100))
            case "/moved": .init(status: 302, headers: ["Location": "/named"], body: body)
            case "/broken": .init(body: body, transfer: .stalling(after: 10_000))
            default: .init(body: body, transfer: .chunked(100))
            }
        }

        /// Loads a request, and returns the bytes that each receiver in the app got.
        ///
        /// The receivers are the caller that waits for the whole body, the session's delegate, and the task's delegate.
        private static func received(_ request: URLRequest, _ load: Load) async throws -> [Data] {
            let (recorder, ownRecorder) = (Recorder(), Recorder())
            let (delegate, own) = (load.session.make(recorder), load.task.make(ownRecorder))
            let session = URLSession.using(delegate: delegate, registered: load.isNamed)
            var whole = Data()
            switch load.receiver {
            case .async:
                whole = (try? await session.data(for: request, delegate: own).0) ?? Data()
            case .handler:
                whole = await withCheckedContinuation { continuation in
                    let task = session.dataTask(with: request) { data, _, _ in
                        continuation.resume(returning: data ?? Data())
                    }
                    if let own { task.delegate = own }
                    task.resume()
                }
            case .delegate:
                let task = session.dataTask(with: request)
                if let own { task.delegate = own }
                task.resume()
                // Foundation does not tell every one of these delegates that the task has ended, so poll the task's
                // state.
                while task.state != .completed { try await Task.sleep(nanoseconds: 1_000_000) }
            }
            await session.settle()
            return [whole, recorder.data, ownRecorder.data]
        }

        /// Returns the source of some bytes: nothing, the file, the network, or a mix.
        private static func source(of data: Data) -> String {
            if data.isEmpty { return "nothing" }
            if data == Data(fileText.utf8) { return "file" }
            return body.starts(with: data) ? "network" : "mixed: \(String(decoding: data.suffix(80), as: UTF8.self))"
        }

        @Test("No receiver gets bytes of two sources, and the delegates decide who answers", arguments: Way.allCases)
        func oneSource(way: Way) async throws {
            let server = try LoopbackServer(Self.answer)
            defer { server.stop() }
            let url = server.url.appendingPathComponent(way.path)
            let named = "\"\(server.url.absoluteString)/named\": \"a.txt\""
            let entry = way.conditions.map { ", \"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": \($0) }" }
            let archive = try makeArchive()
            try folder.cache("{ \(named)\(entry ?? "") }").install(archive: way == .redirectWithArchive ? archive : nil)
            var request = URLRequest(url: url)
            // The body of `broken` stalls after its first bytes. A second is usually enough to receive these bytes.
            request.timeoutInterval = way == .broken ? 1 : 300
            try await withThrowingTaskGroup(of: (Load, [Data]).self) { [request] group in
                for receiver in Receiver.allCases {
                    for session in [Delegate.none, .data, .redirects] {
                        for (task, isNamed) in Delegate.allCases.flatMap({ [($0, false), ($0, true)] }) {
                            let load = Load(receiver: receiver, session: session, task: task, isNamed: isNamed)
                            group.addTask { (load, try await Self.received(request, load)) }
                        }
                    }
                }
                for try await (load, received) in group {
                    let sources = Set(received.map(Self.source)).subtracting(["nothing"])
                    #expect(sources.isSubset(of: ["file"]) || sources.isSubset(of: ["network"]), "\(load): \(sources)")
                    // The documentation describes these results on Linux.
                    guard way == .status, Platform.isLinux else { continue }
                    let expected =
                        switch load.receiver {
                        case .handler: "file"
                        case .async: load.task == .none ? "file" : "network"
                        case .delegate: load.session == .data ? "network" : "nothing"
                        }
                    #expect(Self.source(of: received[load.receiver == .delegate ? 1 : 0]) == expected, "\(load)")
                }
            }
        }

        // MARK: - The table in the article "Sessions, offline and redirects"

        /// A row of the table; the raw value is its title in the article.
        enum Kind: String, CaseIterable {
            case handler = "completion handler, or `data(for:)`"
            case asyncWithDelegate = "`data(for:delegate:)` with a delegate"
            case delegate = "delivers to the session's delegate"
            case ownDelegate = "delivers to the session's delegate, and has a delegate of its own"
            case download = "download"
        }

        /// Loads a URL, and returns the body, or nil after an error.
        private static func loaded(_ kind: Kind, _ url: URL, in session: URLSession) async throws -> Data? {
            let request = URLRequest(url: url, timeoutInterval: 300)
            switch kind {
            case .handler:
                async let other = try? await session.data(for: request).0
                let (data, error) = try await session.result(of: request) { _ in }
                #expect(await other == (error == nil ? data : nil))
                return error == nil ? data : nil
            case .asyncWithDelegate: return try? await session.data(for: request, delegate: RedirectDelegate.follow).0
            case .delegate, .ownDelegate:
                let task = session.dataTask(with: request)
                if kind == .ownDelegate { task.delegate = RedirectDelegate.follow }
                let load = await (session.delegate as? StrictClient)?.load(task)
                return load?.error == nil ? load?.body : nil
            case .download: return try? await TaskKind.download.load(request, in: session).1
            }
        }

        @Test("The article's table matches the measured behaviour", Platform.measuredOnLinux)
        func table() async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/status": .text("unavailable", status: 503)
                case "/silent" where request.target == request.path: .init(transfer: .silent)
                case "/moved": .init(status: 302, headers: ["Location": "/named"])
                default: .text(Self.networkText)
                }
            }
            defer { server.stop() }
            let closed = try LoopbackServer { _ in .text("") }
            closed.stop()
            let url = server.url
            let offline = closed.url.appendingPathComponent("offline")
            let manifest = """
                { "\(url.absoluteString)/named": "a.txt",
                  "\(url.absoluteString)/status": { "file": "a.txt", "when": 503 },
                  "\(url.absoluteString)/silent": { "file": "a.txt", "when": "1s", "ignoreQuery": true },
                  "\(url.absoluteString)/moved": { "file": "a.txt", "when": 503 },
                  "\(offline.absoluteString)": { "file": "a.txt", "when": "offline" } }
                """
            let archive = try makeArchive()
            try folder.cache(manifest).install(archive: archive)
            @Sendable func cells(_ kind: Kind, named isNamed: Bool) async throws -> [String] {
                let session = StrictClient().session(named: isNamed)
                // Keep the delegate until the last load has ended.
                let client = session.delegate
                var cells: [String] = []
                // A download would wait for a silent server.
                let silent = kind == .download ? "silent?answers" : "silent"
                for path in ["status", "offline", silent, "moved"] {
                    let target = path == "offline" ? offline : URL(string: "\(url.absoluteString)/\(path)")
                    let data = try await Self.loaded(kind, try #require(target), in: session)
                    cells.append(data.map { $0 == Data(Self.fileText.utf8) ? "file" : "network" } ?? "error")
                }
                let page = url.appendingPathComponent("page-\(kind)-\(isNamed)")
                _ = try await Self.loaded(kind, page, in: session)
                withExtendedLifetime(client) {}
                return cells + [archive.copies.contains { $0.url == page } ? "yes" : "no"]
            }
            // All kinds load at once, because each waits for the silent server.
            let found: [String: [String]] = try await withThrowingTaskGroup(of: (String, [String]).self) { group in
                for (kind, isNamed) in Kind.allCases.flatMap({ [($0, false), ($0, true)] }) {
                    group.addTask { ("\(kind) \(isNamed)", try await cells(kind, named: isNamed)) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let rows = try Kind.allCases.map { kind in
                let (other, cells) = try (#require(found["\(kind) false"]), #require(found["\(kind) true"]))
                #expect(other.dropLast() == cells.dropLast(), "A registered session differs: \(kind)")
                #expect(other.last == "no", "An archive keeps what an unknown session loads")
                return "| \(kind.rawValue) | \(cells.joined(separator: " | ")) |"
            }
            let path = "Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc/WhenTheCacheIsAsked.md"
            let article = try String(contentsOf: Repository.folder.appendingPathComponent(path), encoding: .utf8)
            let heading =
                "| task | a status that `when` lists | `offline` | `3s` | redirect to a URL that an entry names | archived |"
            let expected = ([heading, "| --- | --- | --- | --- | --- | --- |"] + rows).joined(separator: "\n")
            #expect(article.contains(expected + "\n\n"), "The table is to be:\n\(expected)")
        }
    }
}
