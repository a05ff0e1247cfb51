import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load of the app, as far as it has been noted.
struct RecordedLoad {
    /// Who asks: a task, whose end is looked for, or a page, which tells its own.
    let asker: any AnyObject & Sendable
    /// The request at the end of the redirects that are known.
    private(set) var request: URLRequest
    private(set) var began: Date
    /// Where the entry stands; nil before it has one.
    var index: Int?
    /// Whether the entry lacks something.
    var isChanged = true
    /// Whether the summary knows of it.
    var isSummed = false

    /// The answer of a file or of an archived copy.
    private(set) var answer: (response: URLResponse, byteCount: Int)?
    private var offered: CachedURLResponse?
    private var used: CachedURLResponse?
    private var head: URLResponse?
    /// What is known of the network's body; nil when it is longer than is recorded.
    private var body: Data? = Data()
    private var byteCount = 0
    /// Whether anything is known of the body.
    private var hasBody = false
    private(set) var ending: (date: Date, error: (any Error)?)?
    private var wasRedirected = false

    init(_ request: URLRequest, by asker: any AnyObject & Sendable, at date: Date) {
        (self.request, self.asker, began) = (request, asker, date)
    }

    /// The first URL of a load whose later one became known, with the answer that led there.
    struct Redirect {
        let request: URLRequest
        let began: Date
        /// Nil where URL loading does not tell it.
        let response: HTTPURLResponse?
        let next: URLRequest
    }

    // MARK: - Steps

    /// Takes a step in.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - leftOut: The bytes that its part of a body lacks.
    ///   - request: The request that it is noted for.
    ///   - date: When it was noted.
    ///   - largestBody: The length of the longest body that is kept.
    /// - Returns: The redirect that it was, if it was one.
    mutating func note(
        _ step: RequestStep,
        leaving leftOut: Int = 0,
        of request: URLRequest,
        at date: Date,
        largestBody: Int
    ) -> Redirect? {
        isChanged = true
        switch step {
        case .asked:
            // Apple's systems ask again for the request that a redirect leads to.
            if request.url != self.request.url, !wasRedirected { return follow(nil, to: request, at: date) }
        case .answered(let response, let byteCount): answer = (response, byteCount)
        case .offered(let response): offered = response
        case .used(let response): used = response
        case .received(let response): head = response
        case .redirected(let response, let next): return follow(response, to: next, at: date)
        case .receivedPart(let part):
            hasBody = true
            byteCount += part.count + leftOut
            if leftOut == 0, let known = body, known.count + part.count <= largestBody {
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
        (request, began, head, wasRedirected) = (next, date, nil, true)
        (body, byteCount, hasBody) = (Data(), 0, false)
        return redirect
    }

    /// Looks whether the task has ended.
    ///
    /// - Returns: A redirect that only the task knows of.
    mutating func look(at date: Date) -> Redirect? {
        guard ending == nil, let task = asker as? URLSessionTask else { return nil }
        guard task.state == .completed || task.state == .canceling else { return nil }
        isChanged = true
        ending = (date, task.error ?? (task.state == .canceling ? URLError(.cancelled) : nil))
        if answer == nil { head = head ?? task.response }
        guard !wasRedirected, let last = task.currentRequest, let url = last.url, url != request.url,
            url != task.originalRequest?.url, answer == nil
        else { return nil }
        let known = (head, body, byteCount, hasBody)
        defer { (head, body, byteCount, hasBody) = known }
        return follow(nil, to: last, at: began)
    }

    // MARK: - What became of it

    /// Whether the load has an entry of its own: unless a file or copy has answered it, and nobody asked the network.
    var needsEntry: Bool { answer == nil || head != nil || index != nil }

    /// The response that came from elsewhere, and who gave it.
    var outside: (response: HTTPURLResponse, answerer: RecordedAnswer.Answerer)? {
        if let response = used?.response as? HTTPURLResponse { return (response, .cache) }
        if let response = head as? HTTPURLResponse {
            // Nothing tells whether URL loading used what the cache had.
            return (response, offered == nil || hasBody ? .network : .cache)
        }
        return (offered?.response as? HTTPURLResponse).map { ($0, .cache) }
    }

    /// The length of the network's body in bytes, as it was received or announced; nil when it is not known.
    var length: Int? {
        if hasBody { return byteCount }
        if let used { return used.data.count }
        return outside.flatMap { $0.response.value(forHTTPHeaderField: "Content-Length") }.flatMap { Int($0) }
    }

    /// The whole body; nil when it is not known.
    var wholeBody: Data? { hasBody && ending != nil && ending?.error == nil ? body : nil }

    /// Whether the body is known, and longer than is recorded.
    var isBodyTooLong: Bool { hasBody && body == nil }

    /// Whether the answer may be for one person.
    var isPersonal: Bool {
        if request.isPersonal { return true }
        if let url = request.url, request.httpShouldHandleCookies,
            HTTPCookieStorage.shared.cookies(for: url)?.isEmpty == false
        {
            return true
        }
        guard let response = outside?.response else { return false }
        if response.value(forHTTPHeaderField: "Set-Cookie") != nil { return true }
        if let field = response.value(forHTTPHeaderField: "Cache-Control") {
            guard let directives = CacheControl.directives(field) else { return true }
            if directives.contains("private") || directives.contains("no-store") { return true }
        }
        let vary = (response.value(forHTTPHeaderField: "Vary") ?? "").lowercased()
        return ["*", "cookie", "authorization"].contains { vary.contains($0) }
    }

    /// How the load ended; nil for one that came to its end.
    var endingInWords: String? {
        guard let ending else { return "not yet" }
        guard let error = ending.error else { return nil }
        if error is CancellationError || (error as? URLError)?.code == .cancelled { return "cancelled" }
        // An error's own text may hold the URL.
        return (error as? URLError).map { "failed: URLError \($0.code.rawValue)" } ?? "failed"
    }
}
