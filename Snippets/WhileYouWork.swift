import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment

/// Creates the cache that an app installs at launch.
func makeCache() throws -> SubstitutionCache {
    // snippet.reload
    // While the app is being made, use the folder in the project, which a simulator can read directly.
    #if DEBUG
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let manifest = source.appendingPathComponent("Substitutions/manifest.json")
    let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
    try cache.reloadWhenChanged { outcome in
        switch outcome {
        case .success(let paths): print("Saved: \(paths.joined(separator: ", "))")
        case .failure(let error): print("\(error)\nThe previous files stay in use.")
        }
    }
    #else
    let cache = try SubstitutionCache(bundle: .main)
    #endif
    return cache
    // snippet.end
}
