// How Apple's systems load, written from their documentation and not run. InnerLoad+Linux.swift is for Linux.
#if !canImport(FoundationNetworking)
import Foundation

/// Where URL loading calls protocols: on the thread that started them, which has a run loop.
struct CallingThread {
    private let runLoop = RunLoop.current
    private let mode = RunLoop.current.currentMode ?? .default

    /// Runs `body` there, later.
    func async(_ body: @escaping @Sendable () -> Void) {
        runLoop.perform(inModes: [.common, mode], block: body)
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
    }

    /// Runs `body` there after so many seconds; called there, too.
    func async(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
        let timer = Timer(timeInterval: seconds, repeats: false) { _ in body() }
        for mode in [.common, mode] { runLoop.add(timer, forMode: mode) }
    }
}

/// The client is told each part as it arrives, and each redirect. Where the app follows one, URL loading begins another
/// load and stops this one. Where the app refuses it, nothing follows, and the app would wait for its time-out. So
/// a load that is not stopped within half a second delivers the 3xx as its answer.
extension InnerLoad {
    static let endsWithChallenge = false

    /// In seconds.
    private static let grace = 0.5

    /// The client passes each part on to whoever gets the body.
    struct Receiver {
        let needsWhole = false
    }

    var isOnlyPaused: Bool { false }

    func haveDelivered() {
        thread.async { [weak self] in self?.deliver() }
    }

    func tellBody(_ body: Data, isLast: Bool, as owner: URLProtocol) { client?.urlProtocol(owner, didLoad: body) }

    func tellEnd(as owner: URLProtocol) { client?.urlProtocolDidFinishLoading(owner) }

    func tell(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) {
        client?.urlProtocol(owner, didReceive: challenge)
    }

    func redirected(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ follow: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let answer = fileAnswer(redirectedTo: request)
        let isTold = withState { state in
            guard answer == nil, state.phase == .waiting else { return false }
            (state.phase, state.redirect) = (.complete, Pending(head: response))
            return true
        }
        follow(nil)
        if let answer { self.answer(answer) }
        if isTold { thread.async { [weak self] in self?.tellRedirect(to: request, response) } }
    }

    private func tellRedirect(to request: URLRequest, _ response: HTTPURLResponse) {
        guard withState({ $0.redirect != nil }), let owner else { return }
        client?.urlProtocol(owner, wasRedirectedTo: request, redirectResponse: response)
        waitForRefusal()
    }

    /// Tells the 3xx when the grace is over and nobody has stopped this load: both happen on this thread, so never at
    /// once.
    private func waitForRefusal() {
        thread.async(after: Self.grace) { [weak self] in self?.tellRefused() }
    }

    private func tellRefused() {
        guard let redirect = withState({ $0.redirect }), let owner else { return }
        guard redirect.last != nil else { return waitForRefusal() }
        withState { ($0.phase, $0.redirect) = (.finished, nil) }
        tell(Pending(head: redirect.head, body: redirect.body, last: .end(nil)), as: owner)
    }
}
#endif
