import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

/// A suite whose requests are sent to real servers, by Foundation's own session.
class ServerSuite {
    static let fileText = "from the bundle, and long enough for a range\n"
    static let networkText = NetworkFirstSite.text
    /// The response that asks for a password.
    static let challenge = LoopbackServer.Response(
        status: 401,
        headers: ["WWW-Authenticate": "Basic realm=\"test\""],
        body: Data("no".utf8)
    )

    let folder: TemporaryFolder
    private var archive: OfflineArchive?

    init() throws {
        Network.shared.reset()
        folder = try TemporaryFolder()
        try folder.write(Self.fileText, to: "a.txt")
    }

    deinit {
        Installation.current?.cache.uninstall()
        Network.shared.reset()
        // An archive that is still writing a copy could create the folder again while it is being removed.
        archive?.directory.queue.sync {}
    }

    func install(_ manifest: String) throws { try folder.cache(manifest).install() }

    /// Installs a cache with an archive.
    @discardableResult
    func installArchive(_ manifest: String = "{}") throws -> OfflineArchive {
        let directory = folder.url.appendingPathComponent("archive")
        let archive = try OfflineArchive(directory: directory, capacity: 10_000_000, hosts: ["127.0.0.1", "h"])
        try folder.cache(manifest).install(archive: archive)
        self.archive = archive
        return archive
    }

    func request(_ path: String, of server: LoopbackServer) -> URLRequest {
        URLRequest(url: server.url.appendingPathComponent(path), timeoutInterval: 300)
    }
}

/// A suite in which the test itself is the network.
class NetworkSuite: ServerSuite {
    static let manifest = """
        {
          "https://h/a": "a.txt",
          "https://h/late": { "file": "a.txt", "when": ["offline", 404] },
          "https://h/gone": { "file": "a.txt", "when": 404 },
          "https://h/slow": { "file": "a.txt", "when": ["1s", 404] }
        }
        """

    override init() throws {
        try super.init()
        Network.shared.answer = { _ in }
        try install(Self.manifest)
    }
}
