import Foundation
import LocalSubstitutionDevelopment
import LoopbackServer
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
            var lines = [Self.row("task", "session", "method", "header", policies)]
            for kind in TaskKind.allCases {
                for (sessionName, loaders) in sessions {
                    // An upload has a body, which URL loading refuses to send with GET.
                    for method in kind == .upload ? ["POST"] : ["GET", "HEAD", "POST"] {
                        for (headerName, fields) in Self.headers {
                            var request = request
                            request.httpMethod = method
                            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
                            var cells: [[String]] = []
                            for sessions in loaders {
                                cells.append(await answers(to: request, kind, sessionName, sessions))
                            }
                            lines.append(Self.row(kind.rawValue, sessionName, method, headerName, cells))
                        }
                    }
                }
            }
            lines += try await askedRows()
            try compare(lines.joined(separator: "\n") + "\n", withFixture: Self.table)
        }

        /// Returns who answers with each policy.
        private func answers(
            to request: URLRequest,
            _ kind: TaskKind,
            _ sessionName: String,
            _ sessions: Sessions
        ) async -> [String] {
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
                let expected = reach(sessionName, kind).answerer(by: explanation.answer)
                #expect(cells.last?.hasPrefix(expected) == true, "\(kind), \(sessionName), \(explanation)")
            }
            return cells
        }

        private static let table = "WhoAnswers-\(Platform.name).txt"

        private static var hasTable: Bool {
            ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil
                || FileManager.default.fileExists(atPath: Fixtures.folder.appendingPathComponent(table).path)
        }

        private static func row(
            _ task: String,
            _ session: String,
            _ method: String,
            _ header: String,
            _ cells: [[String]]
        )
            -> String
        {
            let columns = [task, session, method, header] + cells.joined(separator: ["newer:"])
            let widths = [12, 21, 8, 15] + Array(repeating: 13, count: columns.count)
            let padded = zip(columns, widths).map {
                $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0)
            }
            return padded.joined().trimmingCharacters(in: .whitespaces)
        }

        /// The parts of the library that a task consults, on Linux.
        private enum Reach {
            case nobody
            case cache
            case protocolToo

            /// Returns the expected answerer, `bundle` or `network`, for the answer that an explanation gives.
            func answerer(by answer: Explanation.Answer) -> String {
                switch (answer, self) {
                case (.cacheAndProtocol, .cache), (.cacheAndProtocol, .protocolToo), (.protocolOnly, .protocolToo):
                    "bundle"
                default: "network"
                }
            }
        }

        private func reach(_ session: String, _ kind: TaskKind) -> Reach {
            switch (session, kind) {
            case (_, .download), (_, .upload), ("default, early", _), ("ephemeral", _): .nobody
            case ("default", _): .cache
            default: .protocolToo
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
            URLSession.each(configuration, usingSubstitutions: usingSubstitutions, delegate: Collector())
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
