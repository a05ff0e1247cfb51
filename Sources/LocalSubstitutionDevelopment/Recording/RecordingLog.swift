import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An observer that records the requests of a cache in a file.
///
/// The file is written at most once a second, and also by ``save()``.
///
/// URL loading only waits until a step is appended to a list. At intervals, the queue takes a turn. It converts the
/// steps to entries of the file, and checks which tasks have ended. Then it writes the file if there is anything new.
///
/// A load has a separate entry if no file answers it, or if the network has responded. The entry is rewritten as more
/// becomes known. Responses from files have no separate entries: equal ones are counted in one entry. (In this file, an
/// entry belongs to the HAR file, unless it is called the manifest's entry.)
// The properties from `steps` to `hasEnded` are only accessed inside the lock. All others are only accessed on the
// queue.
final class RecordingLog: RequestObserver, @unchecked Sendable {
    private struct Step {
        let step: RequestStep
        /// The number of body bytes that were left out of this step because the queue did not keep up.
        let missingByteCount: Int
        let request: URLRequest
        /// The task, or an object that represents a page's load; nil for a page's request that a file answers.
        let asker: (any AnyObject & Sendable)?
        let date = Date()
        /// True if cookies go with the request, or with the next one after a redirect.
        let sendsCookies: Bool
    }

    /// The properties that responses from files must share to be counted in one entry.
    struct FileKey: Hashable {
        let method: String
        let url: String
        let file: String?
        let line: Int?
        let status: Int
    }

    /// A response from a file or an archived copy; a copy belongs to no substitution.
    typealias Answer = (response: URLResponse, byteCount: Int, substitution: Substitution?)

    private let lock = NSLock()
    private var steps: [Step] = []
    /// The number of bytes in the received parts and stored responses that the steps hold.
    private var heldBytes = 0
    /// The number of steps that were dropped.
    private var dropped = 0
    private var isScheduled = false
    /// True if an extra turn is scheduled, because the steps exceed `earlyLimits`.
    private var isEarlyTurnScheduled = false
    /// The end of the last scheduled turn.
    private var lastTurn = DispatchTime(uptimeNanoseconds: 0)
    /// The number of steps that the queue has processed, and of entries and parts of the file that it has written.
    private var progress = 0
    /// True once no more steps are recorded.
    private var hasEnded = false

    /// The queue of all work; internal so that tests can block it.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.recording", qos: .utility)
    private weak var cache: LocalSubstitutionCache?
    let file: RecordingFile
    /// True while the file belongs to another recording.
    private var isReplaced = false
    private let options: Recording.Options
    private var loads: [ObjectIdentifier: RecordedLoad] = [:]
    /// The tasks and other objects of forgotten loads, until they are released outside the queue.
    private var forgotten: [any AnyObject & Sendable] = []
    /// The text of each entry, in the order in which the entries were added.
    private(set) var entryTexts: [Data] = []
    private var size = 0
    /// The entries that count responses from files, with their indices in `entryTexts`.
    private(set) var files: [FileKey: (index: Int, entry: HAREntry)] = [:]
    private var changedFiles: Set<FileKey> = []
    private var hasNews = true
    private var runningSummary = RecordingSummary()

    init(_ cache: LocalSubstitutionCache, _ file: RecordingFile, _ options: Recording.Options) {
        (self.cache, self.file, self.options) = (cache, file, options)
    }

