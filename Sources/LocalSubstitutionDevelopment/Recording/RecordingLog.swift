import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An observer that records the requests of a cache in a file.
///
/// URL loading only waits until a step is appended to a list. A load is written once, when it is over. Equal answers of
/// files are counted in one entry, and so are all requests to an unnamed host.
// All state but the list of steps is only accessed on the queue. There an object of the app may be released, whose
// `deinit` may call this object. So loads are released only where no state is being changed.
final class RecordingLog: RequestObserver, @unchecked Sendable {
    /// The facts that requests counted in one entry share; without a method, all requests to a host.
    private struct Key: Hashable {
        let url: String
        var method: String?
        var file: String?
        var line: Int?
        var status = 0
    }

    /// Requests that are counted in one entry.
    private struct Count {
        var first: RecordedRequest
        var methods: [String: Int] = [:]
        var statuses: [String: Int] = [:]
        /// The entry; nil if it is out of date.
        var text: Data?
    }

    private struct Step: Sendable {
        let step: RequestStep
        let request: URLRequest
        let asker: (any AnyObject & Sendable)?
        let date = Date()
    }

    /// The steps that the queue has not processed.
    private let steps = Locked<[Step]>([])
    /// The queue of all work; internal for tests.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.recording", qos: .utility)
    private let ownQueue = DispatchSpecificKey<ObjectIdentifier>()
    private weak var cache: SubstitutionCache?
    let file: RecordingFile
    private var options: Recording.Options
    private var hasEnded = false
    private var loads: [ObjectIdentifier: RecordedLoad] = [:]
    /// The text of each separate entry.
    private var texts: [Data] = []
    private var counts: [Key: Count] = [:]
    /// The size of the entries in bytes; a higher count may need a few bytes more.
    private var size = 0
    /// The hosts of a table's entries.
    private var manifest: (hosts: Set<String>, table: SubstitutionTable?) = ([], nil)
    /// The URLs that were shown for this manifest.
    private var shownURLs: [URL: ShownURL] = [:]
    private var (hasNews, isScheduled) = (true, false)
    private var runningSummary = RecordingSummary()

    init(_ cache: SubstitutionCache, _ file: RecordingFile, _ options: Recording.Options) {
        (self.cache, self.file, self.options) = (cache, file, options)
        self.options.hosts = Set(options.hosts.map { $0.lowercased() })
        queue.setSpecific(key: ownQueue, value: ObjectIdentifier(self))
    }

