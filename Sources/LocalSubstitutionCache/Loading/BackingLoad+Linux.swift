// Loading on Linux. BackingLoad+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// The serial queue on which URL loading calls the protocols of all sessions.
///
/// A backing session calls its delegate on this queue too.
struct CallingContext {
    /// Runs `body` immediately; only the delegate of a backing session calls this, on the queue.
    func perform(_ body: () -> Void) { body() }

    /// Runs `body` later on the queue.
    ///
    /// This method can be called on any thread.
    func enter(_ body: @escaping @Sendable () -> Void) { LoadingQueue.shared.async(body) }
}

/// Delivery on Linux, where a completion handler receives only the last part of a body.
///
/// The client passes each part of a body on to the session's delegate. A task with a completion handler keeps only the
/// last part, and no public API distinguishes the two kinds of tasks. So the parts are also collected, and at the end
/// the client receives the whole body once more. During that call the protocol's task is replaced with one that has no
/// delegate, so no delegate receives the body twice.
///
/// Most bodies need not be collected for long. Each part is delivered in a buffer whose deallocation can be observed.
/// Then the client, but no delegate, receives an empty part. The client keeps only the last part, so it releases the
/// buffer. If the buffer still exists after that, a pending delegate call holds it. So the task has a delegate, not a
/// completion handler.
///
/// If the app answers a challenge, Foundation restarts the task with a new instance of the system's class. Notifying
/// the client of a redirect crashes the process.
extension BackingLoad {
    /// The recipient of the body, if known: a delegate or a completion handler.
    struct Receiver {
        /// True once a part other than the last has been delivered.
        var hasParts = false
        /// True once it is certain that a delegate receives the parts.
        var isDelegate = false

        /// True while a completion handler may need the body in one piece.
        var needsWhole: Bool { !isDelegate }
    }

    /// True if URL loading stops the load because the app suspended the task, even if the app has resumed the task
    /// since.
    var isOnlyPaused: Bool { owner?.task?.state == .suspended || canDeliver }

    /// True while the app's task is running.
    ///
    /// A suspended task receives its response when it is resumed; a cancelled task receives none.
    var canDeliver: Bool { owner?.task?.state == .running }

    func deliverBody(_ part: Data, isLast: Bool, as owner: URLProtocol) {
        if receiver.isDelegate || isLast && !receiver.hasParts {
            client?.urlProtocol(owner, didLoad: part)
        } else {
            receiver.isDelegate = deliverAndProbeForDelegate(part, as: owner)
            if receiver.isDelegate, incoming?.hasRoom(for: 0) != true { body = nil }
        }
        if !isLast { receiver.hasParts = true }
    }

    /// Delivers `body`, then an empty part, and returns true if a pending delegate call still holds `body`.
    private func deliverAndProbeForDelegate(_ body: Data, as owner: URLProtocol) -> Bool {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
        bytes.copyBytes(from: body)
        guard let start = bytes.baseAddress else { return false }
        do {
            let holder = Witness()
            witness = holder
            // `Data` stores up to 14 bytes inline and frees this buffer at once; such a part looks unused.
            let events = Data(
                bytesNoCopy: start,
                count: body.count,
                deallocator: .custom { start, _ in
                    withExtendedLifetime(holder) { start.deallocate() }
                }
            )
            client?.urlProtocol(owner, didLoad: events)
        }
        deliverBypassingDelegate(Data(), as: owner)
        return witness != nil
    }

    /// Delivers `body` to the client, but to no delegate.
    ///
    /// During the call the protocol's task is one that has no delegate.
    private func deliverBypassingDelegate(_ body: Data, as owner: URLProtocol) {
        let task = owner.task
        owner.task = LoadingQueue.idleTask
        client?.urlProtocol(owner, didLoad: body)
        owner.task = task
    }

    func deliverEnd(as owner: URLProtocol) {
        if receiver.hasParts, !receiver.isDelegate, let body { deliverBypassingDelegate(body, as: owner) }
        client?.urlProtocolDidFinishLoading(owner)
    }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        record { $0.completion = .challenge(challenge) }
        // Calling the handler here would deadlock: cancelling waits for the queue that this method runs on.
        session.enqueue { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    /// Finishes the load with the 401, from which Foundation creates a new challenge.
    ///
    /// The new challenge includes what the app's task knows of earlier challenges.
    func deliver(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) {
        client?.urlProtocolDidFinishLoading(owner)
    }
}
#endif
