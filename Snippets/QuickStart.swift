// Answers the URLs of Substitutions/manifest.json from the app's bundle.

// snippet.hide
import Foundation

// snippet.show
import LocalSubstitutionCache

let cache = try SubstitutionCache(bundle: .main)
cache.install()
