import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Updates the page in the browser when files in the manifest's folder are saved.
struct SaveFollower: Sendable {
    let manifest: ManifestFile
    let live: LiveTable
    let browser: Browser

    /// Watches the folders of manifests, and returns a stream of the files that are saved after this call.
    ///
    /// Each element lists the saved files, as paths relative to their folder.
    ///
    /// - Returns: A stream that never finishes.
    /// - Throws: ``ToolError`` if a folder cannot be watched.
    static func saves(
        of manifests: [ManifestFile],
        _ policy: AsyncStream<[String]>.Continuation.BufferingPolicy = .unbounded
    ) throws(ToolError) -> AsyncStream<[String]> {
        var continuation: AsyncStream<[String]>.Continuation?
        let stream = AsyncStream<[String]>(bufferingPolicy: policy) { continuation = $0 }
        let watchers = try manifests.map { [continuation] manifest throws(ToolError) in
            try manifest.watch { continuation?.yield($0) }
        }
        continuation?.onTermination = { _ in withExtendedLifetime(watchers) {} }
        return stream
    }

    /// Reads the manifest again, and reloads the page if it uses one of the saved files.
    ///
    /// - Parameters:
    ///   - paths: The saved files, as paths relative to the manifest's folder.
    ///   - loads: The loads of the page so far.
    ///   - report: Called before the page is reloaded, with false if it uses none of the files.
    /// - Throws: ``ManifestError`` if the manifest has errors. The previous table then stays in use.
    func follow(
        _ paths: [String],
        _ loads: [LiveTable.FinishedLoad],
        _ report: (_ isUsed: Bool) -> Void
    ) async throws {
        let table = try manifest.table()
        live.current = table
        let isManifest = paths.contains { manifest.folder.appendingPathComponent($0).path == manifest.url.path }
        // A new file may now answer a URL that the network answered before.
        let isUsed = Set(loads.map(\.url)).contains { url in
            let request = URL(ofBrowser: url).map { URLRequest(url: $0) }
            return request.flatMap { table.explain($0).substitution?.path }.map(paths.contains) ?? false
        }
        report(isUsed || isManifest)
        if isUsed || isManifest { try await browser.reload() }
    }
}
