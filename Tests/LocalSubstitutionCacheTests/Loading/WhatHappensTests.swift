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

extension InstalledTests {
    /// Compares measured behaviour with the table in the article "Sessions, offline and redirects".
    @Suite("The behaviour of network-first loads")
    final class WhatHappensTests: InstalledSuite {
        /// A row of the table; the raw value is its title in the article.
        enum Kind: String, CaseIterable {
            case handler = "completion handler, or `data(for:)`"
            case asyncWithDelegate = "`data(for:delegate:)` with a delegate"
            case delegate = "delivers to the session's delegate"
            case ownDelegate = "delivers to the session's delegate, and has a delegate of its own"
            case download = "download"
        }

        /// Loads a URL, and returns the body, or nil after an error.
        private static func body(_ kind: Kind, _ url: URL, in session: URLSession) async throws -> Data? {
            var request = URLRequest(url: url)
            request.timeoutInterval = 300
            switch kind {
            case .handler:
                let (data, error) = try await session.result(of: request) { _ in }
                let again = try? await session.data(for: request).0
                #expect(again == (error == nil ? data : nil))
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

        private static func cell(_ kind: Kind, _ url: URL, in session: URLSession) async throws -> String {
            guard let data = try await body(kind, url, in: session) else { return "error" }
            return data == Data(fileText.utf8) ? "file" : "network"
        }

        /// Returns what `cells` returns for each kind, which it is called for at once.
        private static func all(_ cells: @escaping @Sendable (Kind) async throws -> [String]) async throws -> [[String]]
        {
            try await withThrowingTaskGroup(of: (Kind, [String]).self) { group in
                for kind in Kind.allCases { group.addTask { (kind, try await cells(kind)) } }
                let found = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                return Kind.allCases.map { found[$0] ?? [] }
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
                    cells.append(try await Self.cell(kind, try #require(target), in: session))
                }
                let page = url.appendingPathComponent("page-\(kind)-\(isNamed)")
                _ = try await Self.body(kind, page, in: session)
                withExtendedLifetime(client) {}
                return cells + [archive.copies.contains { $0.url == page } ? "yes" : "no"]
            }
            var rows: [String] = []
            // All kinds load at once, because each waits for the silent server.
            async let unnamed = Self.all { try await cells($0, named: false) }
            async let named = Self.all { try await cells($0, named: true) }
            for (kind, (other, cells)) in zip(Kind.allCases, zip(try await unnamed, try await named)) {
                #expect(other.dropLast() == cells.dropLast(), "A registered session differs: \(kind)")
                #expect(other.last == "no", "An archive keeps what an unknown session loads")
                rows.append("| \(kind.rawValue) | \(cells.joined(separator: " | ")) |")
            }
            let article = try String(
                contentsOf: Repository.folder.appendingPathComponent(
                    "Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc/WhenTheCacheIsAsked.md"
                ),
                encoding: .utf8
            )
            let heading =
                "| task | a status that `when` lists | `offline` | `3s` | redirect to a URL that an entry names | archived |"
            let expected = ([heading, "| --- | --- | --- | --- | --- | --- |"] + rows).joined(separator: "\n")
            #expect(article.contains(expected + "\n\n"), "The table is to be:\n\(expected)")
        }

        @Test("A task that is cancelled right after resume() ends with the file", Platform.measuredOnLinux)
        func cancelledAtOnce() async throws {
            for session in [URLSession.shared, URLSession(configuration: .default), .using()] {
                let (data, error) = try await session.result(of: request) { $0.cancel() }
                #expect(data == Data(Self.fileText.utf8))
                #expect(error == nil)
            }
        }

        @Test("The delegate of data(for:delegate:) gets the head of a file and no part", Platform.measuredOnLinux)
        func ownDelegate() async throws {
            final class Parts: NSObject, URLSessionDataDelegate {
                let (heads, parts) = (Counter(), Counter())

                func urlSession(
                    _ session: URLSession,
                    dataTask: URLSessionDataTask,
                    didReceive response: URLResponse,
                    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
                ) {
                    heads.increment()
                    completionHandler(.allow)
                }

                func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                    parts.increment()
                }
            }
            for session in [URLSession.shared, URLSession(configuration: .default), .using()] {
                let delegate = Parts()
                #expect(try await session.data(for: request, delegate: delegate).0 == Data(Self.fileText.utf8))
                await session.settle()
                #expect(delegate.heads.value == 1 && delegate.parts.value == 0, "\(delegate.heads.value)")
            }
        }
    }
}
