// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation
@_exported public import FoundationNetworking

// These protocols follow WKURLSchemeHandler.h and WKURLSchemeTask.h.

@MainActor
public protocol WKURLSchemeHandler: NSObjectProtocol {
    func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask)
    func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask)
}

public protocol WKURLSchemeTask: NSObjectProtocol {
    var request: URLRequest { get }
    func didReceive(_ response: URLResponse)
    func didReceive(_ data: Data)
    func didFinish()
    func didFailWithError(_ error: any Error)
}

/// A task that records its calls, and crashes where a real task throws an exception (`WebURLSchemeTask.cpp`).
///
/// Swift cannot catch such an exception.
public final class FakeTask: NSObject, WKURLSchemeTask, @unchecked Sendable {
    public enum Event: Equatable { case response(Int), data(Int), finish, fail }

    public let request: URLRequest
    public private(set) var events: [Event] = []
    public private(set) var body = Data()
    public private(set) var head: HTTPURLResponse?
    private var isStopped = false
    /// Called after each event; may stop the task.
    public var afterEvent: (Event) -> Void = { _ in }

    /// The number of tasks that exist.
    public static var living: Int { lock.withLock { count } }
    private static let lock = NSLock()
    private nonisolated(unsafe) static var count = 0

    public init(_ request: URLRequest) {
        self.request = request
        super.init()
        Self.lock.withLock { Self.count += 1 }
    }

    deinit { Self.lock.withLock { Self.count -= 1 } }

    public var hasEnded: Bool { events.last == .finish || events.last == .fail }

    /// Stops the task, as WebKit does before it calls the handler's `webView(_:stop:)`.
    public func stop() { isStopped = true }

    public func didReceive(_ response: URLResponse) {
        check(!events.contains { if case .data = $0 { true } else { false } }, "a response after data")
        head = response as? HTTPURLResponse
        note(.response(head?.statusCode ?? 0))
    }

    public func didReceive(_ data: Data) {
        check(!events.isEmpty, "data before a response")
        body += data
        note(.data(data.count))
    }

    public func didFinish() {
        check(!events.isEmpty, "an end before a response")
        note(.finish)
    }

    public func didFailWithError(_ error: any Error) {
        check(true, "")
        note(.fail)
    }

    private func check(_ isAllowed: Bool, _ problem: String) {
        MainActor.preconditionIsolated("A call from another thread")
        if isStopped { fatalError("This task has already been stopped") }
        if hasEnded { fatalError("This task has already completed") }
        if !isAllowed { fatalError(problem) }
    }

    private func note(_ event: Event) {
        events.append(event)
        afterEvent(event)
    }
}
