// Prefers a folder that was downloaded since the app was released, and falls back to the bundle.

// snippet.hide
import Foundation

// snippet.show
import LocalSubstitutionCache

func makeCache(downloads: URL) throws -> LocalSubstitutionCache {
    let manifest = downloads.appendingPathComponent("Substitutions/manifest.json")
    if FileManager.default.fileExists(atPath: manifest.path),
        let cache = try? LocalSubstitutionCache(manifest: manifest, reading: .copied)
    {
        return cache
    }
    return try LocalSubstitutionCache(bundle: .main)
}
// snippet.hide

_ = makeCache
