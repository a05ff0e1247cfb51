import Foundation
import LocalSubstitutionDevelopment
import LoopbackServer
import SubstitutionRules
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Who answers")
    final class WhoAnswersTests: InstalledSuite {
        /// Sessions created before a cache is installed.
        private let early: [Sessions]

        override init() throws {
            early = Sessions.each(.default)
            try super.init()
        }

        private static let policies: [(String, URLRequest.CachePolicy)] = [
            ("protocol", .useProtocolCachePolicy), ("elseLoad", .returnCacheDataElseLoad),
            ("dontLoad", .returnCacheDataDontLoad), ("reload", .reloadIgnoringLocalCacheData),
            ("reloadAll", .reloadIgnoringLocalAndRemoteCacheData), ("revalidate", .reloadRevalidatingCacheData),
        ]

        private static let headers: [(String, [String: String])] = [
            ("-", [:]), ("Authorization", ["Authorization": "Basic eDp5"]), ("Range", ["Range": "bytes=5-7"]),
            ("If-None-Match", ["If-None-Match": "\"x\""]),
        ]

        /// Compares the answerer of each request with a checked-in table.
        ///
        /// The bytes and the server's count of requests show who answered. The table is documentation: it shows where a
        /// platform does not let a cache answer. If the behaviour of a platform changes, the test fails. To update the
        /// table, run the tests with `UPDATE_GOLDEN_FILES=1`.
        @Test(
            "Who answers: kind of task × session × policy × method × header",
            .enabled(if: hasTable, "nobody has measured this platform; .ci/apple does")
        )
        func matrix() async throws {
            let sessions = [
                ("shared", [Sessions(plain: .shared, delegated: nil)]), ("default", Sessions.each(.default)),
                ("default, early", early), ("ephemeral", Sessions.each(.ephemeral)),
                ("default, protocol", Sessions.each(.default, usingSubstitutions: true)),
                ("ephemeral, protocol", Sessions.each(.ephemeral, usingSubstitutions: true)),
            ]
            let policies = early.map { _ in Self.policies.map(\.0) }
            var lines = [Self.row(["task", "session", "method", "header"], policies)]
            for kind in TaskKind.allCases {
                for (sessionName, loaders) in sessions {
                    // An upload has a body, which URL loading refuses to send with GET.
                    for method in kind == .upload ? ["POST"] : ["GET", "HEAD", "POST"] {
                        for (headerName, fields) in Self.headers {
                            let request = request.with(fields, method)
                            var cells: [[String]] = []
                            for sessions in loaders {
                                cells.append(await answers(to: request, kind, sessionName, sessions))
                            }
                            lines.append(Self.row([kind.rawValue, sessionName, method, headerName], cells))
                        }
                    }
                }
            }
            lines += try await askedRows()
            try compare(lines.joined(separator: "\n") + "\n", withFixture: Self.table)
        }

        /// Returns who answers with each policy.
        private func answers(to request: URLRequest, _ kind: TaskKind, _ name: String, _ sessions: Sessions) async
            -> [String]
        {
            // The shared session has no delegate, and on Linux a task's own delegate receives no data.
            guard let session = kind == .delegate ? sessions.delegated : sessions.plain else {
                return Self.policies.map { _ in "impossible" }
            }
            var request = request
            var cells: [String] = []
            for (_, policy) in Self.policies {
                request.cachePolicy = policy
                do {
                    cells.append(try await answer(to: request, kind, in: session))
                } catch {
                    // One load that fails does not end the measurement.
                    cells.append("error \((error as NSError).code)")
                }
                // The expected results were measured on Linux only.
                guard Platform.isLinux else { continue }
                let explanation = cache.explain(request)
                let expected = expected(name, kind, explanation.answer)
                #expect(cells.last?.hasPrefix(expected) == true, "\(kind), \(name), \(explanation)")
            }
            return cells
        }

        private static let table = "WhoAnswers-\(Platform.name).txt"

        private static var hasTable: Bool {
            ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil
                || FileManager.default.fileExists(atPath: Fixtures.folder.appendingPathComponent(table).path)
        }

        private static func row(_ titles: [String], _ cells: [[String]]) -> String {
            let columns = titles + cells.joined(separator: ["newer:"])
            let widths = [12, 21, 8, 15] + Array(repeating: 13, count: columns.count)
            return zip(columns, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
                .joined().trimmingCharacters(in: .whitespaces)
        }

        /// Returns the expected answerer on Linux: `bundle` or `network`.
        private func expected(_ session: String, _ kind: TaskKind, _ answer: Explanation.Answer) -> String {
            switch (session, kind, answer) {
            case (_, .download, _), (_, .upload, _), ("default, early", _, _), ("ephemeral", _, _): "network"
            case (_, _, .cacheAndProtocol): "bundle"
            case ("default", _, _): "network"
            case (_, _, .protocolOnly): "bundle"
            default: "network"
            }
        }
    }
}

