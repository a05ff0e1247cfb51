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
    static let deliversParts = true
    static let endsWithChallenge = false

    /// In seconds.
    private static let grace = 0.5

    var isOnlyPaused: Bool { false }

    func haveDelivered(_ phase: Phase) {
        thread.async { [weak self] in self?.deliver() }
    }

    /// The answer for the URL that a redirect leads to; nil when the network must be asked, and then the 3xx is kept.
    func answer(redirectedTo request: URLRequest, _ response: HTTPURLResponse) -> CachedURLResponse? {
        // The look-up may ask the app, by the archive's `including`, so it is done outside the lock.
        var fallback = withState { $0.fallback }
        let answer = fallback?.answer(redirectedTo: request)
        withState { [fallback] state in
            state.fallback = fallback
            if answer == nil { state.redirect = Pending(head: response) }
        }
        return answer
    }

    func tellRedirect(to request: URLRequest, _ response: HTTPURLResponse, as owner: URLProtocol) {
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
        withState { $0.redirect = nil }
        tell(Pending(head: redirect.head, body: redirect.body, last: .end(nil)), as: owner)
    }
}
#endif
