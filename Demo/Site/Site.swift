import Foundation
import LoopbackServer

/// The remote site: a server on this machine that records the requests it receives.
struct Site {
    let server: LoopbackServer
    /// The folder of the sample manifest and the app's files.
    let substitutions: URL

    /// The URL of the site's page.
    var page: URL { server.url.appendingPathComponent("/") }

    /// The server's response when the changing picture is requested.
    enum Live {
        case sent
        case silent
        /// The server sends this status.
        case refused(Int)
    }

    private let isSilent: Bool

    /// Starts the server.
    ///
    /// - Throws: An error if the server cannot listen, or if the files cannot be read.
    init(_ live: Live, substitutions: URL) throws {
        self.substitutions = substitutions
        if case .silent = live { isSilent = true } else { isSilent = false }
        let files = try Self.files(substitutions)
        server = try LoopbackServer { request in
            switch live {
            case .silent where request.path == Site.live: return .silent
            case .refused(let status) where request.path == Site.live:
                return .text("The tide is not known.\n", status: status)
            default: break
            }
            guard let file = files[request.path] else { return .text("There is no \(request.path)\n", status: 404) }
            return LoopbackServer.Response(headers: ["Content-Type": file.type], body: file.body)
        }
    }

    /// The path of the picture that changes every hour.
    static let live = "/live/tide.svg"

    /// The folder of this executable's resources.
    ///
    /// On macOS, this is not always the top folder of the resource bundle.
    static let resources = Bundle.module.resourceURL ?? Bundle.module.bundleURL

    /// The sample manifest's folder in this executable's bundle; an app bundles its folder in the same way.
    static let shipped = Site.resources.appendingPathComponent("Substitutions")

    /// The folder from which `shipped` was copied; nil if this folder has been moved or removed since the build.
    static var sources: URL? {
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = checkout.appendingPathComponent("Resources/Substitutions")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }

    /// The sample manifest, with the site's address instead of `http://localhost:0`.
    ///
    /// If the site is silent, the app waits one second for the changing picture.
    func manifest() throws -> String {
        let text = try String(contentsOf: substitutions.appendingPathComponent("manifest.json"), encoding: .utf8)
            .replacingOccurrences(of: "http://localhost:0", with: server.url.absoluteString)
        return isSilent ? text.replacingOccurrences(of: "\"offline\"", with: "\"offline\", \"1s\"") : text
    }

    /// Writes the manifest and its files to a temporary folder that the tool can read.
    ///
    /// - Returns: The folder.
    /// - Throws: An error if the files cannot be written.
    func writeSubstitutions() throws -> URL {
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
        for folder in [substitutions, Site.resources.appendingPathComponent("RemoteSite")] {
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
