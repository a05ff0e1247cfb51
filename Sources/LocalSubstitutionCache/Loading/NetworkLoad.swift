import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the network for one request, and tells the client of a protocol what it answered, or what answers instead.
protocol NetworkLoad: AnyObject {
    /// Whether the client will be told nothing more.
    var hasFinished: Bool { get }
    /// Begins, or goes on after the task was suspended.
    func start()
    /// Pauses when the task is suspended, and otherwise ends it, without a word to the client.
    func stop()
}

extension URLProtocolClient {
    /// Tells a whole answer, which is not to be stored.
    func deliver(_ answer: CachedURLResponse, as owner: URLProtocol) {
        urlProtocol(owner, didReceive: answer.response, cacheStoragePolicy: .notAllowed)
        if !answer.data.isEmpty { urlProtocol(owner, didLoad: answer.data) }
        urlProtocolDidFinishLoading(owner)
    }
}
