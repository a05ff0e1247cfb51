import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol's client that records all events, in order.
// Mutable state is only accessed inside the lock.
final class RecordingClient: NSObject, URLProtocolClient, @unchecked Sendable {
    enum Event: Equatable {
        case head(Int), data(String), failure(URLError.Code?)
        case end, challenge, redirect
    }

    private let lock = NSLock()
    private var recordedEvents: [Event] = []

    var events: [Event] { lock.withLock { recordedEvents } }

    private func note(_ event: Event) { lock.withLock { recordedEvents.append(event) } }

    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        note(.head((response as? HTTPURLResponse)?.statusCode ?? 0))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        note(.data(String(decoding: data.prefix(100), as: UTF8.self)))
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { note(.end) }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        note(.failure((error as? URLError)?.code))
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        note(.redirect)
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) { note(.challenge) }
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
