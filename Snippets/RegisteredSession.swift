// Creates a session in which network-first entries also answer on Apple's platforms.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let configuration = URLSessionConfiguration.default
let delegate: (any URLSessionDataDelegate)? = nil

// snippet.show
let session = URLSession(substituting: configuration, delegate: delegate, delegateQueue: nil)
// snippet.hide

_ = session
