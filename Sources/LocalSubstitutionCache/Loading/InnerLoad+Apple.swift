// How Apple's systems load, written from their documentation, and run in Tests/FakeURLLoading alone, which sets
// APPLE_LOADING. InnerLoad+Linux.swift is for Linux.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where URL loading calls protocols: on the thread that started them, which has a run loop.
struct CallingThread {
    private let runLoop = RunLoop.current
    private let mode = RunLoop.current.currentMode ?? .default

    /// Runs `body` there, later; called anywhere.
    func perform(_ body: @escaping () -> Void) {
        // Only run there.
        nonisolated(unsafe) let body = body
        runLoop.perform(inModes: [.common, mode], block: { body() })
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
    }

    /// Does the same as ``perform(_:)``.
    func enter(_ body: @escaping @Sendable () -> Void) { perform(body) }
}

/// The client is told each part as it arrives, but no redirect: URL loading would ask the app, and is reported to say
/// nothing when the app refuses it, so that the app would wait for its time-out.
extension InnerLoad {
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
