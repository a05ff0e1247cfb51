// Answers with a folder that the app brings after its release, and falls back to the bundle.

// snippet.hide
import Foundation

// snippet.show
import LocalSubstitutionCache

func makeCache() throws -> SubstitutionCache {
    let support = try FileManager.default.url(
        for: .applicationSupportDirectory,
        in: .userDomainMask,
        appropriateFor: nil,
        create: true
    )
    let place = support.appendingPathComponent("MyApp/Substitutions")
    let cache = try SubstitutionCache(bundle: .main, newerFolder: place)
    if let reason = cache.newerFolderError { print("version \(cache.manifestVersion) answers: \(reason)") }
    return cache
}

func adopt(_ unpacked: URL, in cache: SubstitutionCache) {
    do throws(ManifestError) {
        try cache.adopt(unpacked)
    } catch {
        print("version \(cache.manifestVersion) answers on: \(error)")
    }
}
// snippet.hide

_ = (makeCache, adopt)
