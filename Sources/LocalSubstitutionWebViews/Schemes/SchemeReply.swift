import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reply to one request of a web engine: the response head (status and header fields), then the body.
///
/// If the task that iterates over the reply is cancelled, the reply's load from the network is cancelled, too.
struct SchemeReply: AsyncSequence, Sendable {
    /// A part of the reply; the cases are those of WebKit's `URLSchemeTaskResult`.
    enum Element: Sendable {
        case response(HTTPURLResponse)
        case data(Data)
    }

    private enum Source: Sendable {
        case known(HTTPURLResponse, Data)
        case stream(AsyncThrowingStream<Element, any Error>)
    }

    /// The largest body, in bytes, that is processed and delivered immediately.
    ///
    /// Meanwhile the main thread waits, so a larger body is processed in a separate task.
    static let maximumImmediateSize = 1 << 16
    /// The largest chunk of a body, in bytes.
    ///
    /// WebKit copies each chunk to another process, and meanwhile the main thread waits.
    static let maximumChunkSize = 1 << 20

    private let source: Source

    /// Creates a reply whose head and body are known.
    init(_ response: HTTPURLResponse, _ data: Data) { source = .known(response, data) }

    /// Creates a reply that delivers the elements of a stream.
    init(_ stream: AsyncThrowingStream<Element, any Error>) { source = .stream(stream) }

    /// Creates a reply that fails before its head.
    init(failure: any Error) { self.init(AsyncThrowingStream { $0.finish(throwing: failure) }) }

    /// Creates a reply that takes time to produce: `make` runs in a detached task.
    init(later make: @escaping @Sendable () async -> SchemeReply) {
        self.init(
            AsyncThrowingStream { continuation in
                let making = Task.detached { await make().deliver(to: continuation) }
                continuation.onTermination = { _ in making.cancel() }
            }
        )
    }

    /// Delivers the whole reply to a stream, and ends the stream.
    func deliver(to continuation: AsyncThrowingStream<Element, any Error>.Continuation) async {
        do {
            for try await element in self { continuation.yield(element) }
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }

    /// The head and body; nil if they are not known yet, or if the body is too large to be delivered immediately.
    var immediate: (response: HTTPURLResponse, data: Data)? {
        guard case .known(let response, let data) = source, data.count <= Self.maximumImmediateSize else { return nil }
        return (response, data)
    }

    func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .known(let response, let data): .known(response, data)
        case .stream(let stream): .stream(stream.makeAsyncIterator())
        }
    }

    enum AsyncIterator: AsyncIteratorProtocol {
        /// The head, and the rest of the body; the head is nil once it has been delivered.
        case known(HTTPURLResponse?, Data)
        case stream(AsyncThrowingStream<Element, any Error>.AsyncIterator)

        mutating func next() async throws -> Element? {
            switch self {
            case .known(let response?, let data):
                self = .known(nil, data)
                return .response(response)
            case .known(nil, let data):
                try Task.checkCancellation()
                if data.isEmpty { return nil }
                self = .known(nil, data.dropFirst(SchemeReply.maximumChunkSize))
                return .data(data.prefix(SchemeReply.maximumChunkSize))
            case .stream(var iterator):
                defer { self = .stream(iterator) }
                return try await iterator.next()
            }
        }
    }
}
