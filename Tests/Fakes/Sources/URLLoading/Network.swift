import Foundation
package import FoundationNetworking

/// The network, which is controlled by a test, or real.
@dynamicMemberLookup
package final class Network: Sendable {
    package static let shared = Network()

    package struct Values: Sendable {
        /// The closure that answers each request; the closure may store the exchange and answer later.
        ///
        /// If it is nil, Foundation's own session sends the requests to real servers.
        package var answer: (@Sendable (Exchange) -> Void)?
        /// The requests that reached the network, in order.
        package var asked: [Exchange] = []
        package var isOffline = false
        /// The number of requests that wait for connectivity.
        package var waiting = 0
        /// True if every session consults registered classes; false if only the shared session does.
        package var asksRegisteredClasses = false
    }

    private let values = Locked(Values())

    package subscript<Value: Sendable>(dynamicMember member: any WritableKeyPath<Values, Value> & Sendable) -> Value {
        get { values.withLock { $0[keyPath: member] } }
        set { values.withLock { $0[keyPath: member] = newValue } }
    }

    package func reset() { _ = values.replace(with: Values()) }

    fileprivate func wait() { values.withLock { $0.waiting += 1 } }

    fileprivate func take(_ exchange: Exchange) {
        values.withLock { $0.asked.append(exchange) }
        self.answer?(exchange)
    }
}

/// One request on the network; a test chooses the response.
package final class Exchange: Load, @unchecked Sendable {
    /// The request as it is sent.
    ///
    /// It lacks the properties of `URLProtocol.setProperty(_:forKey:in:)`, which are not part of an HTTP message.
    package let request: URLRequest
    private let original: URLRequest
    private let task: URLSessionTask
    private let waitsForConnectivity: Bool
    private let isStopped = Locked(false)

    init(_ request: URLRequest, for task: URLSessionTask, _ configuration: URLSessionConfiguration) {
        (self.request, original, self.task) = (request.withoutProperties, request, task)
        waitsForConnectivity = configuration.waitsForConnectivity
    }

    /// True once the task has been cancelled, or has followed a redirect.
    package var hasStopped: Bool { isStopped.value }

    func start() {
        guard Network.shared.isOffline else { return Network.shared.take(self) }
        // With `waitsForConnectivity`, the load waits for a connection. It would fail only after
        // `timeoutIntervalForResource`, which is several days.
        if waitsForConnectivity { Network.shared.wait() } else { end(URLError(.notConnectedToInternet)) }
    }

    func stop() { _ = isStopped.replace(with: true) }

    private func response(_ status: Int, _ fields: [String: String]) -> HTTPURLResponse? {
        request.url.flatMap { HTTPURLResponse(url: $0, statusCode: status, httpVersion: nil, headerFields: fields) }
    }

    /// Sends the head and the parts of a body, without the end.
    package func begin(_ status: Int, _ parts: String..., fields: [String: String] = [:]) {
        guard !hasStopped, let response = response(status, fields) else { return }
        task.receive(response)
        for part in parts where !hasStopped { task.receive(Data(part.utf8)) }
    }

    package func end(_ error: (any Error)? = nil) { if !hasStopped { task.complete(error) } }

    package func answer(_ status: Int, _ text: String, _ fields: [String: String] = [:]) {
        begin(status, text, fields: fields)
        end()
    }

    /// Answers with a redirect to `address`; if the delegate refuses the redirect, the 302 is the response.
    package func redirect(to address: String) {
        guard let next = URL(string: address), let response = response(302, ["Location": address]) else { return }
        // The redirected request keeps the properties of the original request.
        var followed = original
        followed.url = next
        task.redirect(response, to: followed) { [self] next in
            guard let next else { return answer(302, "Found", ["Location": address]) }
            guard !hasStopped else { return }
            stop()
            task.begin(next)
        }
    }
}
