// Lets a stub replace the network for entries with `when`.

// snippet.hide
import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

nonisolated final class Stub: URLProtocol {}

// snippet.show
let configuration = URLSessionConfiguration.ephemeral
configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
configuration.useSubstitutions()
