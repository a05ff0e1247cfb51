import Foundation
import SubstitutionRules
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load of the app, with the steps that have been recorded so far.
struct RecordedLoad {
    /// The object that identifies the load: a task, or an object for a page's load.
    ///
    /// A task is polled until it has ended. For a page's load, a step reports the end.
    let asker: any AnyObject & Sendable
    /// The current request: the one after the last known redirect.
    private(set) var request: URLRequest
    /// The time at which the current request began.
    private(set) var began: Date
    /// The response from a file or an archived copy.
    private(set) var answer: RecordedRequest.Answer?
    private var offered: CachedURLResponse?
    private var used: CachedURLResponse?
    private var head: URLResponse?
    /// True if no step reported the head; the task has it, and it may be that of the answer.
    private var isHeadAssumed = false
    /// The body so far; nil once it is too long to be recorded, or lacks a part.
    private var body: Data? = Data()
    private var byteCount = 0
    /// True once any part of the body is known.
    private var hasBody = false
    private(set) var ending: (date: Date, error: (any Error)?)?
    private var wasRedirected = false
    /// Nil until the session is known.
    private var rule: SharedCopyRule?
    /// True after a redirect that URL loading does not show.
    private var isUnseen = false

    init(_ request: URLRequest, by asker: any AnyObject & Sendable, at date: Date) {
        (self.request, self.asker, began) = (request, asker, date)
    }

    // MARK: - Steps

    /// Records a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - request: The request to which the step belongs.
    ///   - date: The time of the step.
    ///   - limit: The maximum length of a recorded body, in bytes.
    /// - Returns: The request before a redirect, if the step shows one; otherwise nil.
    mutating func apply(_ step: RequestStep, of request: URLRequest, at date: Date, limit: Int) -> RecordedRequest? {
        switch step {
        case .asked:
            // On Apple platforms, URL loading consults this library again after a redirect. So a new URL shows a
            // redirect.
            if request.url != self.request.url, !wasRedirected { return follow(nil, to: request, at: date) }
        case .sent(let request):
            rule = rule ?? SharedCopyRule()
            rule?.ask(request)
        case .answered(let response, let byteCount, let substitution):
            answer = (response, byteCount, substitution)
            if isHeadAssumed { begin(nil) }
        case .offered(let response): offered = response
        case .used(let response): used = response
        case .received(let response): begin(response)
        case .redirected(let response, let next):
            rule?.receive(nil, response.value(forHTTPHeaderField:))
            rule?.ask(next)
            return follow(response, to: next, at: date)
        case .challenged: rule?.challenge()
        case .receivedPart(let part):
            hasBody = true
            byteCount += part.count
            if byteCount > limit { body = nil }
            body?.append(part)
        case .stored(let response):
            hasBody = true
            (head, byteCount) = (response.response, response.data.count)
            body = byteCount <= limit ? response.data : nil
        case .ended(let error): ending = ending ?? (date, error)
        }
        return nil
    }

    private mutating func follow(_ response: HTTPURLResponse?, to next: URLRequest, at date: Date) -> RecordedRequest {
        var redirect = RecordedRequest(request: request, began: began, response: response, RecordedAnswer(.network))
        redirect.target = next.url
        if response == nil { redirect.answer.ended = "redirected, with a status that URL loading does not report" }
        isUnseen = isUnseen || response == nil
        (request, began, wasRedirected) = (next, date, true)
        begin(nil)
        return redirect
    }

    /// Sets the head; parts that were received before it are not part of its body.
    private mutating func begin(_ head: URLResponse?) {
        (self.head, isHeadAssumed) = (head, false)
        (body, byteCount, hasBody) = (Data(), 0, false)
    }

    /// Checks whether the task has ended.
    ///
    /// - Returns: The request before a redirect that no step has shown; nil if there is none. After such a redirect,
    ///   the task's original and current requests have different URLs.
    mutating func checkForEnd(at date: Date) -> RecordedRequest? {
        guard ending == nil, let task = asker as? URLSessionTask else { return nil }
        guard task.state == .completed || task.state == .canceling else { return nil }
        ending = (date, task.error ?? (task.state == .canceling ? URLError(.cancelled) : nil))
        // If Foundation on Linux restarts a task after a challenge, no step shows the response to the new request.
        if answer == nil, let last = task.response, !isKnown(last) {
            begin(last)
            isHeadAssumed = true
        }
        guard !wasRedirected, let last = task.currentRequest, let url = last.url, url != request.url,
            url != task.originalRequest?.url, answer == nil
        else { return nil }
        let known = (head, body, byteCount, hasBody)
        defer { (head, body, byteCount, hasBody) = known }
        return follow(nil, to: last, at: began)
    }

