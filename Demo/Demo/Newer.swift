import DemoSite
import Foundation
import LocalSubstitutionCache
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An app that brings a newer folder after its release.
struct Newer {
    private let site: Site
    /// The folder of the app's bundle, and of the newer folder beside it.
    private let home: URL
    private let stylesheet: URL

    /// Writes a bundle with the sample manifest.
    init(_ site: Site) throws {
        self.site = site
        stylesheet = site.server.url.appendingPathComponent("css/site.css")
        home = FileManager.default.temporaryDirectory.appendingPathComponent("Demo-newer-\(UUID().uuidString)")
        let bundle = home.appendingPathComponent("App.bundle")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let substitutions = bundle.appendingPathComponent("Substitutions")
        try FileManager.default.moveItem(at: site.writeSubstitutions(), to: substitutions)
    }

    /// Launches the app, lets it adopt a newer folder, and launches it again with that folder and without it.
    ///
    /// - Returns: Each step with the version that answers, and whether the stylesheet is that of the version.
    func steps() async throws -> [(step: String, version: Int, isRight: Bool)] {
        defer { try? FileManager.default.removeItem(at: home) }
        let cache = try launch(with: "downloads")
        var steps = [try await step("launched with the bundle", cache)]
        try cache.adopt(incoming())
        steps.append(try await step("adopted a folder with \"$version\": 1", cache))
        steps.append(try await step("launched again", launch(with: "downloads")))
        steps.append(try await step("launched without the folder", launch(with: "none")))
        return steps
    }

    private func launch(with downloads: String) throws -> SubstitutionCache {
        let url = home.appendingPathComponent("App.bundle")
        guard let bundle = Bundle(url: url) else { throw CocoaError(.fileNoSuchFile) }
        return try SubstitutionCache(bundle: bundle, newerFolder: home.appendingPathComponent(downloads))
    }

    private static let mark = Data("/* version 1 */\n".utf8)

    /// Writes the folder that the app brings: the same files, but another stylesheet.
    private func incoming() throws -> URL {
        let folder = home.appendingPathComponent("incoming")
        try FileManager.default.moveItem(at: site.writeSubstitutions(), to: folder)
        let text = try site.manifest().replacingOccurrences(of: "\"$schema\"", with: "\"$version\": 1,\n  \"$schema\"")
        try Data(text.utf8).write(to: folder.appendingPathComponent("manifest.json"))
        let file = folder.appendingPathComponent("css/site.css")
        try (Data(contentsOf: file) + Self.mark).write(to: file)
        return folder
    }

    private func step(_ name: String, _ cache: SubstitutionCache) async throws -> (String, Int, Bool) {
        cache.install()
        defer { cache.uninstall() }
        let load = try await MeasuredLoad(stylesheet, in: .shared)
        let isNewer = load.body.suffix(Self.mark.count) == Self.mark
        return (name, cache.manifestVersion, load.answerer == "bundle" && isNewer == (cache.manifestVersion == 1))
    }
}
