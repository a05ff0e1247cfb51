import Foundation
import LocalSubstitutionArchive
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards

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
    /// The index of the load's entry in the recording; nil until the load has one.
    var index: Int?
    /// True once the load's entry did not fit into the recording.
    var isOmitted = false
    /// True if the entry is out of date.
    var needsRewrite = true
    /// The load as the summary counts it; nil if the load has not ended, or needs no entry.
    ///
    /// The summary keeps it only when the load is forgotten, because an answer may still come.
    var count: (answer: RecordedAnswer, url: String, isOmitted: Bool)?

    /// The response from a file or an archived copy.
    private(set) var answer: RecordingLog.Answer?
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
    /// True if a request before a redirect identified its user, if the redirect set a cookie, if a server asked for a
    /// credential, or if cookies were sent.
    private var wasPersonal = false

    init(_ request: URLRequest, by asker: any AnyObject & Sendable, at date: Date) {
        (self.request, self.asker, began) = (request, asker, date)
    }

    /// The part of a load before a redirect, with the response that caused the redirect.
    struct Redirect {
        let request: URLRequest
        let began: Date
        /// The response; nil if URL loading does not report it.
        let response: HTTPURLResponse?
        let next: URLRequest
    }

    // MARK: - Steps

    /// Records a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - missingByteCount: The number of body bytes that were left out of the step.
    ///   - request: The request to which the step belongs.
    ///   - sendsCookies: True if cookies go with the request, or with the next one after a redirect.
    ///   - date: The time of the step.
    ///   - largestBody: The maximum length of a recorded body, in bytes.
    /// - Returns: The redirect, if the step shows one; otherwise nil.
    mutating func apply(
        _ step: RequestStep,
        leaving missingByteCount: Int = 0,
        of request: URLRequest,
        sendsCookies: Bool,
        at date: Date,
        largestBody: Int
    ) -> Redirect? {
        needsRewrite = true
        defer { wasPersonal = wasPersonal || sendsCookies }
        switch step {
        case .asked:
            // On Apple platforms, URL loading consults this library again after a redirect. So a new URL shows a
            // redirect.
            if request.url != self.request.url, !wasRedirected { return follow(nil, to: request, at: date) }
        case .answered(let response, let byteCount, let substitution):
            answer = (response, byteCount, substitution)
            if isHeadAssumed { begin(nil) }
        case .offered(let response): offered = response
        case .used(let response): used = response
        case .received(let response): begin(response)
        case .redirected(let response, let next): return follow(response, to: next, at: date)
        case .challenged: wasPersonal = true
        case .receivedPart(let part):
            hasBody = true
            byteCount += part.count + missingByteCount
            if missingByteCount == 0, let known = body, known.count + part.count <= largestBody {
                body?.append(part)
            } else {
                body = nil
            }
        case .stored(let response):
            hasBody = true
            (head, byteCount) = (response.response, response.data.count)
            body = byteCount <= largestBody ? response.data : nil
        case .ended(let error): ending = ending ?? (date, error)
        }
        return nil
    }

    private mutating func follow(_ response: HTTPURLResponse?, to next: URLRequest, at date: Date) -> Redirect {
        let redirect = Redirect(request: request, began: began, response: response, next: next)
        // A response that URL loading does not report may have identified the user.
        wasPersonal = wasPersonal || identifiesUser || response?.identifiesUser ?? true
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
    /// - Returns: A redirect that no step has shown; nil if there is none. After such a redirect, the task's original
    ///   and current requests have different URLs.
    mutating func checkForEnd(at date: Date) -> Redirect? {
        guard ending == nil, let task = asker as? URLSessionTask else { return nil }
        guard task.state == .completed || task.state == .canceling else { return nil }
        needsRewrite = true
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
        wasPersonal = wasPersonal || last.sendsCookies
        return follow(nil, to: last, at: began)
    }

    /// Returns true if `response` may be the response that `head` belongs to.
    private func isKnown(_ response: URLResponse) -> Bool {
        head.map {
            $0.url == response.url && ($0 as? HTTPURLResponse)?.statusCode == (response as? HTTPURLResponse)?.statusCode
        } ?? false
    }

    // MARK: - Result

    /// True if the load needs a separate entry.
    ///
    /// It is false if a file or an archived copy has answered, and the network has sent no response.
    var needsEntry: Bool { answer == nil || head != nil }

    /// The response from the network or from `URLCache`, and its source; nil if there is none.
    var outsideResponse: (response: HTTPURLResponse, answerer: RecordedAnswer.Answerer)? {
        if let response = used?.response as? HTTPURLResponse { return (response, .cache) }
        if let response = head as? HTTPURLResponse {
            // URL loading may have used the stored response without reporting it. Only a body shows that the network
            // answered.
            return (response, offered == nil || hasBody ? .network : .cache)
        }
        return (offered?.response as? HTTPURLResponse).map { ($0, .cache) }
    }

    /// The length of the body in bytes, as received or announced; nil if it is not known.
    ///
    /// The body is from the network or from `URLCache`.
    var length: Int? {
        // A response to HEAD has no body. Its `Content-Length` is that of a response to GET (RFC 9110 §8.6).
        if request.httpMethod == "HEAD" { return 0 }
        if hasBody { return byteCount }
        if let used { return used.data.count }
        let field = outsideResponse?.response.value(forHTTPHeaderField: "Content-Length")
        return field.flatMap { Int($0) }.flatMap { (0...Self.largestLength).contains($0) ? $0 : nil }
    }

    /// The largest length that is exact as a number of JSON (RFC 8259 §6); no body is longer.
    private static let largestLength = 1 << 53

    /// The whole body; nil if a part of it is unknown, or if the load has failed or has not ended.
    var wholeBody: Data? { hasBody && ending != nil && ending?.error == nil ? body : nil }

    /// True if a body was received, but was too long to be recorded, or lacks a part.
    var isBodyIncomplete: Bool { hasBody && body == nil }

    /// True if the current request may identify its user, apart from cookies that URL loading adds.
    private var identifiesUser: Bool { request.isPersonal || SecretMask.isPresent(in: request.url) }

    /// True if the response may be meant for a single user.
    var isPersonal: Bool {
        if wasPersonal || identifiesUser { return true }
        guard let response = outsideResponse?.response else { return false }
        if response.identifiesUser { return true }
        if let field = response.value(forHTTPHeaderField: "Cache-Control") {
            guard let directives = CacheControl.directives(field) else { return true }
            if directives.contains("private") || directives.contains("no-store") { return true }
        }
        let vary = (response.field("Vary") ?? "").lowercased()
        return ["*", "cookie", "authorization"].contains { vary.contains($0) }
    }

    /// The end of the load in words; nil if it ended without an error.
    var endingInWords: String? {
        guard let ending else { return "not yet" }
        guard let error = ending.error else { return nil }
        if error is CancellationError || (error as? URLError)?.code == .cancelled { return "cancelled" }
        // The app has received the answer instead of the task's error.
        if answer != nil { return nil }
        // An error's own text may hold the URL.
        return (error as? URLError).map { "failed: URLError \($0.code.rawValue)" } ?? "failed"
    }
}

extension URLRequest {
    /// True if URL loading would now send cookies of the shared storage with the request.
    var sendsCookies: Bool {
        guard let url, httpShouldHandleCookies else { return false }
        return HTTPCookieStorage.shared.cookies(for: url)?.isEmpty == false
    }
}

extension HTTPURLResponse {
    /// True if the response sets a cookie, or holds another secret.
    fileprivate var identifiesUser: Bool { isPersonal || value(forHTTPHeaderField: "Set-Cookie") != nil }
}
