// Explains why a request is, or is not, answered from the bundle.

// snippet.hide
import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func explain(_ cache: SubstitutionCache, _ url: URL) {
    // snippet.show
    print(cache.explain(URLRequest(url: url)))
    // snippet.hide
}

_ = explain
