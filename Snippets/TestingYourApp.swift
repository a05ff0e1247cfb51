// Checks in a test that the manifest is right, that a file answers, and that the server still has the same file.

// snippet.hide
import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
func warnings(in folder: URL) throws -> [ManifestIssue] {
    try ManifestIssue.all(in: folder.appendingPathComponent("manifest.json"))
}

func isFromTheBundle(_ url: URL) async throws -> Bool {
    let cache = try SubstitutionCache(bundle: .main)
    cache.install()
    defer { cache.uninstall() }
    let (_, response) = try await URLSession.shared.data(from: url)
    let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
    return status?.hasPrefix("LocalSubstitutionCache; hit") ?? false
}

func isNamed(_ request: URLRequest, by cache: SubstitutionCache) -> Bool {
    cache.explain(request).answer == .cacheAndProtocol
}

func isUpToDate(_ url: URL) async throws -> Bool {
    var request = URLRequest(url: url)
    let (shipped, _) = try await URLSession.shared.data(for: request)
    request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
    let (served, _) = try await URLSession.shared.data(for: request)
    return shipped == served
}

func makeCache(for arguments: [String]) throws -> SubstitutionCache {
    guard let index = arguments.firstIndex(of: "-demo"), index + 1 < arguments.count else {
        return try SubstitutionCache(bundle: .main)
    }
    return try SubstitutionCache(manifest: URL(fileURLWithPath: arguments[index + 1]))
}
// snippet.hide

_ = (warnings, isFromTheBundle, isNamed, isUpToDate, makeCache)
