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

/// A suite with a folder, a server and an installed cache.
///
/// The cache has an entry for one file. It is created for each test, and uninstalled after the test.
class InstalledSuite {
    static let fileText = "from the bundle, and long enough for a range\n"
    static let networkText = NetworkFirstSite.text

    let folder: TemporaryFolder
    let server: LoopbackServer
    let cache: SubstitutionCache
    let sharedBefore = URLCache.shared
    let request: URLRequest
    private var archives: [OfflineArchive] = []

    init() throws {
        try #require(Installation.current == nil, "an earlier test has left a cache")
        try #require(!(sharedBefore is SubstitutionCache), "an earlier test has left a shared cache")
        folder = try TemporaryFolder()
        try folder.write(Self.fileText, to: "a.txt")
        server = try LoopbackServer { _ in .text(InstalledSuite.networkText) }
        let url = server.url.appendingPathComponent("a.txt")
        request = URLRequest(url: url)
        cache = try folder.cache("{ \"\(url.absoluteString)\": \"a.txt\" }")
        cache.install()
    }

    deinit {
        server.stop()
        Installation.current?.cache.uninstall()
        // An archive that is still writing a copy could create the copy's file again while the folder is being removed.
        for archive in archives { archive.directory.queue.sync {} }
    }

    /// Creates an archive in the test's folder, and does not install it.
    func makeArchive(
        capacity: Int = 10_000_000,
        hostsWithCredentials: Set<String> = [],
        keepsNetworkFirst: Bool = false
    ) throws -> OfflineArchive {
        let archive = try OfflineArchive(
            directory: folder.url.appendingPathComponent("archive"),
            capacity: capacity,
            hosts: ["127.0.0.1", "example.com", "stub.invalid"],
            hostsWithCredentials: hostsWithCredentials,
            keepsNetworkFirst: keepsNetworkFirst
        )
        archives.append(archive)
        return archive
    }

    /// Returns a response that any cache may store.
    func stored(_ text: String, for request: URLRequest) throws -> CachedURLResponse {
        let url = try #require(request.url)
        let fields = ["Cache-Control": "max-age=1000", "Content-Type": "text/plain"]
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        return CachedURLResponse(response: try #require(head), data: Data(text.utf8))
    }

    /// Returns the answerer of a load, `bundle` or `network`, and the status.
    ///
    /// The bytes and the server's count of requests show who answered.
    func answer(to request: URLRequest, _ kind: TaskKind = .async, in session: URLSession) async throws -> String {
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

    /// Returns the answerer of a load: `bundle` or `network`.
    func answerer(of request: URLRequest, in session: URLSession) async throws -> String {
        try await String(answer(to: request, in: session).prefix { $0 != " " })
    }
}