    // MARK: - Called on any thread

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        let step = Step(step: step, request: request, asker: asker)
        let isFirst = steps.withLock { steps in
            steps.append(step)
            return steps.count == 1
        }
        // Waking the queue for each step would take longer than the load of a file.
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in processSteps() } }
    }

    /// Writes all loads that have ended.
    func save() throws { try sync { try write { $0.ending != nil } } }

    /// Records no more steps, and writes all loads, also those in progress.
    func end() throws {
        try sync {
            defer { hasEnded = true }
            try write { _ in true }
        }
    }

    /// Does the same as ``save()`` before the process exits, within two seconds.
    func saveBeforeExit() {
        let work = DispatchWorkItem { [self] in try? write { _ in true } }
        queue.async(execute: work)
        _ = work.wait(timeout: .now() + 2)
    }

    /// The summary of all requests so far.
    var summary: RecordingSummary {
        sync {
            checkTasks()
            var summary = runningSummary
            for load in loads.values where load.ending != nil || load.answer != nil {
                add(load.result(limit: options.maximumBodySize), to: &summary)
            }
            return summary
        }
    }

    /// Ends the recording, because its file belongs to another one from now on.
    func leaveFile() {
        try? end()
        sync { hasNews = false }
    }

    /// Runs `body` on the queue, also if it is called there.
    private func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
        DispatchQueue.getSpecific(key: ownQueue) == ObjectIdentifier(self) ? try body() : try queue.sync(execute: body)
    }

    // MARK: - On the queue

    /// Schedules the next turn, which writes the file.
    private func schedule() {
        isScheduled = true
        queue.asyncAfter(deadline: .now() + 1) { [self] in
            isScheduled = false
            let now = Date()
            // Until a second after the end, URL loading may still pass the response to a cache.
            try? write { load in load.ending.map { abs(now.timeIntervalSince($0.date)) >= 1 } ?? false }
            // Tasks do not report their end.
            if !loads.isEmpty, !isScheduled { schedule() }
        }
    }

    private func processSteps() {
        let steps = steps.replace(with: [])
        if hasEnded || steps.isEmpty { return }
        for step in steps { process(step.step, step.request, step.asker, step.date) }
        if !isScheduled { schedule() }
    }

    private func process(
        _ step: RequestStep,
        _ request: URLRequest,
        _ asker: (any AnyObject & Sendable)?,
        _ date: Date
    ) {
        guard let asker else {
            guard case .answered(let response, let byteCount, let substitution) = step else { return }
            let answer = (response, byteCount, substitution)
            runningSummary.requestCount += 1
            return write(RecordedRequest(request: request, began: date, answeredBy: answer))
        }
        let key = ObjectIdentifier(asker)
        if loads[key] == nil {
            switch step {
            // Every load begins with one of these steps; any other one belongs to a load that is written already.
            case .asked, .answered, .offered, .used: break
            default: return
            }
            loads[key] = RecordedLoad(request, by: asker, at: date)
            runningSummary.requestCount += 1
        }
        if let redirect = loads[key]?.apply(step, of: request, at: date, limit: options.maximumBodySize) {
            runningSummary.requestCount += 1
            write(redirect)
        }
    }

    private func checkTasks() {
        processSteps()
        let now = Date()
        for key in loads.keys {
            // URL loading does not report every redirect. When a task ends, its requests may show one.
            guard let redirect = loads[key]?.checkForEnd(at: now) else { continue }
            runningSummary.requestCount += 1
            write(redirect)
        }
    }

    /// Writes the entries of the loads that are over, and then the file if there is anything new.
    private func write(_ isOver: (RecordedLoad) -> Bool) throws(RecordingProblem) {
        checkTasks()
        let over = loads.filter { isOver($1) }
        for key in over.keys { loads[key] = nil }
        for load in over.values.sorted(by: { $0.began < $1.began }) {
            write(load.result(limit: options.maximumBodySize))
        }
        guard hasNews else { return }
        let omitted = runningSummary.omittedRequestCount
        let comment = omitted > 0 ? "\(omitted) more were not recorded: the file has reached its limit." : nil
        var text = HAREntry.beginning(creator: HAREntry.creator, version: libraryVersion, comment: comment)
        for (key, count) in counts where count.text == nil { counts[key]?.text = json(key, count) }
        let counted = counts.values.sorted { $0.first.began < $1.first.began }.compactMap(\.text)
        for (index, entry) in (counted + texts).enumerated() {
            text += Data((index == 0 ? "\n" : ",\n").utf8)
            text += entry
        }
        do {
            try file.write(text + HAREntry.end)
            (hasNews, runningSummary.problem) = (false, nil)
        } catch {
            runningSummary.problem = "\(error)"
            throw error
        }
    }

    // MARK: - What is recorded

    private func isNamed(_ url: URL?) -> Bool { url?.host.map { options.hosts.contains($0.lowercased()) } ?? false }

    /// A URL as the recording writes it.
    private struct ShownURL {
        var text = ""
        /// True if a part of the URL was left out; otherwise nil.
        var isShortened: Bool?
        /// The host if neither the options nor the manifest name it.
        var unnamedHost: String?
    }

    /// Returns the part of a URL that is recorded.
    private func shown(_ url: URL?) -> ShownURL {
        if let table = cache?.currentTable, table !== manifest.table {
            let keys = table.substitutions.map { $0.url.hasPrefix("//") ? "http:" + $0.url : $0.url }
            manifest = (Set(keys.compactMap { URL(string: $0)?.host?.lowercased() }), table)
            shownURLs = [:]
        }
        guard let url else { return ShownURL(unnamedHost: "") }
        if let known = shownURLs[url] { return known }
        // An app asks for few URLs again and again.
        if shownURLs.count >= 1000 { shownURLs = [:] }
        let shown = newlyShown(url)
        shownURLs[url] = shown
        return shown
    }

    private func newlyShown(_ url: URL) -> ShownURL {
        let host = url.host?.lowercased() ?? ""
        guard isNamed(url) || manifest.hosts.contains(host) else {
            return ShownURL(text: "\(url.scheme ?? "http")://\(host)/", isShortened: true, unnamedHost: host)
        }
        var whole = url
        if url.user != nil || url.password != nil || url.fragment != nil {
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            parts?.user = nil
            parts?.password = nil
            parts?.fragment = nil
            whole = parts?.url ?? URL(fileURLWithPath: "/")
        }
        let text = isNamed(url) ? whole.absoluteString : RequestedURL(whole).description
        return ShownURL(text: text, isShortened: text == whole.absoluteString ? nil : true)
    }

    /// Adds a request to a summary.
    private func add(_ item: RecordedRequest, to summary: inout RecordingSummary) {
        switch item.answer.answeredBy {
        // If the network was asked first, the bytes of the file or copy do not count as saved.
        case .file, .archive: summary.addFileResponse(byteCount: item.isAnsweredAlone ? item.answer.bytes : 0)
        case .cache, .network, .nobody:
            if let host = shown(item.request.url).unnamedHost { return summary.addLoad(ofUnnamed: host) }
            guard let url = item.request.url, item.answer.answeredBy == .network, item.target == nil else { return }
            summary.addMiss(RequestedURL(url), byteCount: item.answer.bytes, cache?.explain(item.request).description)
        }
    }

    /// Records a request that is over, and adds it to the summary; one that does not fit is only counted as omitted.
    private func write(_ item: RecordedRequest) {
        hasNews = true
        if isWritten(item) { add(item, to: &runningSummary) } else { runningSummary.omittedRequestCount += 1 }
    }

    private func isWritten(_ item: RecordedRequest) -> Bool {
        let (shown, answer) = (shown(item.request.url), item.answer)
        let status = (item.response as? HTTPURLResponse)?.statusCode ?? 0
        if shown.unnamedHost != nil {
            return count(item, status, in: Key(url: shown.text))
        } else if item.isAnsweredAlone {
            let method = item.request.httpMethod
            let key = Key(url: shown.text, method: method, file: answer.file, line: answer.line, status: status)
            return count(item, status, in: key)
        }
        var item = item
        if answer.answeredBy != .file, answer.answeredBy != .archive, let explanation = cache?.explain(item.request) {
            (item.answer.file, item.answer.line) = (explanation.substitution?.path, explanation.substitution?.line)
        }
        if !isNamed(item.request.url), item.length > 0 {
            (item.body, item.comment) = (nil, "bodies are recorded only of the hosts in the recording's options")
        }
        // Base64 takes four bytes for three.
        if let body = item.body, size + body.count / 3 * 4 > options.maximumFileSize / 4 * 3 {
            (item.body, item.comment) = (nil, "the recording has reached its limit")
        }
        guard let text = json(item), reserve(text.count) else { return false }
        texts.append(text)
        return true
    }

    /// Counts a request; returns false if it does not fit.
    private func count(_ item: RecordedRequest, _ status: Int, in key: Key) -> Bool {
        let known = counts[key]
        var count = known ?? Count(first: item)
        if known != nil {
            count.first.answer.times += 1
            count.first.answer.bytes.add(stated: item.answer.bytes)
        }
        count.methods[item.request.httpMethod ?? "GET", default: 0] += 1
        count.statuses[status == 0 ? "no answer" : "\(status)", default: 0] += 1
        count.text = nil
        // The entry is rendered when it is written. Without these texts, it takes about 1 KB.
        guard known != nil || reserve(key.url.utf8.count + (key.file?.utf8.count ?? 0) + 2000) else { return false }
        counts[key] = count
        return true
    }

    /// Adds to the file's size, unless it has no room.
    private func reserve(_ count: Int) -> Bool {
        guard size + count <= options.maximumFileSize else { return false }
        size += count
        return true
    }

    private func json(_ key: Key, _ count: Count) -> Data? {
        var item = count.first
        item.request.allHTTPHeaderFields = nil
        guard key.method == nil else { return json(item) }
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($1) × \($0)" }.joined(separator: ", ")
        }
        let host = URL(string: key.url)?.host ?? ""
        item.comment = "\(list(count.methods)); \(list(count.statuses)); \(RecordingSummary.remedy(host))"
        (item.request.httpMethod, item.response, item.body, item.answer.ended) = (nil, nil, nil, nil)
        item.target = nil
        item.length = item.answer.bytes
        return json(item)
    }

    private func json(_ item: RecordedRequest) -> Data? {
        let (url, response) = (shown(item.request.url), item.response as? HTTPURLResponse)
        var entry = HAREntry(item.began, item.request.httpMethod ?? "GET", url.text, status: response?.statusCode ?? 0)
        (entry.seconds, entry.size, entry.comment) = (item.seconds, item.length, item.comment)
        // The value of a request's field is never recorded.
        let names = isNamed(item.request.url) ? item.request.allHTTPHeaderFields?.keys.map { $0 } ?? [] : []
        entry.requestFields = names.map { ($0, "") }
        entry.responseFields = (response?.allHeaderFields as? [String: String] ?? [:]).map { ($0.key, $0.value) }
        entry.type = response?.value(forHTTPHeaderField: "Content-Type")
        entry.base64 = item.body?.base64EncodedString()
        entry.redirectURL = shown(item.target).text
        entry.substitution = item.answer
        entry.substitution?.isShortened = url.isShortened
        return try? entry.json
    }
}