/// A session without a delegate, and a session of the same kind with a data delegate.
private struct Sessions {
    let plain: URLSession
    let delegated: URLSession?

    /// Returns sessions for each loader.
    static func each(_ configuration: URLSessionConfiguration, usingSubstitutions: Bool = false) -> [Sessions] {
        zip(
            URLSession.each(configuration, usingSubstitutions: usingSubstitutions),
            URLSession.each(configuration, usingSubstitutions: usingSubstitutions, delegate: StrictClient())
        ).map(Sessions.init)
    }
}

extension URLSession {
    /// Creates a session for each loader of the system: the only one, or the classic and the newer one.
    static func each(
        _ configuration: URLSessionConfiguration,
        usingSubstitutions: Bool = false,
        delegate: (any URLSessionDelegate)? = nil
    ) -> [URLSession] {
        func session() -> URLSession {
            usingSubstitutions
                ? URLSession(substituting: configuration, delegate: delegate)
                : URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }
        // Foundation on Linux has one loader. Older SDKs do not declare the property that selects one of two.
        #if !canImport(FoundationNetworking)
        let property = "usesClassicLoadingMode"
        if #available(iOS 18.4, macOS 15.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *),
            configuration.responds(to: NSSelectorFromString(property))
        {
            return [true, false].map { isClassic in
                configuration.setValue(isClassic, forKey: property)
                return session()
            }
        }
        #endif
        return [session()]
    }
}

/// The last rows of the table: whether a session asks a subclass of `URLCache`, and whether the session uses the
/// answer.
///
/// Only the last row involves this library.
extension InstalledTests.WhoAnswersTests {
    private func askedRows() async throws -> [String] {
        cache.uninstall()
        defer { URLCache.shared = sharedBefore }
        let early = URLSession.each(.default)
        let (body, asked) = (Data("from the asking cache".utf8), Counter())
        let asking = HookCache { task in
            asked.increment()
            let fields = ["Cache-Control": "max-age=31536000", "Content-Length": String(body.count)]
            return task.currentRequest?.url.flatMap {
                HTTPURLResponse(url: $0, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            }.map { CachedURLResponse(response: $0, data: body) }
        }
        URLCache.shared = asking
        let own = URLSessionConfiguration.ephemeral
        own.urlCache = asking
        let sessions = [
            ("shared", [URLSession.shared]), ("default", URLSession.each(.default)), ("default, early", early),
            ("ephemeral", URLSession.each(.ephemeral)), ("ephemeral, own", URLSession.each(own)),
        ]
        // No server answers with the cache's body. So if a load returns this body, the cache answered the load.
        let foreign = try #require(URL(string: "https://asked.invalid/asked"))
        let urls = [server.url.appendingPathComponent("asked"), foreign]
        var lines = ["", Self.askedRow("a URLCache of its own", "scheme", early.map { _ in ["asked", "used"] })]
        for (name, loaders) in sessions {
            for url in urls {
                var cells: [[String]] = []
                for session in loaders {
                    asked.reset()
                    let data = try? await session.data(from: url).0
                    cells.append([asked.value > 0, data == body].map { $0 ? "yes" : "no" })
                }
                lines.append(Self.askedRow(name, url.scheme ?? "", cells))
            }
        }
        let redirect = LoopbackServer.Response(status: 302, headers: ["Location": "/elsewhere"])
        lines.append(try await networkFirstRow("a refused redirect", when: "\"offline\"", redirect))
        // Other tests expect the file on Linux.
        if !Platform.isLinux {
            lines.append(try await networkFirstRow("a file instead of a 503", when: "503", .init(status: 503)))
        }
        return lines
    }

    private static func askedRow(_ name: String, _ scheme: String, _ cells: [[String]]) -> String {
        let columns = [name, scheme] + cells.joined(separator: ["newer:"])
        return zip(columns, [24, 8, 7, 5, 8, 7, 5]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            .joined().trimmingCharacters(in: .whitespaces)
    }

    /// Returns the row for an app that refuses redirects, and loads the URL of a network-first entry.
    ///
    /// The app gets a response, of which the row has the status, or nothing until the timeout.
    private func networkFirstRow(_ name: String, when conditions: String, _ response: LoopbackServer.Response)
        async throws -> String
    {
        let site = try Site(folder, when: conditions) { _ in response }
        defer { site.server.stop() }
        var request = site.request
        request.timeoutInterval = 30
        var cells: [[String]] = []
        for session in URLSession.each(.ephemeral, usingSubstitutions: true, delegate: RedirectDelegate.refuse) {
            let answer = try? await session.data(for: request).1 as? HTTPURLResponse
            cells.append([answer.map { String($0.statusCode) } ?? "nothing", ""])
        }
        return Self.askedRow(name, "http", cells)
    }
}
