package import Foundation
package import LocalSubstitutionCache
package import LoopbackServer

/// The remote site: a server on this machine that records the requests it receives.
package struct Site {
    package let server: LoopbackServer
    /// The folder of the sample manifest and the app's files.
    package let substitutions: URL

    /// The URL of the site's page.
    package var page: URL { server.url.appendingPathComponent("/") }

    /// The behaviour of the site.
    package enum Mode: Equatable, Sendable {
        case online
        /// The server has stopped, so there is no connection to it.
        case offline
        /// The server never answers the request for the changing picture.
        case silent
        /// The server answers the request for the changing picture with this status.
        case refusing(Int)
    }

    private let mode: Mode

    /// Starts the server, and stops it again if it is offline.
    ///
    /// - Throws: An error if the server cannot listen, or if the files cannot be read.
    package init(_ mode: Mode = .online, substitutions: URL = Site.shipped) throws {
        (self.mode, self.substitutions) = (mode, substitutions)
        let files = try Self.files(substitutions)
        server = try LoopbackServer { request in
            switch mode {
            case .silent where request.path == Site.live: return .silent
            case .refusing(let status) where request.path == Site.live:
                return .text("The tide is not known.\n", status: status)
            default: break
            }
            guard let file = files[request.path] else { return .text("There is no \(request.path)\n", status: 404) }
            return LoopbackServer.Response(headers: ["Content-Type": file.type], body: file.body)
        }
        if mode == .offline { server.stop() }
    }

    /// The path of the picture that changes every hour.
    package static let live = "/live/tide.svg"

    /// The folder of this module's resources.
    ///
    /// On macOS, this is not always the top folder of the resource bundle.
    private static let resources = Bundle.module.resourceURL ?? Bundle.module.bundleURL

    /// The sample manifest's folder in this module's bundle; an app bundles its folder in the same way.
    package static let shipped = resources.appendingPathComponent("Substitutions")

    /// Creates the cache of the sample manifest.
    package func makeCache(reading: ReadingMode = .mapped) throws -> SubstitutionCache {
        try SubstitutionCache(manifestData: Data(manifest().utf8), folder: substitutions, reading: reading)
    }

    /// The sample manifest, with the site's address instead of `http://localhost:0`.
    ///
    /// If the site is silent, the app waits one second for the changing picture.
    package func manifest() throws -> String {
        let text = try String(contentsOf: substitutions.appendingPathComponent("manifest.json"), encoding: .utf8)
            .replacingOccurrences(of: "http://localhost:0", with: server.url.absoluteString)
        return mode == .silent ? text.replacingOccurrences(of: "\"offline\"", with: "\"offline\", \"1s\"") : text
    }

    /// Writes the manifest and its files to a temporary folder that the tool can read.
    ///
    /// - Returns: The folder.
    /// - Throws: An error if the files cannot be written.
    package func writeSubstitutions() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Demo-\(server.url.port ?? 0)")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: substitutions, to: folder)
        try Data(manifest().utf8).write(to: folder.appendingPathComponent("manifest.json"))
        return folder
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    /// Returns the files of the site, keyed by path.
    ///
    /// The page and its stylesheet are the same on the site and in the bundle. Each of the remaining files says whether
    /// it is from the site or from the bundle.
    private static func files(_ substitutions: URL) throws -> [String: (type: String, body: Data)] {
        var files: [String: (type: String, body: Data)] = [:]
        for folder in [substitutions, resources.appendingPathComponent("RemoteSite")] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                let url = folder.appendingPathComponent(path)
                guard let type = types[url.pathExtension] else { continue }
                files["/" + path] = (type, try Data(contentsOf: url))
            }
        }
        files["/"] = files["/index.html"]
        return files
    }
}
