import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Real sessions against a real server, with the cache installed as the shared one; so one test at a time.
@Suite("Sessions", .serialized, .timeLimit(.minutes(20)))
final class SessionTests {
    static let fileText = "from the bundle, and long enough for a range\n"
    static let networkText = "from the network\n"

    let folder: TemporaryFolder
    let server: LoopbackServer
    let cache: LocalSubstitutionCache
    private let sharedBefore = URLCache.shared
    /// Made before the cache was installed.
    private let earlySession = Sessions(.default)
    let request: URLRequest

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.fileText, to: "a.txt")
        server = try LoopbackServer { _ in .text(SessionTests.networkText) }
        let url = server.url.appendingPathComponent("a.txt")
        request = URLRequest(url: url)
        cache = try folder.cache("{ \"\(url.absoluteString)\": \"a.txt\" }")
        cache.install()
    }

    deinit {
        server.stop()
        Installation.current = nil
        URLCache.shared = sharedBefore
    }

    @Test("Installing makes the cache the shared one, with the capacities of the one before")
    func install() throws {
        #expect(URLCache.shared === cache)
        #expect(cache.memoryCapacity == sharedBefore.memoryCapacity)
        #expect(cache.diskCapacity == sharedBefore.diskCapacity)
        #expect(URLSessionConfiguration.default.urlCache === cache)
        cache.memoryCapacity = 1_234_567
        cache.install()
        #expect(URLCache.shared === cache)
        #expect(cache.memoryCapacity == 1_234_567)
        let other = try folder.cache("{}")
        other.install()
        #expect(URLCache.shared === other)
        #expect(other.memoryCapacity == 1_234_567)
    }

    // On Apple's platforms the shared session asks `URLCache.shared` itself.
    #if canImport(FoundationNetworking)
    @Test(
        "Installing again, another cache, or none writes nothing into the configuration that the shared session reads"
    )
    func configurationOfSharedSession() async throws {
        let configuration = URLSession.shared.configuration
        let inUse = try #require(configuration.urlCache)
        let other = try folder.cache("{}")
        for install in [{ self.cache.install() }, { other.install() }, { Installation.current = nil }] {
            install()
            #expect(configuration.urlCache === inUse)
            #expect(configuration.protocolClasses?.filter { $0 == SubstitutionProtocol.self }.count == 1)
        }
        #expect(try await answerer(of: request, in: .shared) == "network")
        let head = try #require(cache.cachedResponse(for: request)).response
        let stored = CachedURLResponse(response: head, data: Data("stored".utf8))
        cache.install()
        let elsewhere = URLRequest(url: server.url.appendingPathComponent("elsewhere"))
        inUse.storeCachedResponse(stored, for: elsewhere)
        #expect(inUse.cachedResponse(for: request) === cache.cachedResponse(for: request))
        #expect(inUse.memoryCapacity == cache.memoryCapacity)
        #expect(inUse.diskCapacity == cache.diskCapacity)
        inUse.removeAllCachedResponses()
        #expect(inUse.cachedResponse(for: elsewhere) == nil)
    }
    #endif

    @Test("Replacing the cache changes what the shared session gets, and leaves sessions made meanwhile alone")
    func replace() async throws {
        let meanwhile = URLSession(configuration: .default)
        try folder.cache("{}").install()
        #expect(try await answerer(of: request, in: .shared) == "network")
        #expect(try await answerer(of: request, in: meanwhile) == "bundle")
    }

    @Test("session.reset(), removing all responses and a refused response lose no substitution")
    func nothingIsLost() async throws {
        let session = URLSession(configuration: .default)
        #expect(try await answerer(of: request, in: session) == "bundle")
        let prepared = try #require(cache.cachedResponse(for: request))
        await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
        URLCache.shared.removeAllCachedResponses()
        // On Linux URL loading refuses what a cache gives it for such a request, and then removes it.
        var refused = request
        refused.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
        #expect(try await answerer(of: refused, in: session) == "network")
        cache.removeCachedResponse(for: session.dataTask(with: request))
        #expect(try await answerer(of: request, in: session) == "bundle")
        #expect(cache.cachedResponse(for: request) === prepared)
    }

    @Test("A task is answered at once, on the caller's thread, and stores nothing")
    func task() throws {
        let task = URLSession.shared.dataTask(with: request)
        let prepared = try #require(cache.cachedResponse(for: request))
        let answered = Flag()
        cache.getCachedResponse(for: task) { response in
            if response === prepared { answered.set() }
        }
        #expect(answered.isSet)
        cache.storeCachedResponse(CachedURLResponse(response: prepared.response, data: Data("x".utf8)), for: task)
        cache.removeCachedResponse(for: task)
        #expect(cache.cachedResponse(for: request) === prepared)
    }

    @Test("What is not substituted is loaded as before")
    func otherURLs() async throws {
        let other = URLRequest(url: server.url.appendingPathComponent("b.txt"))
        #expect(try await answerer(of: other, in: .shared) == "network")
        #expect(server.requests.map(\.target) == ["/b.txt"])
    }

    @Test("200 loads at once are all answered from the bundle")
    func manyAtOnce() async throws {
        let request = request
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<200 { group.addTask { try await URLSession.shared.data(for: request).0 } }
            for try await data in group { #expect(data == Data(Self.fileText.utf8)) }
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: - The matrix

    private static let policies: [(String, URLRequest.CachePolicy)] = [
        ("protocol", .useProtocolCachePolicy), ("elseLoad", .returnCacheDataElseLoad),
        ("dontLoad", .returnCacheDataDontLoad), ("reload", .reloadIgnoringLocalCacheData),
        ("reloadAll", .reloadIgnoringLocalAndRemoteCacheData), ("revalidate", .reloadRevalidatingCacheData),
    ]

    private static let headers: [(String, [String: String])] = [
        ("-", [:]), ("Authorization", ["Authorization": "Basic eDp5"]), ("Range", ["Range": "bytes=5-7"]),
        ("If-None-Match", ["If-None-Match": "\"x\""]),
    ]

    /// Who answers is told by the server's count and by the bytes, and compared with a checked-in table.
    ///
    /// The table is documentation: where a platform does not let a cache answer, it says so, and when that changes, this
    /// fails. Run the tests with `UPDATE_GOLDEN_FILES=1` to write it anew.
    @Test(
        "Who answers: kind of task × session × policy × method × header",
        .enabled(if: hasTable, "nobody has measured this platform; .ci/apple does")
    )
    func matrix() async throws {
        let sessions = [
            ("shared", Sessions()), ("default", Sessions(.default)), ("default, early", earlySession),
            ("ephemeral", Sessions(.ephemeral)), ("default, protocol", Sessions(.default, usingSubstitutions: true)),
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
                            // The shared session has no delegate, and on Linux a task's own gets no data.
                            let session = kind == .delegate ? sessions.delegated : sessions.plain
                            cells.append(
                                try await session.asyncMap { try await cell(request, kind, $0) } ?? "impossible"
                            )
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

    private static func row(_ task: String, _ session: String, _ method: String, _ header: String, _ cells: [String])
        -> String
    {
        let columns = [task, session, method, header] + cells
        let widths = [12, 21, 8, 15] + Array(repeating: 13, count: cells.count)
        let padded = zip(columns, widths).map { $0.padding(toLength: max($1, $0.count), withPad: " ", startingAt: 0) }
        return padded.joined().trimmingCharacters(in: .whitespaces)
    }

    private func cell(_ request: URLRequest, _ kind: TaskKind, _ session: URLSession) async throws -> String {
        server.forgetRequests()
        let (response, data) = try await kind.load(request, in: session)
        let isBundle = server.requests.isEmpty
        var expected = Data((isBundle ? Self.fileText : Self.networkText).utf8)
        if response.statusCode == 206 { expected = expected[5...7] }
        if request.httpMethod == "HEAD" { expected = Data() }
        #expect(data == expected)
        #expect((response.value(forHTTPHeaderField: "Cache-Status") != nil) == isBundle)
        return "\(isBundle ? "bundle" : "network") \(response.statusCode)"
    }

    func answerer(of request: URLRequest, in session: URLSession) async throws -> String {
        try await String(cell(request, .async, session).prefix { $0 != " " })
    }
}

/// A session, and one of the same kind that hands its data to a delegate.
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
