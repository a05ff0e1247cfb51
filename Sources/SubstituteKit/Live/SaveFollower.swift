import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Brings what is saved in the manifest's folder into a page that is shown.
struct SaveFollower: Sendable {
    let manifest: ManifestFile
    let live: LiveTable
    let browser: Browser

    /// The outcome of a save.
    enum Outcome: Equatable {
        /// Styles and pictures were exchanged, and the page goes on.
        case exchanged
        case reloaded
        /// The page has loaded nothing of it.
        case unused
    }

    /// Each save from now on, as the paths below the folder.
    ///
    /// - Returns: A stream without an end.
    /// - Throws: ``ToolError`` when the folder cannot be watched.
    static func saves(of manifest: ManifestFile) throws(ToolError) -> AsyncStream<[String]> {
        var problem: (any Error)?
        let stream = AsyncStream<[String]> { continuation in
            do {
                let watcher = try FolderWatcher(manifest.folder, manifest: manifest.url) { continuation.yield($0) }
                continuation.onTermination = { _ in withExtendedLifetime(watcher) {} }
            } catch {
                problem = error
            }
        }
        if let problem {
            throw ToolError("the manifest's folder cannot be watched: \(problem.localizedDescription)")
        }
        return stream
    }

    /// Reads the manifest again, and shows what has changed.
    ///
    /// - Parameters:
    ///   - paths: What was saved.
    ///   - loads: What the page has loaded.
    ///   - report: Called with what becomes of the save, before the page is loaded again.
    /// - Throws: ``ManifestError`` when the manifest is wrong; what was there stays.
    func follow(
        _ paths: [String],
        _ loads: [LiveTable.Load],
        _ report: (Outcome) -> Void
    ) async throws {
        let table = try LiveTable.table(of: manifest)
        live.current = table
        let isManifest = paths.contains { manifest.folder.appendingPathComponent($0).path == manifest.url.path }
        // A file may be new, and answer what the network has answered before.
        let used = Set(loads.map(\.url)).filter { url in
            let request = URL(string: url).map { URLRequest(url: $0) }
            return request.flatMap { table.explain($0).substitution?.file }.map(paths.contains) ?? false
        }
        if used.isEmpty, !isManifest { return report(.unused) }
        if !isManifest, try await exchange(used, table) { return report(.exchanged) }
        report(.reloaded)
        try await browser.reload()
    }

    /// Exchanges stylesheets and pictures in place.
    ///
    /// - Returns: False when the page has to be loaded again.
    private func exchange(_ urls: Set<String>, _ table: SubstitutionTable) async throws -> Bool {
        let types = urls.map { url in
            URL(string: url).flatMap { table.answer(to: URLRequest(url: $0)) }?.response.mimeType ?? ""
        }
        guard types.allSatisfy({ $0 == "text/css" || $0.hasPrefix("image/") }) else { return false }
        return try await browser.loadAgain(urls)
    }
}
