import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport

/// A local server with the Demo's site, and a cache with the manifest of the Demo's app.
final class DemoSite: Sendable {
    let server: LoopbackServer
    let cache: SubstitutionCache

    /// The address of the page.
    var page: String { server.url.absoluteString + "/" }

    /// The sorted paths of the requests that reached the server, without duplicates.
    var requests: [String] { Set(server.requests.map(\.target)).sorted() }

    /// Starts the server.
    ///
    /// - Parameter isSame: True if the site's files are the same as the app's files. The page then looks the same with
    ///   and without the app's files.
    /// - Throws: An error if the server cannot start, or ``ManifestError``.
    init(isSame: Bool = false) throws {
        let substitutions = Repository.folder.appendingPathComponent("Resources/Substitutions")
        let remote = Repository.folder.appendingPathComponent("Demo/Site/RemoteSite")
        let types = [
            "html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
        ]
        server = try LoopbackServer { request in
            let path = request.path == "/" ? "/index.html" : request.path
            for folder in isSame ? [substitutions, remote] : [remote, substitutions] {
                guard let body = try? Data(contentsOf: folder.appendingPathComponent(path)) else { continue }
                return .init(
                    headers: ["Content-Type": types[URL(fileURLWithPath: path).pathExtension] ?? ""],
                    body: body
                )
            }
            return .text("", status: 404)
        }
        let manifest = try String(contentsOf: substitutions.appendingPathComponent("manifest.json"), encoding: .utf8)
            .replacingOccurrences(of: "http://localhost:0", with: server.url.absoluteString)
        cache = try SubstitutionCache(manifestData: Data(manifest.utf8), folder: substitutions)
    }

    deinit { server.stop() }
}
