// How Apple's systems load, written from their documentation and not run. InnerLoad+Linux.swift is for Linux.
#if !canImport(FoundationNetworking)
import Foundation

/// Where URL loading calls protocols: on the thread that started them, which has a run loop.
struct CallingThread {
    private let runLoop = RunLoop.current
    private let mode = RunLoop.current.currentMode ?? .default

    /// Runs `body` there, later.
    func perform(_ body: @escaping () -> Void) {
        // Only run there.
        nonisolated(unsafe) let body = body
        runLoop.perform(inModes: [.common, mode], block: { body() })
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
    }

    /// Runs `body` there after so many seconds; called there, too.
    func perform(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
        let timer = Timer(timeInterval: seconds, repeats: false) { _ in body() }
        for mode in [.common, mode] { runLoop.add(timer, forMode: mode) }
    }
}

/// The client is told each part as it arrives, and each redirect. Where the app follows one, URL loading begins another
/// load and stops this one. Where the app refuses it, nothing follows, and the app would wait for its time-out. So
/// a load that is not stopped within half a second delivers the 3xx as its answer.
extension InnerLoad {
    /// In seconds.
    private static let grace = 0.5

    /// The client passes each part on to whoever gets the body.
    struct Receiver {
        let needsWhole = false
    }

    var isOnlyPaused: Bool { false }

    var canTell: Bool { true }

    func tellBody(_ body: Data, isLast: Bool, as owner: URLProtocol) { client?.urlProtocol(owner, didLoad: body) }

    func tellEnd(as owner: URLProtocol) { client?.urlProtocolDidFinishLoading(owner) }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ChallengeSender(completionHandler)
        add(goesOn: true) {
            $0.last = .challenge(URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender))
        }
    }

    func tell(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) {
        client?.urlProtocol(owner, didReceive: challenge)
    }

    func redirected(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ follow: @escaping @Sendable (URLRequest?) -> Void
    ) {
        follow(nil)
        if let answer = fileAnswer(redirectedTo: request) { return self.answer(answer) }
        guard stage == .undecided, let owner else { return }
        (stage, redirect) = (.ended, Pending(head: response))
        client?.urlProtocol(owner, wasRedirectedTo: request, redirectResponse: response)
        waitForRefusal()
    }

    /// Tells the 3xx when the grace is over and nobody has stopped this load.
    private func waitForRefusal() {
        thread.perform(after: Self.grace) { [weak self] in self?.tellRefused() }
    }

    private func tellRefused() {
        guard let redirect else { return }
        guard redirect.last != nil else { return waitForRefusal() }
        self.redirect = nil
        tell(redirect)
    }
}

/// Hands the app's answer to a challenge to the inner session.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    private let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(_ answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.answer = answer
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace, nil)
    }
}
#endif
