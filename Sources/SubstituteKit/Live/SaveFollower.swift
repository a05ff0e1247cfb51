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

    /// The outcome for the page after files were saved.
    enum Outcome: Equatable {
        /// Stylesheets and images were replaced in place, without a reload.
        case exchanged
        case reloaded
        /// The page uses none of the saved files.
        case unused
    }

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

    /// Reads the manifest again and shows the changes in the page.
    ///
    /// - Parameters:
    ///   - paths: The saved files, as paths relative to the manifest's folder.
    ///   - loads: The loads of the page so far.
    ///   - report: Called with the outcome, before the page is reloaded.
    /// - Throws: ``ManifestError`` if the manifest has errors. The previous table then stays in use.
    func follow(
        _ paths: [String],
        _ loads: [LiveTable.FinishedLoad],
        _ report: (Outcome) -> Void
    ) async throws {
        let table = try manifest.table()
        live.current = table
        let isManifest = paths.contains { manifest.folder.appendingPathComponent($0).path == manifest.url.path }
        // A new file may now answer a URL that the network answered before.
        let used = Set(loads.map(\.url)).filter { url in
            let request = URL(ofBrowser: url).map { URLRequest(url: $0) }
            return request.flatMap { table.explain($0).substitution?.file }.map(paths.contains) ?? false
        }
        if used.isEmpty, !isManifest { return report(.unused) }
        if !isManifest, try await exchange(used, table) { return report(.exchanged) }
        report(.reloaded)
        try await browser.reload()
    }

    /// Replaces stylesheets and images in place.
    ///
    /// - Returns: False if the page has to be reloaded instead.
    private func exchange(_ urls: Set<String>, _ table: SubstitutionTable) async throws -> Bool {
        let types = urls.map { url in
            URL(ofBrowser: url).flatMap { table.answer(to: URLRequest(url: $0)) }?.response.mimeType ?? ""
        }
        guard types.allSatisfy({ $0 == "text/css" || $0.hasPrefix("image/") }) else { return false }
        return try await browser.loadAgain(urls)
    }
}
