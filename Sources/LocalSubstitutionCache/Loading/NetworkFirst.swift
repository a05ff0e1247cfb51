package import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The decisions about one load that asks the network first.
///
/// A driver reports each event of the network in the order in which it happens, and does what the decision says. This
/// value does no I/O and knows no thread, so every driver decides alike.
package struct NetworkFirst {
    /// The driver's reaction to an event.
    package enum Decision {
        /// The app receives the event.
        case passOn
        /// This response replaces the network's, which the driver stops; no event follows.
        case replace(with: Fallback.Answer)
        /// The app does not learn of the event.
        case ignore
    }

    /// The time within which the network must send a head.
    package struct Patience: Equatable, Sendable {
        package let seconds: Int
        /// The number of entries that the load has been redirected to.
        fileprivate let turn: Int

        /// Calls `body` on any thread when the time has passed.
        package func wait(then body: @escaping @Sendable (Patience) -> Void) {
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { body(self) }
        }
    }

    private enum Stage {
        /// The network has sent no head.
        case waiting
        /// The network's response is being delivered, and nothing replaces it.
        case answering
        /// The load has ended or was stopped.
        case ended
    }

    private var stage = Stage.waiting
    private var fallback: Fallback?
    /// True once the user was asked for a credential; the load then waits for the user.
    private var isUserAsked = false
    /// The body so far; nil if no archive keeps it.
    private var body: Data?
    /// Reports the steps of the load; nil without an observer.
    package var observed: ObservedLoad?

    package init(_ fallback: Fallback?, _ observed: ObservedLoad?) {
        (self.fallback, self.observed) = (fallback, observed)
    }

    package var hasHead: Bool { stage == .answering }
    package var hasEnded: Bool { stage == .ended }
    /// True once a part of the body was noted.
    package private(set) var hasPart = false

    /// The time that the entry gives the network now; nil if no file answers after a silence.
    package var patience: Patience? {
        guard let fallback, let seconds = fallback.patience, !isUserAsked else { return nil }
        return Patience(seconds: seconds, turn: fallback.redirects)
    }

    /// Returns whether the network would be replaced after an outcome.
    package func canReplace(after outcome: NetworkOutcome) -> Bool {
        stage == .waiting && fallback?.answer(after: outcome) != nil
    }

    /// Notes a response's head; one below 200 is no head (RFC 9110 §15.2).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - isPersonal: True if a server on its way has asked for a credential.
    ///   - isDelivered: True if the app may receive bytes of the body before this value learns of them.
    /// - Returns: The decision about the head.
    package mutating func head(_ response: URLResponse, isPersonal: Bool = false, isDelivered: Bool = false) -> Decision
    {
        guard stage != .ended, !(100..<200).contains(response.status) else { return .ignore }
        observed?.report(.received(response))
        if isPersonal { noteCredential() }
        // An archive keeps no mixture of two bodies.
        if stage == .answering { fallback?.archived?.refuse(.incomplete) }
        guard stage == .waiting else { return .passOn }
        if !isDelivered, let answer = fallback?.answer(after: .status(response.status)) { return replace(with: answer) }
        fallback?.archived?.receive(response)
        (stage, body) = (.answering, Data())
        return .passOn
    }

    /// Notes a part of the body; returns false if the app does not receive it.
    package mutating func part(_ data: Data) -> Bool {
        guard stage == .answering else { return false }
        observed?.report(.receivedPart(data))
        hasPart = true
        if fallback?.archived?.hasRoom(for: data.count) != true {
            body = nil
        } else if body?.isEmpty == true {
            // Unlike appending, this copies no bytes.
            body = data
        } else {
            body?.append(data)
        }
        return true
    }

    /// Notes why an archive cannot keep the body, unless it has been given to the archive.
    package func refuse(_ reason: MissingBody) { if stage != .ended { fallback?.archived?.refuse(reason) } }

    /// Notes the end of the response.
    ///
    /// - Returns: False if the load had ended before.
    package mutating func end() -> Bool {
        guard stage != .ended else { return false }
        stage = .ended
        fallback?.archived?.finish(body)
        return true
    }

    /// Notes a failure; one after a head passes on.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - again: Reports the failure again; see `replace(after:again:)`.
    /// - Returns: The decision about the failure.
    package mutating func failure(_ error: any Error, again: (@Sendable () -> Void)? = nil) -> Decision {
        guard stage != .ended else { return .ignore }
        if error.meansOffline, let decision = replace(after: .offline, again: again) { return decision }
        stage = .ended
        return .passOn
    }

    /// Notes a redirect, which starts the patience of the target's own entry.
    ///
    /// - Parameters:
    ///   - response: The redirect; nil if URL loading does not show it.
    ///   - next: The request that follows; nil if the app refuses it. The redirect itself then is the response, which
    ///     nothing replaces even if the load fails.
    ///   - isPersonal: True if a server on its way has asked for a credential.
    ///   - isReported: True if the observers learn of the redirect.
    /// - Returns: The decision about the redirect.
    package mutating func redirect(
        _ response: HTTPURLResponse?,
        to next: URLRequest?,
        isPersonal: Bool = false,
        isReported: Bool = true
    ) -> Decision {
        guard stage == .waiting else { return .ignore }
        guard let next else {
            fallback = nil
            return .passOn
        }
        if isPersonal { noteCredential() }
        if let response, isReported { observed?.reportRedirect(response, to: next) }
        return fallback?.answer(redirectedTo: next, by: response).map { replace(with: $0) } ?? .passOn
    }

    /// Notes that a patience has passed; `again` reports this again: see `replace(after:again:)`.
    package mutating func silence(_ patience: Patience, again: (@Sendable () -> Void)? = nil) -> Decision {
        guard patience == self.patience else { return .ignore }
        return replace(after: .silence(seconds: patience.seconds), again: again) ?? .ignore
    }

    /// Notes that a server asks for a credential, so the response may be for one user.
    package func noteCredential() {
        fallback?.archived?.refuse(.challenged)
        observed?.report(.challenged)
    }

    /// Notes a challenge; if it passes on, the user is asked for a credential.
    package mutating func challenge(_ refusal: URLResponse?) -> Decision {
        guard stage != .ended else { return .ignore }
        // The file replaces a 401 that `when` lists before the user is asked for a password.
        if let refusal, canReplace(after: .status(refusal.status)) { return head(refusal, isPersonal: true) }
        isUserAsked = true
        return .passOn
    }

    /// Ends the load; nothing is passed on afterwards.
    package mutating func stop() { stage = .ended }

    /// Decides after an outcome without a head; nil if nothing replaces the network.
    ///
    /// Before an archived copy answers, it is read. With `again`, this happens on a queue of the archive: the decision
    /// is to ignore the event, which `again` reports once more.
    private mutating func replace(after outcome: NetworkOutcome, again: (@Sendable () -> Void)?) -> Decision? {
        guard stage == .waiting else { return nil }
        if let again, fallback?.archived?.readCopy(then: again) == true { return .ignore }
        return fallback?.answer(after: outcome).map { replace(with: $0) }
    }

    private mutating func replace(with answer: Fallback.Answer) -> Decision {
        stage = .ended
        observed?.report(answer.response, from: answer.substitution)
        return .replace(with: answer)
    }
}