    // MARK: - Called on any thread

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        // Asked when the step happens, because the app may set or remove cookies before the queue's turn.
        let sendsCookies =
            switch step {
            case .asked, .offered, .received: request.sendsCookies
            case .redirected(_, let next): next.sendsCookies
            default: false
            }
        lock.withLock {
            guard !hasEnded else { return }
            guard steps.count < Self.hardLimits.steps else {
                dropped += 1
                return
            }
            var (step, missingByteCount) = (step, 0)
            if case .receivedPart(let part) = step {
                // If the queue does not keep up, hold only the length of the part.
                if heldBytes > Self.hardLimits.bytes { (step, missingByteCount) = (.receivedPart(Data()), part.count) }
                heldBytes += part.count - missingByteCount
            } else if case .stored(let response) = step {
                guard heldBytes <= Self.hardLimits.bytes else {
                    dropped += 1
                    return
                }
                heldBytes += response.data.count
            }
            steps.append(
                Step(
                    step: step,
                    missingByteCount: missingByteCount,
                    request: request,
                    asker: asker,
                    sendsCookies: sendsCookies
                )
            )
            if !isScheduled { schedule() }
            guard !isEarlyTurnScheduled, steps.count > Self.earlyLimits.steps || heldBytes > Self.earlyLimits.bytes
            else { return }
            isEarlyTurnScheduled = true
            queue.async { [self] in processSteps() }
        }
    }

    /// The limits on steps and their body bytes.
    ///
    /// Above `earlyLimits`, the queue takes an extra turn. Above `hardLimits`, steps or bytes are dropped.
    private static let (earlyLimits, hardLimits) = ((steps: 4_000, bytes: 4 << 20), (steps: 100_000, bytes: 32 << 20))

    /// The minimum time between two scheduled turns, and the minimum delay before a turn.
    ///
    /// During the delay, steps are collected for the turn.
    private static var pause: (between: DispatchTimeInterval, before: DispatchTimeInterval) {
        (.seconds(1), .milliseconds(50))
    }

    /// Schedules the next turn of the queue; called inside the lock.
    ///
    /// The turn writes the file if there is anything new.
    private func schedule() {
        isScheduled = true
        let turn = max(lastTurn + Self.pause.between, .now() + Self.pause.before)
        queue.asyncAfter(deadline: turn) { [self] in
            try? processAndWrite()
            lock.withLock {
                isScheduled = false
                lastTurn = .now()
                // Tasks do not report their end. So take turns until all loads have ended and are forgotten.
                if !steps.isEmpty || !loads.isEmpty { schedule() }
            }
        }
    }

    /// Processes the steps, and writes the file now if there is anything new.
    func save() throws { try queue.sync { try processAndWrite() } }

    /// Records no more steps, and writes the file now if there is anything new.
    func end() throws {
        lock.withLock { hasEnded = true }
        try queue.sync {
            defer { forget(where: { _ in true }) }
            try processAndWrite()
        }
    }

    /// Sets whether the file belongs to another recording; then this object does not write it.
    func setReplaced(_ isReplaced: Bool) { queue.sync { self.isReplaced = isReplaced } }

    /// Writes all new requests to the file before the process ends.
    ///
    /// If the queue gets no further during one `wait`, this method gives up.
    func saveBeforeExit(wait: (DispatchWorkItem) -> DispatchTimeoutResult = { $0.wait(timeout: .now() + 2) }) {
        let work = DispatchWorkItem { [self] in try? processAndWrite() }
        var last = currentProgress
        queue.async(execute: work)
        while wait(work) == .timedOut, currentProgress != last { last = currentProgress }
    }

    /// The progress of the queue; internal for tests.
    var currentProgress: Int { lock.withLock { progress } }

    private func advance() { lock.withLock { progress += 1 } }

    /// The summary of all requests so far.
    var summary: RecordingSummary {
        queue.sync {
            processSteps()
            var summary = runningSummary
            for load in loads.values { summary.addLoad(load) }
            return summary
        }
    }

    // MARK: - On the queue

    private func processAndWrite() throws(RecordingProblem) {
        processSteps()
        guard hasNews, !isReplaced else { return }
        var losses: [String] = []
        if runningSummary.omitted > 0 {
            losses.append("\(runningSummary.omitted) more were not recorded: the file has reached its limit.")
        }
        if let sentence = runningSummary.sentenceOnDroppedEvents { losses.append(sentence) }
        let comment = losses.isEmpty ? nil : losses.joined(separator: " ")
        let beginning = HAREntry.beginning(
            creator: HAREntry.creator,
            version: libraryVersion,
            comment: comment
        )
        var parts = [beginning]
        for text in entryTexts where !text.isEmpty { parts += [Data((parts.count == 1 ? "\n" : ",\n").utf8), text] }
        parts.append(HAREntry.end)
        do {
            try file.write(
                parts.lazy.map { part in
                    self.advance()
                    return part
                }
            )
            (hasNews, runningSummary.problem) = (false, nil)
        } catch {
            runningSummary.problem = "\(error)"
            throw error
        }
    }

    /// Converts the steps to entries, and checks which tasks have ended; does not write the file.
    private func processSteps() {
        let (steps, dropped) = lock.withLock {
            defer { (self.steps, self.dropped, heldBytes, isEarlyTurnScheduled) = ([], 0, 0, false) }
            return (self.steps, self.dropped)
        }
        runningSummary.droppedEvents += dropped
        for step in steps {
            process(step)
            advance()
        }
        let now = Date()
        for key in loads.sorted(by: { $0.value.began < $1.value.began }).map(\.key) {
            // URL loading does not report every redirect. When a task ends, its requests may show one.
            if let redirect = loads[key]?.checkForEnd(at: now) { appendEntry(of: redirect) }
            writeEntry(of: key)
            advance()
        }
        // Forget a load one second after its end: until then, URL loading may still pass the response to a cache.
        forget { $0.ending.map { abs(now.timeIntervalSince($0.date)) >= 1 } ?? false }
        // A higher count takes a few bytes more, and may exceed the limit.
        for key in changedFiles { if let known = files[key] { write(known.entry, at: known.index, within: .max) } }
        changedFiles = []
    }

    /// Forgets loads, and releases their tasks a little later.
    ///
    /// With a task, its delegate may be released. The delegate's `deinit` may call this object, so it must not run on
    /// the queue.
    private func forget(where isForgotten: (RecordedLoad) -> Bool) {
        for (key, load) in loads where isForgotten(load) {
            loads[key] = nil
            forgotten.append(load.asker)
            runningSummary.addLoad(load)
        }
        guard !forgotten.isEmpty else { return }
        DispatchQueue.global(qos: .utility).async { [self] in
            let released = queue.sync {
                defer { forgotten = [] }
                return forgotten
            }
            withExtendedLifetime(released) {}
        }
    }

    private func process(_ step: Step) {
        guard let asker = step.asker else {
            guard case .answered(let response, let byteCount, let substitution) = step.step else { return }
            runningSummary.requests += 1
            return countFileResponse(step.request, (response, byteCount, substitution), at: step.date)
        }
        let key = ObjectIdentifier(asker)
        if loads[key] == nil {
            switch step.step {
            // Every load begins with one of these steps.
            case .asked, .answered, .offered, .used: break
            // Any other step belongs to a load that is already forgotten, or whose first step was dropped.
            default: return forgotten.append(asker)
            }
            loads[key] = RecordedLoad(step.request, by: asker, at: step.date)
            runningSummary.requests += 1
        }
        let wasAnswered = loads[key]?.answer != nil
        let redirect = loads[key]?.apply(
            step.step,
            leaving: step.missingByteCount,
            of: step.request,
            sendsCookies: step.sendsCookies,
            at: step.date,
            largestBody: options.largestBody
        )
        if let redirect { appendEntry(of: redirect) }
        // For one task, the cache and then the protocol may report the same response: count it once. A load with a
        // separate entry is not counted here.
        guard !wasAnswered, let load = loads[key], let answer = load.answer, !load.needsEntry else { return }
        withdrawEntry(of: key)
        countFileResponse(load.request, answer, at: step.date)
    }

    // MARK: - Entries

    /// Counts a response for which the network was not queried: from a file, or from an archived copy.
    private func countFileResponse(_ request: URLRequest, _ given: Answer, at date: Date) {
        let (response, byteCount, _) = given
        runningSummary.addFileResponse(byteCount: byteCount)
        var answer = RecordedAnswer(given)
        let (method, url) = (request.httpMethod ?? "GET", Self.masked(request.url))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 200
        let key = FileKey(method: method, url: url, file: answer.file, line: answer.line, status: status)
        guard let known = files[key] else {
            let entry = HAREntry(
                date,
                // The entry counts several requests. Their header fields may differ, so the entry lists none of them.
                HAREntry.Request(method: method, url: url, headers: []),
                Self.response(response as? HTTPURLResponse, HAREntry.Content(size: byteCount, type: response.mimeType)),
                answer
            )
            if let index = append(entry) { files[key] = (index, entry) }
            return
        }
        answer.times.add(stated: known.entry.substitution?.times ?? 0)
        answer.bytes.add(stated: known.entry.substitution?.bytes ?? 0)
        files[key]?.entry.substitution = answer
        changedFiles.insert(key)
    }

    /// Writes a load's separate entry, as known so far, if the load needs one.
    private func writeEntry(of key: ObjectIdentifier) {
        guard let load = loads[key], load.needsRewrite, load.needsEntry else { return }
        loads[key]?.needsRewrite = false
        let url = Self.masked(load.request.url)
        let outsideResponse = load.outsideResponse
        var answer = RecordedAnswer(outsideResponse?.answerer ?? .nobody)
        if let given = load.answer {
            answer = RecordedAnswer(given)
        } else {
            explain(load.request, url, &answer)
            answer.bytes = load.length ?? 0
        }
        answer.ended = load.endingInWords
        if load.isPersonal { answer.isPersonal = true }
        let request = HAREntry.Request(
            method: load.request.httpMethod ?? "GET",
            url: url,
            headers: Self.fields(load.request.allHTTPHeaderFields ?? [:])
        )
        let seconds = load.ending?.date.timeIntervalSince(load.began) ?? 0
        let content = content(of: load, answer)
        let entry = HAREntry(
            load.began,
            lasting: seconds,
            request,
            Self.response(outsideResponse?.response, content),
            answer
        )
        var isOmitted = load.isOmitted
        if let index = load.index {
            if !write(entry, at: index) {
                // An entry that is not up to date would say that the load has not ended.
                withdrawEntry(of: key)
                isOmitted = true
                runningSummary.omitted += 1
            }
        } else if !isOmitted {
            let index = append(entry)
            isOmitted = index == nil
            loads[key]?.index = index
        }
        loads[key]?.isOmitted = isOmitted
        if load.ending != nil { loads[key]?.count = (answer, url, isOmitted) }
    }

    /// Removes a load's separate entry, if it has one: it was written before the answer was known.
    private func withdrawEntry(of key: ObjectIdentifier) {
        if let index = loads[key]?.index {
            size -= entryTexts[index].count
            entryTexts[index] = Data()
        }
        if loads[key]?.isOmitted == true { runningSummary.omitted -= 1 }
        loads[key]?.index = nil
        loads[key]?.isOmitted = false
        loads[key]?.count = nil
    }

    /// Adds an entry for the part of a load before a redirect.
    private func appendEntry(of redirect: RecordedLoad.Redirect) {
        let url = Self.masked(redirect.request.url)
        var answer = RecordedAnswer(.network)
        explain(redirect.request, url, &answer)
        if redirect.response == nil { answer.ended = "redirected, with a status that URL loading does not report" }
        let response = HAREntry.Response(
            status: redirect.response?.statusCode ?? 0,
            headers: Self.fields(redirect.response?.allHeaderFields as? [String: String] ?? [:]),
            content: HAREntry.Content(size: 0, type: redirect.response?.mimeType),
            redirectURL: Self.masked(redirect.next.url)
        )
        let request = HAREntry.Request(
            method: redirect.request.httpMethod ?? "GET",
            url: url,
            headers: Self.fields(redirect.request.allHTTPHeaderFields ?? [:])
        )
        append(HAREntry(redirect.began, request, response, answer))
        runningSummary.requests += 1
    }

    /// Adds to `answer` the reason why no file answers, and the manifest's entry that names the URL, if there is one.
    private func explain(_ request: URLRequest, _ url: String, _ answer: inout RecordedAnswer) {
        var asked = request
        // The explanation contains the URL, so explain the masked URL. An entry that names the URL with its secret is
        // then not found.
        asked.url = URL(string: url)
        guard let explanation = cache?.explain(asked) else { return }
        answer.reason = SecretMask.masked(text: explanation.description)
        (answer.file, answer.line) = (explanation.substitution?.file, explanation.substitution?.line)
    }

    private func content(of load: RecordedLoad, _ answer: RecordedAnswer) -> HAREntry.Content {
        let type = load.outsideResponse?.response.value(forHTTPHeaderField: "Content-Type")
        let size = load.length ?? 0
        var comment: String?
        if answer.isPersonal == true {
            comment = "it may be for one person"
        } else if load.request.httpMethod ?? "GET" != "GET" {
            if size > 0 { comment = "only the bodies of responses to GET are recorded" }
        } else if load.isBodyIncomplete {
            comment =
                size > options.largestBody
                ? "it has \(size) bytes, more than \(options.largestBody)" : "it came too fast to be recorded"
        } else if let body = load.wholeBody, !body.isEmpty {
            return HAREntry.Content(size: size, type: type, base64: body.base64EncodedString())
        } else if size > 0 {
            comment = "URL loading did not hand it over"
        }
        return HAREntry.Content(size: size, type: type, base64: nil, comment: comment)
    }

    private static func masked(_ url: URL?) -> String { SecretMask.masked(url?.absoluteString ?? "") }

    private static func fields(_ fields: [String: String]) -> [HAREntry.Field] {
        fields.sorted { $0.key < $1.key }.map { HAREntry.Field(name: $0.key, value: $0.value) }
    }

    private static func response(_ response: HTTPURLResponse?, _ content: HAREntry.Content) -> HAREntry.Response {
        let fields = fields(response?.allHeaderFields as? [String: String] ?? [:])
        return HAREntry.Response(status: response?.statusCode ?? 0, headers: fields, content: content)
    }

    // MARK: - The file's text

    /// The size of the file, in bytes, beyond which entries are written without their bodies.
    private var limitOfBodies: Int { options.limit / 4 * 3 }

    /// Adds an entry and returns its index.
    ///
    /// If the entry does not fit, this method counts its request as omitted, keeps nothing of it, and returns nil.
    @discardableResult
    private func append(_ entry: HAREntry) -> Int? {
        entryTexts.append(Data())
        if write(entry, at: entryTexts.count - 1) { return entryTexts.count - 1 }
        entryTexts.removeLast()
        runningSummary.omitted += 1
        return nil
    }

    /// Replaces an entry, and returns true, unless the new version does not fit.
    @discardableResult
    private func write(_ entry: HAREntry, at index: Int, within limit: Int? = nil) -> Bool {
        hasNews = true
        var entry = entry
        let rest = size - entryTexts[index].count
        if let body = entry.response.content.text, rest + body.utf8.count > limitOfBodies {
            entry.response.content.remove(because: "the recording has reached its limit")
        }
        guard let text = try? entry.json, rest + text.count <= limit ?? options.limit else { return false }
        entryTexts[index] = text
        size = rest + text.count
        return true
    }
}

extension RecordedAnswer {
    fileprivate init(_ given: RecordingLog.Answer) {
        self.init(given.substitution == nil ? .archive : .file)
        (file, line, bytes) = (given.substitution?.file, given.substitution?.line, given.byteCount)
    }
}
