// Registers a session, so that network-first entries also answer its requests on Apple's platforms.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let delegate: (any URLSessionDataDelegate)? = nil

// snippet.show
let configuration = URLSessionConfiguration.default
configuration.useSubstitutions()
let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
session.registerForSubstitutions()
