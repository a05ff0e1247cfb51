// Lets conditional entries answer a session whose delegate receives data, too.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let delegate: (any URLSessionDataDelegate)? = nil

// snippet.show
let configuration = URLSessionConfiguration.default
configuration.useSubstitutions()
let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
session.registerForSubstitutions()
