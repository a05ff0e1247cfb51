import Foundation
package import FoundationNetworking

/// The network, which is controlled by a test, or real.
package final class Network: @unchecked Sendable {
    package static let shared = Network()

    private let lock = NSLock()
    private var values = Values()

    private struct Values {
        var answer: @Sendable (Exchange) -> Void = { _ in }
        var asked: [Exchange] = []
        var isOffline = false
        var isConstrained = false
        var waiting = 0
        var asksRegisteredClasses = false
        var isReal = false
    }

    /// The closure that answers each request; the closure may store the exchange and answer later.
    package var answer: @Sendable (Exchange) -> Void {
        get { lock.withLock { values.answer } }
        set { lock.withLock { values.answer = newValue } }
    }

    package var isOffline: Bool {
        get { lock.withLock { values.isOffline } }
        set { lock.withLock { values.isOffline = newValue } }
    }

    /// True in Low Data Mode.
    package var isConstrained: Bool {
        get { lock.withLock { values.isConstrained } }
        set { lock.withLock { values.isConstrained = newValue } }
    }

    /// True if requests are sent to real servers, by Foundation's own session.
    package var isReal: Bool {
        get { lock.withLock { values.isReal } }
        set { lock.withLock { values.isReal = newValue } }
    }

    /// True if every session consults registered classes; false if only the shared session does.
    package var asksRegisteredClasses: Bool {
        get { lock.withLock { values.asksRegisteredClasses } }
        set { lock.withLock { values.asksRegisteredClasses = newValue } }
    }

    /// The number of requests that wait for connectivity.
    package var waiting: Int { lock.withLock { values.waiting } }

    fileprivate func wait() { lock.withLock { values.waiting += 1 } }

    /// The requests that reached the network, in order.
    package var asked: [Exchange] { lock.withLock { values.asked } }

    package func reset() { lock.withLock { values = Values() } }

    fileprivate func take(_ exchange: Exchange) {
        let answer = lock.withLock {
            values.asked.append(exchange)
            return values.answer
        }
        answer(exchange)
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
    private let configuration: URLSessionConfiguration
    private let lock = NSLock()
    private var isStopped = false

    init(_ request: URLRequest, for task: URLSessionTask, _ configuration: URLSessionConfiguration) {
        (self.request, original, self.task) = (request.withoutProperties, request, task)
        self.configuration = configuration
    }

    /// True once the task has been cancelled, or has followed a redirect.
    package var hasStopped: Bool { lock.withLock { isStopped } }

    func start() {
        let isForbidden = Network.shared.isConstrained && !configuration.allowsConstrainedNetworkAccess
        guard Network.shared.isOffline || isForbidden else { return Network.shared.take(self) }
        // With `waitsForConnectivity`, the load waits for a connection. It would fail only after
        // `timeoutIntervalForResource`, which is several days.
        if configuration.waitsForConnectivity { Network.shared.wait() } else { end(URLError(.notConnectedToInternet)) }
    }

    func stop() { lock.withLock { isStopped = true } }

    package func head(_ status: Int, _ fields: [String: String] = [:]) {
        guard !hasStopped, let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        else { return }
        task.receive(response)
    }

    package func body(_ text: String) { if !hasStopped { task.receive(Data(text.utf8)) } }

    package func end(_ error: (any Error)? = nil) { if !hasStopped { task.complete(error) } }

    package func answer(_ status: Int, _ text: String, _ fields: [String: String] = [:]) {
        head(status, fields)
        body(text)
        end()
    }

    /// Answers with a redirect to `address`.
    ///
    /// If the delegate refuses the redirect, the load ends with `error`. If `error` is nil, the 302 is the response.
    package func redirect(to address: String, endsWith error: (any Error)? = nil) {
        guard !hasStopped, let url = request.url, let next = URL(string: address),
            let response = HTTPURLResponse(
                url: url,
                statusCode: 302,
                httpVersion: nil,
                headerFields: ["Location": address]
            )
        else { return }
        // The redirected request keeps the properties of the original request.
        var followed = original
        followed.url = next
        task.redirect(response, to: followed) { [self] next in
            guard let next else { return error.map { end($0) } ?? answer(302, "Found", ["Location": address]) }
            guard !hasStopped else { return }
            stop()
            task.begin(next)
        }
    }
}
