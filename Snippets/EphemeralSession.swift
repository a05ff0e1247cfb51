// Answers an ephemeral session's requests from the bundle.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
let session = URLSession(substituting: .ephemeral)
// snippet.hide

_ = session
