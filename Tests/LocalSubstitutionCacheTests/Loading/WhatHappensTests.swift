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
        private func body(_ kind: Kind, _ url: URL, in session: URLSession) async throws -> Data? {
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

        private func cell(_ kind: Kind, _ url: URL, in session: URLSession) async throws -> String {
            guard let data = try await body(kind, url, in: session) else { return "error" }
            return data == Data(Self.fileText.utf8) ? "file" : "network"
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
            var rows: [String] = []
            for kind in Kind.allCases {
                var columns: [[String]] = []
                for isNamed in [false, true] {
                    let archive = try makeArchive()
                    try archive.removeAll()
                    try folder.cache(manifest).install(archive: archive)
                    let session = StrictClient().session(named: isNamed)
                    // Keep the delegate until the last load has ended.
                    let client = session.delegate
                    var cells: [String] = []
                    // A download would wait for a silent server.
                    let silent = kind == .download ? "silent?answers" : "silent"
                    for path in ["status", "offline", silent, "moved"] {
                        let target = path == "offline" ? offline : URL(string: "\(url.absoluteString)/\(path)")
                        cells.append(try await cell(kind, try #require(target), in: session))
                    }
                    _ = try await body(kind, url.appendingPathComponent("page"), in: session)
                    cells.append(archive.copies.isEmpty ? "no" : "yes")
                    columns.append(cells)
                    withExtendedLifetime(client) {}
                }
                #expect(columns[0].dropLast() == columns[1].dropLast(), "A registered session differs: \(kind)")
                #expect(columns[0].last == "no", "An archive keeps what an unknown session loads")
                rows.append("| \(kind.rawValue) | \(columns[1].joined(separator: " | ")) |")
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
            let listing = URLSessionConfiguration.ephemeral
            listing.useSubstitutions()
            for session in [URLSession.shared, URLSession(configuration: .default), URLSession(configuration: listing)]
            {
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
            let listing = URLSessionConfiguration.ephemeral
            listing.useSubstitutions()
            for session in [URLSession.shared, URLSession(configuration: .default), URLSession(configuration: listing)]
            {
                let delegate = Parts()
                #expect(try await session.data(for: request, delegate: delegate).0 == Data(Self.fileText.utf8))
                await session.settle()
                #expect(delegate.heads.value == 1 && delegate.parts.value == 0, "\(delegate.heads.value)")
            }
        }
    }
}
