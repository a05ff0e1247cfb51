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
        private let earlySession: Sessions

        override init() throws {
            earlySession = Sessions(.default)
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
                ("shared", Sessions()), ("default", Sessions(.default)), ("default, early", earlySession),
                ("ephemeral", Sessions(.ephemeral)),
                ("default, protocol", Sessions(.default, usingSubstitutions: true)),
                ("ephemeral, protocol", Sessions(.ephemeral, usingSubstitutions: true)),
            ]
            var lines = [Self.row("task", "session", "method", "header", Self.policies.map(\.0))]
            for kind in TaskKind.allCases {
                for (sessionName, sessions) in sessions {
                    // An upload has a body, which URL loading refuses to send with GET.
                    for method in kind == .upload ? ["POST"] : ["GET", "HEAD", "POST"] {
                        for (headerName, fields) in Self.headers {
                            var cells: [String] = []
                            for (_, policy) in Self.policies {
                                var request = request
                                request.cachePolicy = policy
                                request.httpMethod = method
                                for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
                                // The shared session has no delegate, and on Linux a task's own delegate receives no
                                // data.
                                guard let session = kind == .delegate ? sessions.delegated : sessions.plain else {
                                    cells.append("impossible")
                                    continue
                                }
                                let cell = try await answer(to: request, kind, in: session)
                                cells.append(cell)
                                // The expected results were measured on Linux only.
                                if Platform.isLinux {
                                    let expected = reach(sessionName, kind).answerer(by: cache.explain(request).answer)
                                    #expect(
                                        cell.hasPrefix(expected),
                                        "\(kind), \(sessionName), \(cache.explain(request))"
                                    )
                                }
                            }
                            lines.append(Self.row(kind.rawValue, sessionName, method, headerName, cells))
                        }
                    }
                }
            }
            lines += try await askedRows()
            try compare(lines.joined(separator: "\n") + "\n", withFixture: Self.table)
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
            _ cells: [String]
        )
            -> String
        {
            let columns = [task, session, method, header] + cells
            let widths = [12, 21, 8, 15] + Array(repeating: 13, count: cells.count)
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

    init() {
        plain = .shared
        delegated = nil
    }

    init(_ configuration: URLSessionConfiguration, usingSubstitutions: Bool = false) {
        if usingSubstitutions { configuration.useSubstitutions() }
        plain = URLSession(configuration: configuration)
        delegated = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async rethrows -> Result? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
