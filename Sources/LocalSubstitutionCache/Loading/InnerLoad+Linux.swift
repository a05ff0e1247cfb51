// How Foundation on Linux loads. InnerLoad+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// The inner session calls its delegate where URL loading calls protocols: on the one queue of all sessions.
struct CallingThread {
    /// Runs `body`; called for the inner session.
    func perform(_ body: () -> Void) { body() }

    /// Runs `body` there, later; called anywhere.
    func enter(_ body: @escaping @Sendable () -> Void) { LoadingQueue.shared.async(body) }
}

/// The client passes each part of a body on to the session's delegate. But a task with a completion handler gets the
/// last part only, and no public API tells the two kinds of tasks apart. So the whole is collected as well, and told
/// again at the end: to the client alone, while the protocol seems to belong to another task.
///
/// Most bodies need not be collected for long. A part that is still in use after the client has been given something
/// else waits for a delegate, so that the task has no completion handler.
///
/// An answer to a challenge starts the task anew, in a protocol object of the system's. A client that is told of a
/// redirect ends the process.
extension InnerLoad {
    /// Who gets the body, as far as that is known.
    struct Receiver {
        /// Whether a part was told.
        var hasParts = false
        /// Whether it is certain that a delegate gets the parts.
        var isDelegate = false

        /// Whether somebody may need the body in one piece.
        var needsWhole: Bool { !isDelegate }
    }

    /// Whether the load is stopped because the app suspended its task, which it may have resumed meanwhile.
    var isOnlyPaused: Bool { owner?.task?.state == .suspended || canTell }

    /// A suspended task gets its answer when it is resumed, and a cancelled task gets none.
    var canTell: Bool { owner?.task?.state == .running }

    func tellBody(_ part: Data, isLast: Bool, as owner: URLProtocol) {
        if receiver.isDelegate || isLast && !receiver.hasParts {
            client?.urlProtocol(owner, didLoad: part)
        } else {
            receiver.isDelegate = isKept(part, as: owner)
            if receiver.isDelegate, incoming?.hasRoom(for: 0) != true { body = nil }
        }
        if !isLast { receiver.hasParts = true }
    }

    /// Tells `body`; returns whether somebody keeps it although the client has got something else meanwhile.
    private func isKept(_ body: Data, as owner: URLProtocol) -> Bool {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
        bytes.copyBytes(from: body)
        guard let start = bytes.baseAddress else { return false }
        do {
            let holder = Witness()
            witness = holder
            // Fewer than 15 bytes Foundation puts into the value, and lets go of these.
            let told = Data(
                bytesNoCopy: start,
                count: body.count,
                deallocator: .custom { start, _ in
                    withExtendedLifetime(holder) { start.deallocate() }
                }
            )
            client?.urlProtocol(owner, didLoad: told)
        }
        tellClientAlone(Data(), as: owner)
        return witness != nil
    }

    /// Gives the client a body that it passes on to nobody: the task that it seems to be for has no delegate.
    private func tellClientAlone(_ body: Data, as owner: URLProtocol) {
        let task = owner.task
        owner.task = LoadingQueue.idleTask
        client?.urlProtocol(owner, didLoad: body)
        owner.task = task
    }

    func tellEnd(as owner: URLProtocol) {
        if receiver.hasParts, !receiver.isDelegate, let body { tellClientAlone(body, as: owner) }
        client?.urlProtocolDidFinishLoading(owner)
    }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        add { $0.last = .challenge(challenge) }
        // Not here, where Foundation waits for the very queue that it cancels on.
        session.command { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    /// Foundation makes a challenge of its own out of a 401, with what the task knows of earlier ones.
    func tell(_ challenge: URLAuthenticationChallenge, as owner: URLProtocol) {
        client?.urlProtocolDidFinishLoading(owner)
    }
}
#endif
