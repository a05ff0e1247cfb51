// An app that does nothing but install the cache: the program whose size `.ci/budget` measures.
import Foundation
import LocalSubstitutionCache

let cache = try LocalSubstitutionCache(bundle: .main)
cache.install()
