import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A load from the network, on behalf of a protocol.
///
/// The load delivers the network's response, or one that replaces it, to the protocol's client.
protocol NetworkLoad: AnyObject {
    /// True once the end of the load has been delivered.
    ///
    /// It may stay false if the load was stopped first, and it stays false if a challenge was delivered last.
    var hasFinished: Bool { get }
    /// Starts the load, or continues it after the task was suspended.
    func start()
    /// Stops the load without notifying the client.
    ///
    /// On Linux, the protocol also calls this method when the app suspends the load's task. The load then only pauses,
    /// or continues if the app has already resumed the task. On Linux, this method ends the load only if the task was
    /// cancelled or has completed.
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
