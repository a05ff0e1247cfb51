import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What answers one request of an engine: a head, then the bytes, and the end.
///
/// Cancelling the task that reads it ends the load from the network, if there is one.
struct SchemeReply: AsyncSequence, Sendable {
    /// The shape of WebKit's own `URLSchemeTaskResult`.
    enum Element: Sendable {
        case response(HTTPURLResponse)
        case data(Data)
    }

    private enum Source: Sendable {
        case known(HTTPURLResponse, Data)
        case stream(AsyncThrowingStream<Element, any Error>)
    }

    /// The most bytes that are told at once, and worked on while the screen waits.
    static let longestImmediate = 1 << 16
    /// The most bytes in one part: each is copied to another process while the screen waits.
    static let longestPart = 1 << 20

    private let source: Source

    /// A reply that is known whole.
    init(_ response: HTTPURLResponse, _ data: Data) { source = .known(response, data) }

    /// A reply that is still to come.
    init(_ stream: AsyncThrowingStream<Element, any Error>) { source = .stream(stream) }

    /// A reply that fails before it has a head.
    init(failure: any Error) { self.init(AsyncThrowingStream { $0.finish(throwing: failure) }) }

    /// A reply whose making takes a while, and that is made elsewhere.
    init(later make: @escaping @Sendable () async -> SchemeReply) {
        self.init(
            AsyncThrowingStream { continuation in
                let making = Task.detached { await make().tell(continuation) }
                continuation.onTermination = { _ in making.cancel() }
            }
        )
    }

    /// Tells a stream all of it, and its end.
    func tell(_ continuation: AsyncThrowingStream<Element, any Error>.Continuation) async {
        do {
            for try await element in self { continuation.yield(element) }
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }

    /// Head and bytes, if they are known and so few that they can be told at once.
    var immediate: (response: HTTPURLResponse, data: Data)? {
        guard case .known(let response, let data) = source, data.count <= Self.longestImmediate else { return nil }
        return (response, data)
    }

    func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .known(let response, let data): .known(response, data)
        case .stream(let stream): .stream(stream.makeAsyncIterator())
        }
    }

    enum AsyncIterator: AsyncIteratorProtocol {
        /// The head, if it was not told yet, and the bytes that are left.
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
                self = .known(nil, data.dropFirst(SchemeReply.longestPart))
                return .data(data.prefix(SchemeReply.longestPart))
            case .stream(var iterator):
                defer { self = .stream(iterator) }
                return try await iterator.next()
            }
        }
    }
}
