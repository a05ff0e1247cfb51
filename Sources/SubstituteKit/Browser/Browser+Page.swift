import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension Browser {
    /// Loads a page, and waits until nothing has been loading for half a second.
    ///
    /// - Throws: ``ToolError`` if no part of the page was received within the timeout.
    func load(_ url: String, _ manner: LoadOptions = LoadOptions()) async throws {
        let deadline = DispatchTime.now() + settings.limit + manner.pause
        do {
            try await navigate(to: url)
            try await waitUntilLoaded(until: deadline)
            if isLoaded { try await finish(manner, until: deadline) }
        } catch  where isClosed {
            // The user has closed the window.
            return
        }
        guard .now() >= deadline else { return }
        let unfinished = traffic.unfinished
        let rest = unfinished.prefix(3).map { shortened($0, limit: 119) }.joined(separator: ", ")
        report(
            "\(shortened(url)) was not finished after \(counted(Int(settings.limit), "second"))"
                + (unfinished.isEmpty ? "" : "; still loading: \(rest)")
                + (unfinished.count > 3 ? " and \(unfinished.count - 3) more" : "")
        )
    }

    /// Waits for the page's load event.
    ///
    /// If the event fires immediately in a new process, the browser does not always report it. This function therefore
    /// also queries the page's state now and then.
    private func waitUntilLoaded(until deadline: DispatchTime) async throws {
        while !isLoaded, .now() < deadline {
            for _ in 0..<10 where !isLoaded { try await pause() }
            if isLoaded { return }
            // A page that is navigating, or busy, does not answer.
            if (try? await value(of: "document.readyState", String.self, within: 2)) == "complete" { isLoaded = true }
        }
    }

    private func finish(_ manner: LoadOptions, until deadline: DispatchTime) async throws {
        try await settle(until: deadline)
        if manner.scrolls {
            try await scroll(until: deadline)
            try await settle(until: deadline)
        }
        let end = DispatchTime.now() + manner.pause
        while .now() < end { try await pause() }
        if manner.pause > 0 { try await settle(until: deadline) }
    }

    private func navigate(to url: String) async throws {
        struct Navigation: Decodable {
            let errorText: String?
            let isDownload: Bool?
        }
        (isLoaded, status) = (false, nil)
        traffic.reset()
        let answer: Navigation
        do {
            // The user may have to type a password first.
            let limit = settings.hasWindow ? 24 * 3600 : settings.limit
            answer = try await devTools.run("Page.navigate", ["url": url], in: page?.session, within: limit)
        } catch DevTools.Failure.silent {
            throw failure
                ?? ToolError(
                    "\(shortened(url)) did not answer within \(counted(Int(settings.limit), "second"))"
                )
        }
        // The user has opened another page meanwhile.
        if settings.hasWindow, answer.errorText == "net::ERR_ABORTED" { return }
        if answer.isDownload == true { throw ToolError("\(shortened(url)) is a download, not a page") }
        if let error = answer.errorText {
            throw ToolError("\(shortened(url)) could not be loaded: \(Self.reason(error))")
        }
    }

    /// Returns an explanation of a browser's error, as a clause.
    static func reason(_ error: String) -> String {
        let name = error.replacingOccurrences(of: "net::", with: "")
        let words =
            switch name {
            case "ERR_NAME_NOT_RESOLVED": "its server was not found"
            case "ERR_CONNECTION_REFUSED", "ERR_ADDRESS_UNREACHABLE", "ERR_INTERNET_DISCONNECTED":
                "its server cannot be reached"
            case "ERR_CONNECTION_TIMED_OUT", "ERR_TIMED_OUT": "its server sent nothing"
            case "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_CLOSED", "ERR_CONNECTION_RESET":
                "its server closed the connection"
            case "ERR_TOO_MANY_REDIRECTS": "it is redirected too many times"
            case _ where name.hasPrefix("ERR_CERT"): "its server cannot be trusted"
            default: "the browser gave up"
            }
        return "\(words) (\(visible(name)))"
    }

    /// Waits until no load is in flight and the fonts are ready.
    private func settle(until deadline: DispatchTime) async throws {
        while !traffic.isQuiet(for: 0.5), .now() < deadline { try await pause() }
        if .now() < deadline { _ = try? await value(of: "document.fonts.ready.then(() => true)", Bool.self) }
    }

    /// Scrolls from the top to the bottom, and back.
    private func scroll(until deadline: DispatchTime) async throws {
        // The number of steps is limited, because some pages grow without end.
        for _ in 0..<100 where .now() < deadline {
            let isMore = try await value(
                of:
                    "(scrollBy(0, innerHeight * 0.8), scrollY + innerHeight + 1 < document.documentElement.scrollHeight)",
                Bool.self
            )
            // Intersection observers, and scripts that wait for the end of scrolling, need time to run between two
            // steps.
            try await Task.sleep(nanoseconds: 100_000_000)
            if !isMore { break }
        }
        _ = try? await value(of: "(scrollTo(0, 0), true)", Bool.self)
        try await Task.sleep(nanoseconds: 100_000_000)
    }

    /// Evaluates an expression in an isolated world, which the page's scripts cannot change.
    ///
    /// - Throws: ``ToolError`` if the page does not answer.
    func value<Value: Decodable>(
        of expression: String,
        _ type: Value.Type,
        within seconds: Double = DevTools.patience
    ) async throws -> Value {
        let session = page?.session
        let patience = min(seconds, settings.limit)
        do {
            let tree: Tree = try await devTools.run("Page.getFrameTree", in: session, within: patience)
            let world: World = try await devTools.run(
                "Page.createIsolatedWorld",
                ["frameId": tree.frameTree.frame.id, "worldName": "substitute"],
                in: session,
                within: patience
            )
            let evaluation: Evaluation<Value> = try await devTools.run(
                "Runtime.evaluate",
                [
                    "expression": expression, "contextId": world.executionContextId, "awaitPromise": true,
                    "returnByValue": true,
                ],
                in: session,
                within: patience
            )
            return evaluation.result.value
        } catch DevTools.Failure.silent {
            throw failure ?? ToolError("the page does not answer: one of its scripts never ends")
        }
    }

    /// Evaluates an expression in the page itself; only for pages that the tool has written.
    ///
    /// - Throws: ``ToolError`` if the evaluation takes longer than a minute.
    func evaluate<Value: Decodable & Sendable>(_ expression: String, _ type: Value.Type) async throws -> Value {
        do {
            let evaluation: Evaluation<Value> = try await devTools.run(
                "Runtime.evaluate",
                ["expression": expression, "awaitPromise": true, "returnByValue": true],
                in: page?.session,
                within: 60
            )
            return evaluation.result.value
        } catch DevTools.Failure.silent {
            throw ToolError("the pictures could not be compared within a minute")
        }
    }

    /// Evaluates an expression in the page itself, and ignores its value.
    func evaluate(_ expression: String) async throws {
        try await devTools.run("Runtime.evaluate", ["expression": expression], in: page?.session, within: 60)
    }

    /// Runs a command in the page's session.
    func run<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        _ type: Result.Type = Result.self
    ) async throws -> Result {
        try await devTools.run(method, parameters, in: page?.session, within: settings.limit)
    }

    /// Waits until the user has closed every page.
    ///
    /// - Throws: ``ToolError`` if the browser ends by itself.
    func waitUntilClosed() async throws {
        while !isClosed {
            if let failure { throw failure }
            try await Task.sleep(nanoseconds: 100_000_000)
        }
    }

    /// Waits for 20 milliseconds.
    ///
    /// - Throws: The error after which the page can no longer be used, if there is one.
    func pause() async throws {
        if let failure { throw failure }
        try await Task.sleep(nanoseconds: 20_000_000)
    }
}

private struct Tree: Decodable {
    struct Node: Decodable {
        struct Frame: Decodable { let id: String }
        let frame: Frame
    }
    let frameTree: Node
}

private struct World: Decodable { let executionContextId: Int }

private struct Evaluation<Value: Decodable>: Decodable {
    struct Object: Decodable { let value: Value }
    let result: Object
}