    /// Returns true if `response` may be the response that `head` belongs to.
    private func isKnown(_ response: URLResponse) -> Bool {
        head.map {
            $0.url == response.url && ($0 as? HTTPURLResponse)?.statusCode == (response as? HTTPURLResponse)?.statusCode
        } ?? false
    }

    // MARK: - Result

    /// The last request and its response, as known so far.
    func result(limit: Int) -> RecordedRequest {
        if let answer, head == nil { return RecordedRequest(request: request, began: began, answeredBy: answer) }
        let outside = outsideResponse
        var answer = answer.map { RecordedAnswer($0) } ?? RecordedAnswer(outside?.answerer ?? .nobody)
        if self.answer == nil { answer.bytes = length }
        answer.ended = endingInWords
        var result = RecordedRequest(request: request, began: began, response: outside?.response, answer)
        result.seconds = ending?.date.timeIntervalSince(began) ?? 0
        result.length = length
        (result.body, result.comment) = content(limit: limit)
        return result
    }

    /// The response from the network or from `URLCache`, and its source; nil if there is none.
    private var outsideResponse: (response: HTTPURLResponse, answerer: RecordedAnswer.Answerer)? {
        if let response = used?.response as? HTTPURLResponse { return (response, .cache) }
        if let response = head as? HTTPURLResponse {
            // URL loading may have used the stored response without reporting it. Only a body shows that the network
            // answered.
            return (response, offered == nil || hasBody ? .network : .cache)
        }
        return (offered?.response as? HTTPURLResponse).map { ($0, .cache) }
    }

    /// The length of the body in bytes, as received or announced; 0 if it is not known.
    private var length: Int {
        // A response to HEAD has no body. Its `Content-Length` is that of a response to GET (RFC 9110 §8.6).
        if request.httpMethod == "HEAD" { return 0 }
        if hasBody { return byteCount }
        if let used { return used.data.count }
        let length = outsideResponse?.response.value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) } ?? 0
        // Larger numbers are not exact in JSON (RFC 8259 §6), and no body is longer.
        return (0...(1 << 53)).contains(length) ? length : 0
    }

    /// Returns the body, or the reason why it is not recorded.
    private func content(limit: Int) -> (body: Data?, comment: String?) {
        guard hasBody, ending != nil, ending?.error == nil else {
            return (nil, length > 0 ? "URL loading did not hand it over" : nil)
        }
        guard let body else { return (nil, "it has \(byteCount) bytes, more than \(limit)") }
        if body.isEmpty { return (nil, nil) }
        guard var rule else { return (nil, "its session is not registered, so its request is not known") }
        if isUnseen { return (nil, "URL loading did not show a redirect before it") }
        if let response = outsideResponse?.response {
            rule.receive(response.statusCode, response.value(forHTTPHeaderField:))
        }
        return rule.objection.map { (nil, "it is only recorded if anybody could get it, but \($0)") } ?? (body, nil)
    }

    /// The end of the load in words; nil if it ended without an error.
    private var endingInWords: String? {
        guard let ending else { return "not yet" }
        guard let error = ending.error else { return nil }
        if error is CancellationError || (error as? URLError)?.code == .cancelled { return "cancelled" }
        // The app has received the answer instead of the task's error.
        if answer != nil { return nil }
        // An error's own text may hold the URL.
        return (error as? URLError).map { "failed: URLError \($0.code.rawValue)" } ?? "failed"
    }
}

/// One request and what is recorded of it.
struct RecordedRequest {
    /// A response from a file or an archived copy; a copy belongs to no substitution.
    typealias Answer = (response: URLResponse, byteCount: Int, substitution: Substitution?)

    var request: URLRequest
    let began: Date
    var seconds: TimeInterval = 0
    var response: URLResponse?
    var answer: RecordedAnswer
    /// The length of the body, in bytes; 0 if it is not known.
    var length = 0
    var body: Data?
    var comment: String?
    /// The target, if the response is a redirect.
    var target: URL?
    /// True if a file or an archived copy has answered, and the network has sent no response.
    private(set) var isAnsweredAlone = false

    init(request: URLRequest, began: Date, response: HTTPURLResponse?, _ answer: RecordedAnswer) {
        (self.request, self.began, self.response, self.answer) = (request, began, response, answer)
    }

    init(request: URLRequest, began: Date, answeredBy answer: Answer) {
        (self.request, self.began, response, self.answer) = (request, began, answer.response, RecordedAnswer(answer))
        (length, isAnsweredAlone) = (answer.byteCount, true)
    }
}

extension RecordedAnswer {
    fileprivate init(_ given: RecordedRequest.Answer) {
        self.init(given.substitution == nil ? .archive : .file)
        (file, line, bytes) = (given.substitution?.path, given.substitution?.line, given.byteCount)
    }
}
