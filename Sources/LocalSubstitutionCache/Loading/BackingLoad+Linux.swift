// Loading on Linux. BackingLoad+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// The serial queue on which Foundation on Linux calls the protocols of all sessions.
///
/// A backing session (the library's own session, which loads in place of a session of the app) calls its delegate on
/// this queue, too. There is only one such queue, so this value has no properties.
struct CallingContext {
    /// Runs `body` immediately; the caller is the delegate of a backing session, which runs on the queue already.
    func perform(_ body: () -> Void) { body() }

    /// Runs `body` later on the queue.
    ///
    /// This method can be called on any thread.
    func enter(_ body: @escaping @Sendable () -> Void) { LoadingQueue.shared.async(body) }
}

/// Delivery on Linux, where a completion handler receives only the last part of a body.
///
/// The client passes each part of a body on to the session's delegate. The client also stores the last part in the
/// protocol object. At the end it hands that part to a completion handler. No public API shows whether a task has a
/// delegate or a completion handler. So this object also collects the parts, and at the end it delivers the whole body
/// once more. During this delivery the protocol's task is replaced with a task that has no delegate. So the client
/// stores the whole body, but no delegate receives the body twice.
///
/// Most bodies need not be collected for long, because a delegate can be detected:
/// - Each part is delivered in a buffer whose deallocation can be observed. The client stores the part, and queues a
///   call of the delegate if there is one.
/// - Then an empty part is delivered to the client, but to no delegate. The client stores the empty part in place of
///   the earlier one.
/// - If the buffer still exists, only the queued call can hold it. So the task has a delegate, and no completion
///   handler.
///
/// If the app answers a challenge, Foundation restarts the task with a new instance of the system's class. From then on
/// the load no longer uses this library.
extension BackingLoad {
    /// The knowledge about the recipient of the body, which is a delegate or a completion handler.
    struct Receiver {
        /// True once a part other than the last has been delivered.
        var hasParts = false
        /// True once it is certain that a delegate receives the parts.
        var isDelegate = false

        /// True while a completion handler may need the body in one piece; as long as it is true, ``body`` is
        /// collected.
        var needsWhole: Bool { !isDelegate }
    }

    /// True if URL loading stops the load because the app has suspended its task.
    ///
    /// The app may have resumed the task before this property is read. So the property is also true for a running task.
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
            // If no archive keeps the body, the body is no longer needed. (There is room for 0 bytes unless the archive
            // refuses the body.)
            if receiver.isDelegate, fallback?.archived?.hasRoom(for: 0) != true { body = nil }
        }
        if !isLast { receiver.hasParts = true }
    }

    /// Delivers `body`, then an empty part, and returns true if a pending delegate call still holds `body`.
    private func deliverAndProbeForDelegate(_ body: Data, as owner: URLProtocol) -> Bool {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
        bytes.copyBytes(from: body)
        // Never nil: `allocate` returns an address for every size.
        guard let start = bytes.baseAddress else { return false }
        do {
            let holder = Witness()
            witness = holder
            // If there are at most 14 bytes, `Data` copies them and frees this buffer at once. In this case a delegate
            // is not detected, and the body is collected for longer than necessary.
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
    /// During the call the protocol's task is replaced with a task that has no delegate.
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
        // To cancel the backing task, Foundation waits for the queue on which this method runs. So calling the handler
        // here would deadlock.
        session.enqueue { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    /// Finishes the load with the 401 response; the client then creates a new challenge from the response head.
    ///
    /// The client has the head already: Foundation on Linux reports the head before it reports the challenge. The app's
    /// task counts the challenges that failed before, so the new challenge has the right count. If the app has no
    /// credential, the app should receive the 401 response, but Foundation up to 6.3 never finishes the task.
    func deliver(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) { deliverEnd(as: owner) }
}
#endif
