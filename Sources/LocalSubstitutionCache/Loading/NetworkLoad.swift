import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A load from the network, on behalf of a protocol.
///
/// The load delivers the network's response, or one that replaces it, to the protocol's client.
protocol NetworkLoad: AnyObject {
    /// True once the client receives nothing more.
    var hasFinished: Bool { get }
    /// Starts the load, or continues it after the task was suspended.
    func start()
    /// Pauses the load if its task is suspended, and otherwise ends it without notifying the client.
    func stop()
}

extension URLProtocolClient {
    /// Delivers a complete response, which URL loading must not store.
    func deliver(_ answer: CachedURLResponse, as owner: URLProtocol) {
        urlProtocol(owner, didReceive: answer.response, cacheStoragePolicy: .notAllowed)
        if !answer.data.isEmpty { urlProtocol(owner, didLoad: answer.data) }
        urlProtocolDidFinishLoading(owner)
    }
}
