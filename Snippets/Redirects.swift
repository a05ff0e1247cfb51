// Lets a session follow redirects within one origin only.

// snippet.hide
import Foundation
import SubstitutionStandards

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
let session = URLSession(configuration: .default, delegate: RedirectPolicy.sameOrigin, delegateQueue: nil)
// snippet.hide

_ = session
