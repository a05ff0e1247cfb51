// Answers an ephemeral session's requests from the bundle.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
let configuration = URLSessionConfiguration.ephemeral
configuration.useSubstitutions()
let session = URLSession(configuration: configuration)
// snippet.hide

_ = session
