import Foundation
import LocalSubstitutionCache

extension Browser {
    func decide(on held: HeldRequest) async {
        let decision: Decision
        if held.hasOutcome {
            decision = await interceptor.decide(on: held) { [self] in try await body(of: held) }
        } else {
            decision = await interceptor.decide(on: held)
        }
        var parameters: [String: any Sendable] = ["requestId": held.requestId]
        // The browser does not hold a request again once it has an outcome or an answer.
        var isFinal = held.hasOutcome
        switch decision {
        case .proceed: try? await devTools.run("Fetch.continueRequest", parameters)
        case .proceedWith(let fields):
            parameters["headers"] = fields.map { ["name": $0.key, "value": $0.value] }
            try? await devTools.run("Fetch.continueRequest", parameters)
        case .answer(let status, let fields, let body):
            isFinal = true
            parameters["responseCode"] = status
            parameters["responseHeaders"] = fields.map { ["name": $0.name, "value": $0.value] }
            parameters["body"] = body.base64EncodedString()
            try? await devTools.run("Fetch.fulfillRequest", parameters)
        }
        if isFinal { traffic.end(held.requestId) }
    }

    /// Ends stalled loads whose requests the browser has dropped.
    ///
    /// If a script aborts a load early, the browser does not report an end by which the load can be recognised.
    func endDropped(stalledFor seconds: Double) async {
        // While a body is being read, the command would return it once more.
        for request in traffic.stalled(for: seconds) where !bodies.contains(request) {
            do {
                try await devTools.run("Fetch.getResponseBody", ["requestId": request], within: 2)
            } catch DevTools.Failure.refused(let words) {
                if words == "Invalid InterceptionId." { traffic.end(request) }
            } catch { return }
        }
    }

    /// A body was abandoned, because it made the browser too large.
    struct EndlessBody: Error {
        /// The reason, as a clause.
        static let reason = "it was stopped: it came without its length, and the browser needed too much memory"
    }

    /// Returns a response's body in base64.
    ///
    /// - Throws: ``EndlessBody``, or ``DevTools/Failure``.
    private func body(of held: HeldRequest) async throws -> String {
        struct Body: Decodable {
            let body: String
            let base64Encoded: Bool
        }
        bodies.insert(held.requestId)
        defer { bodies.remove(held.requestId) }
        let reading = Task { [devTools, limit = settings.limit, id = held.requestId] in
            let body: Body = try await devTools.run("Fetch.getResponseBody", ["requestId": id], within: limit)
            return body.base64Encoded ? body.body : Data(body.body.utf8).base64EncodedString()
        }
        // The browser holds the whole body, and does not tell how much has come.
        if held.plainLength == nil {
            unbounded.append((held, reading))
            if unbounded.count == 1 { Task { await watchMemory() } }
        }
        defer { unbounded.removeAll { $0.held.requestId == held.requestId } }
        do {
            return try await reading.value
        } catch {
            guard held.plainLength == nil else { throw error }
            guard unbounded.contains(where: { $0.held.requestId == held.requestId }) else { throw EndlessBody() }
            if case DevTools.Failure.silent = error {
                // The browser would go on reading, without a limit.
                try? await devTools.run("Fetch.failRequest", ["requestId": held.requestId, "errorReason": "TimedOut"])
            }
            throw error
        }
    }

    /// Abandons bodies of unknown length, the oldest first, while they make the browser too large.
    private func watchMemory() async {
        guard let start = process.memory else { return }
        let limit = start + settings.maximumBody + 100_000_000
        while !unbounded.isEmpty {
            if let memory = process.memory, memory > limit, let (held, reading) = unbounded.first {
                unbounded.removeFirst()
                if held.resourceType == "Document", held.frameId == page?.target { isPageAbandoned = true }
                // Before the reading ends: a request that is continued first can no longer be failed.
                try? await devTools.run("Fetch.failRequest", ["requestId": held.requestId, "errorReason": "Aborted"])
                reading.cancel()
                // The browser needs some time to release the memory.
                try? await Task.sleep(nanoseconds: 200_000_000)
            }
            try? await Task.sleep(nanoseconds: 50_000_000)
        }
    }

    func answerPassword(_ event: DevTools.Event) async {
        guard let request: String = event["requestId"], let url: String = event["request", "url"] else { return }
        traffic.protect(url)
        // Without a window, no user can type a password.
        if !settings.hasWindow { report("\(shortened(url)) asks for a password", isEvent: true) }
        let response = ["response": settings.hasWindow ? "Default" : "CancelAuth"]
        let parameters: [String: any Sendable] = ["requestId": request, "authChallengeResponse": response]
        try? await devTools.run("Fetch.continueWithAuth", parameters)
    }
}
