// Prepares the configuration with which another library creates its sessions.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
// For Get and SDWebImage.
let configuration = URLSessionConfiguration.default
configuration.useSubstitutions()
// snippet.hide

_ = configuration
