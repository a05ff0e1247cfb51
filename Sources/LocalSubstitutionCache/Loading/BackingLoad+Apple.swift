// Loading on Apple's systems, written from Apple's documentation. Only Tests/FakeURLLoading, which sets APPLE_LOADING,
// has run this code. BackingLoad+Linux.swift is for Linux.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread on which URL loading calls a protocol; it has a run loop.
struct CallingContext {
    private let runLoop = RunLoop.current
    private let mode = RunLoop.current.currentMode ?? .default

    /// Runs `body` later on the load's thread.
    ///
    /// This method can be called on any thread.
    func perform(_ body: @escaping () -> Void) {
        // `body` only runs on the load's thread.
        nonisolated(unsafe) let body = body
        runLoop.perform(inModes: [.common, mode], block: { body() })
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
    }

    /// Does the same as ``perform(_:)``.
    func enter(_ body: @escaping @Sendable () -> Void) { perform(body) }
}

/// Delivery on Apple's systems.
///
/// The client receives each part of a body immediately, but is never notified of a redirect. After such a notification,
/// URL loading would ask the app's delegate whether to follow the redirect. According to reports, URL loading delivers
/// nothing more if the delegate refuses the redirect, so the app would wait until its request times out.
extension BackingLoad {
    /// The recipient of the body, which never needs the whole body at once.
    ///
    /// Unlike on Linux, a completion handler receives all parts of a body.
    struct Receiver {
        let needsWhole = false
    }

    var isOnlyPaused: Bool { false }

    var canDeliver: Bool { true }

    func deliverBody(_ body: Data, isLast: Bool, as owner: URLProtocol) { client?.urlProtocol(owner, didLoad: body) }

    func deliverEnd(as owner: URLProtocol) { client?.urlProtocolDidFinishLoading(owner) }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ChallengeSender(completionHandler)
        record(continues: true) {
            $0.completion = .challenge(URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender))
        }
    }

    func deliver(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) {
        client?.urlProtocol(owner, didReceive: challenge)
    }
}

/// Gives the backing session the app's answer to a challenge.
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
