import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

extension Browser {
    /// Loads a page, and waits until nothing has been loading, and no script has been busy, for half a second.
    ///
    /// If this does not happen before the timeout, ``incompleteness`` says so afterwards.
    ///
    /// - Throws: ``ToolError`` if no part of the page was received within the timeout.
    func load(_ url: String, _ manner: LoadOptions = LoadOptions()) async throws {
        let deadline = DispatchTime.now() + settings.limit + manner.pause
        incompleteness = nil
        var isFinished = false
        do {
            try await navigate(to: url)
            try await waitUntilLoaded(until: deadline)
            if isLoaded { isFinished = try await finish(manner, until: deadline) }
        } catch  where isClosed {
            // The user has closed the window.
            return
        }
        if isFinished { return }
        let unfinished = traffic.unfinished
        let rest = unfinished.prefix(3).map { shortened($0, limit: 119) }.joined(separator: ", ")
        let sentence =
            "\(shortened(url)) was not finished after \(counted(Int(settings.limit + manner.pause), "second"))"
            + (unfinished.isEmpty ? "; it is still busy" : "; still loading: \(rest)")
            + (unfinished.count > 3 ? " and \(unfinished.count - 3) more" : "")
        incompleteness = sentence
        report(sentence)
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

    /// Returns true if the page came to rest before the deadline.
    private func finish(_ manner: LoadOptions, until deadline: DispatchTime) async throws -> Bool {
        var isQuiet = try await settle(until: deadline)
        if manner.scrolls {
            try await scroll(until: deadline)
            isQuiet = try await settle(until: deadline)
        }
        let end = DispatchTime.now() + manner.pause
        while .now() < end { try await pause() }
        return manner.pause > 0 ? try await settle(until: deadline) : isQuiet
    }

    private func navigate(to url: String) async throws {
        struct Navigation: Decodable {
            let errorText: String?
            let isDownload: Bool?
        }
        (isLoaded, isPageAbandoned, status) = (false, false, nil)
        traffic.reset()
        if hasUserInformation(url) { traffic.protect(url) }
        let answer: Navigation
        do {
            // The user may have to type a password first.
            let limit = settings.hasWindow ? 24 * 3600 : settings.limit
            answer = try await devTools.run("Page.navigate", ["url": url], in: page?.session, within: limit)
        } catch DevTools.Failure.silent {
            let words = "\(shortened(url)) did not answer within \(counted(Int(settings.limit), "second"))"
            throw failure ?? ToolError(words)
        }
        // The user has opened another page meanwhile.
        if settings.hasWindow, answer.errorText == "net::ERR_ABORTED" { return }
        if answer.isDownload == true { throw ToolError("\(shortened(url)) is a download, not a page") }
        if let error = answer.errorText {
            if isPageAbandoned { throw ToolError("\(shortened(url)) could not be loaded: \(EndlessBody.reason)") }
            throw ToolError("\(shortened(url)) could not be loaded: \(Self.reason(error))")
        }
    }

    /// Returns an explanation of a browser's error, as a clause.
    static func reason(_ error: String) -> String {
        let name = error.replacingOccurrences(of: "net::", with: "")
        return "\(LoadProblem.browser.words(name) ?? "the browser gave up") (\(visible(name)))"
    }

    /// The time in seconds for which a page must be at rest.
    private static let rest = 0.5
    /// The time in seconds within which an idle page or worker answers a command.
    private static let promptness = 0.2

    /// Waits until no load is in flight, no script is computing, and the fonts are ready.
    ///
    /// A page that computes begins its next load only afterwards. So the time at rest is counted from the last answer
    /// that was late.
    ///
    /// - Returns: False if the page did not come to rest before the deadline.
    private func settle(until deadline: DispatchTime) async throws -> Bool {
        var (start, scripts) = (DispatchTime.now(), [String: ScriptTime]())
        while .now() < deadline {
            let asked = DispatchTime.now()
            async let delay = ownDelay()
            let latest = await scriptTimes(until: deadline)
            let late = DispatchTime.now().seconds(after: asked)
            // On a busy machine, the browser itself answers late, too.
            let own = await delay
            var isBusy = late > Self.promptness + 2 * own
            for (session, time) in latest {
                guard let first = scripts[session] else {
                    scripts[session] = time
                    continue
                }
                guard let share = time.share(since: first) else { continue }
                // A page that computes in short steps answers at once. The busier the machine, the longer it waits
                // between its steps, as the browser does before its own answer.
                if share > 0.75 / (1 + 20 * own) { isBusy = true }
                scripts[session] = time
            }
            if isBusy { start = .now() }
            await endDropped(stalledFor: Self.rest)
            if .now() >= start + Self.rest, traffic.isQuiet(for: Self.rest) {
                let rest = max(0.1, deadline.seconds(after: .now()))
                _ = try? await value(of: "document.fonts.ready.then(() => true)", Bool.self, within: rest)
                if traffic.isQuiet(for: Self.rest) { return .now() < deadline }
            }
            for _ in 0..<3 { try await pause() }
        }
        return false
    }

    /// Returns the time in seconds that the browser itself takes to answer a command.
    private func ownDelay() async -> Double {
        let asked = DispatchTime.now()
        try? await devTools.run("Browser.getVersion")
        return DispatchTime.now().seconds(after: asked)
    }

    /// Waits until the page, its frames and its workers have answered a command.
    ///
    /// - Returns: The times that the scripts of the page and of its frames have run, keyed by session.
    private func scriptTimes(until deadline: DispatchTime) async -> [String: ScriptTime] {
        // A frame or worker may have ended meanwhile; then no answer comes.
        let rest = min(2, max(0.1, deadline.seconds(after: .now())))
        return await withTaskGroup(of: (String, ScriptTime?).self) { [devTools, documents] group in
            for session in documents.union(workers) {
                group.addTask {
                    try? await devTools.run("Runtime.evaluate", ["expression": "0"], in: session, within: rest)
                    guard documents.contains(session) else { return (session, nil) }
                    return (session, try? await devTools.run("Performance.getMetrics", in: session, within: rest))
                }
            }
            var times: [String: ScriptTime] = [:]
            for await (session, time) in group { times[session] = time }
            return times
        }
    }

    /// Scrolls from the top to the bottom, and back.
    private func scroll(until deadline: DispatchTime) async throws {
        // The number of steps is limited, because some pages grow without end.
        for _ in 0..<100 where .now() < deadline {
            let step =
                "(scrollBy(0, innerHeight * 0.8), scrollY + innerHeight + 1 < document.documentElement.scrollHeight)"
            let isMore = try await value(of: step, Bool.self)
            // Intersection observers, and scripts that wait for the end of scrolling, need time to run between two
            // steps.
            try await Task.sleep(nanoseconds: 100_000_000)
            if !isMore { break }
        }
        _ = try? await value(of: "(scrollTo(0, 0), true)", Bool.self)
        try await Task.sleep(nanoseconds: 100_000_000)
    }

    /// Evaluates an expression in the page.
    ///
    /// - Parameters:
    ///   - expression: The expression; a promise is awaited.
    ///   - type: The type of the value.
    ///   - seconds: The timeout.
    ///   - isIsolated: True for an isolated world, which the page's scripts cannot change; false only for pages that
    ///     the tool has written.
    /// - Returns: The value.
    /// - Throws: ``ToolError`` if the page does not answer.
    @discardableResult
    func value<Value: Decodable & Sendable>(
        of expression: String,
        _ type: Value.Type,
        within seconds: Double = DevTools.patience,
        isIsolated: Bool = true
    ) async throws -> Value {
        let session = page?.session
        let patience = isIsolated ? min(seconds, settings.limit) : seconds
        var parameters: [String: any Sendable] = [
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        ]
        do {
            if isIsolated {
                let tree: Tree = try await devTools.run("Page.getFrameTree", in: session, within: patience)
                let world: World = try await devTools.run(
                    "Page.createIsolatedWorld",
                    ["frameId": tree.frameTree.frame.id, "worldName": "substitute"],
                    in: session,
                    within: patience
                )
                parameters["contextId"] = world.executionContextId
            }
            let evaluation: Evaluation<Value> = try await devTools.run(
                "Runtime.evaluate",
                parameters,
                in: session,
                within: patience
            )
            return evaluation.result.value
        } catch DevTools.Failure.silent {
            throw failure ?? ToolError(incompleteness ?? "the page does not answer; it is busy")
        }
    }

    /// Runs a command in the page's session.
    func run<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:],
        _ type: Result.Type = Result.self
    ) async throws -> Result {
        try await devTools.run(method, parameters, in: page?.session, within: settings.limit)
    }

    /// Loads the page again.
    func reload() async throws { try await devTools.run("Page.reload", ["ignoreCache": true], in: page?.session) }

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

/// The time that a page's scripts have run, from `Performance.getMetrics`.
private struct ScriptTime: Decodable, Sendable {
    private struct Metric: Decodable {
        let name: String
        let value: Double
    }

    private enum CodingKeys: CodingKey { case metrics }

    /// The times in seconds.
    private let (running, now): (Double, Double)

    init(from decoder: any Decoder) throws {
        let metrics = try decoder.container(keyedBy: CodingKeys.self).decode([Metric].self, forKey: .metrics)
        let value = { name in metrics.first { $0.name == name }?.value ?? 0 }
        // The callbacks of promises count as other tasks. Styles and layout have their own names.
        (running, now) = (value("ScriptDuration") + value("TaskOtherDuration"), value("Timestamp"))
    }

    /// Returns the share of the time that scripts have run since an earlier measurement; nil if that was just now.
    func share(since first: ScriptTime) -> Double? {
        now > first.now + 0.3 ? (running - first.running) / (now - first.now) : nil
    }
}

extension DispatchTime {
    func seconds(after start: DispatchTime) -> Double {
        (Double(uptimeNanoseconds) - Double(start.uptimeNanoseconds)) / 1e9
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
