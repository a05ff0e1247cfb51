// An app that does nothing but install the cache: the program whose size `.ci/budget` measures.
import Foundation
import LocalSubstitutionCache

let cache = try SubstitutionCache(bundle: .main)
cache.install()
