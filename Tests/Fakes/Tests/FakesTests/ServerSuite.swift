import Foundation
import FoundationNetworking
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionArchive

/// A suite whose requests are sent to real servers, by Foundation's own session.
class ServerSuite {
    static let fileText = "from the bundle, and long enough for a range\n"
    static let networkText = NetworkFirstSite.text

    let folder: TemporaryFolder
    private var cache: SubstitutionCache?
    private var archives: [OfflineArchive] = []

    init() throws {
        Network.shared.reset()
        Network.shared.isReal = true
        folder = try TemporaryFolder()
        try folder.write(Self.fileText, to: "a.txt")
    }

    deinit {
        cache?.uninstall()
        Network.shared.reset()
        // An archive that is still writing a copy could create the folder again while it is being removed.
        for archive in archives { archive.directory.queue.sync {} }
    }

    func install(_ manifest: String, _ archive: OfflineArchive? = nil) throws {
        let cache = try folder.cache(manifest)
        cache.install(archive: archive)
        self.cache = cache
        if let archive { archives.append(archive) }
    }

    func request(_ path: String, of server: LoopbackServer) -> URLRequest {
        var request = URLRequest(url: server.url.appendingPathComponent(path))
        request.timeoutInterval = 300
        return request
    }
}

extension LoopbackServer {
    /// Returns once the server has received `count` requests since the last ``forgetRequests()``.
    func waitForRequests(_ count: Int) async {
        while requests.count < count { try? await Task.sleep(nanoseconds: 1_000_000) }
    }
}

extension URLSession {
    /// Returns once the delegate queue has done all work that was enqueued earlier.
    func settle() async { await withCheckedContinuation { done in delegateQueue.addBarrierBlock { done.resume() } } }
}

/// A trait of suites whose requests are sent to real servers, but that are no ``ServerSuite``.
struct RealNetwork: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        Network.shared.isReal = true
        try await function()
    }
}

extension Trait where Self == RealNetwork {
    static var realNetwork: Self { Self() }
}
