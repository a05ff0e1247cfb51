import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reply to one request of a page, which is filled from the network, a file or an archived copy.
// Only accessed on the queue of the load's events.
struct ForwardedReply {
    /// The largest page or stylesheet, in bytes, that is buffered and rewritten; a larger one stays unchanged.
    private static let longestRewritten = 8 << 20

    let request: URLRequest
    let original: URL
    let server: SchemeServer
    private let continuation: Forwarder.Continuation
    /// The head and buffered body of a page or stylesheet that is rewritten once it is complete; otherwise nil.
    private var buffered: (response: HTTPURLResponse, type: MediaType, body: Data)?
    /// True after a redirect to a site other than that of the first request.
    ///
    /// At the beginning it is false, even if the page belongs to a different site than the first request. The engine
    /// checks that case itself: it compares the origins of the two mirrors.
    var hasLeftSite = false

    init(
        _ request: URLRequest,
        _ original: URL,
        _ server: SchemeServer,
        _ continuation: Forwarder.Continuation
    ) {
        (self.request, self.original, self.server, self.continuation) = (request, original, server, continuation)
    }

    /// Sends the head; returns false if the page may not receive the response, which ends the reply.
    mutating func head(_ response: HTTPURLResponse) -> Bool {
        let type = MediaType(response.value(forHTTPHeaderField: "Content-Type") ?? "")
        // Refuse a document of another site: it would have the origin of the requested site. A response without a type
        // may be a document, too.
        guard isShared(response), requestedOrigin == WebOrigin(response.url) || type?.isDocument == false else {
            refuse()
            return false
        }
        let origin = request.value(forHTTPHeaderField: "Origin")
        let fields = ForwardedHead.fields(of: response, for: requestedOrigin, origin: origin)
        let head = request.url.flatMap {
            HTTPURLResponse(url: $0, statusCode: response.statusCode, httpVersion: "HTTP/1.1", headerFields: fields)
        }
        guard let head else {
            fail(URLError(.cannotParseResponse))
            return false
        }
        if let type, request.httpMethod == "GET", response.statusCode != 206, server.isRewritten(type, for: request) {
            buffered = (head, type, Data())
        } else {
            continuation.yield(.response(head))
        }
        return true
    }

    /// Returns true if the page may receive this response, or follow this redirect (Fetch §4.9, CORS check).
    ///
    /// A response of the requested site passes, unless an earlier redirect has led to another site.
    ///
    /// To the engine, a response of another site looks like one of the requested site. So every document of the
    /// requested site could read it: even the pixels of images, the rules of stylesheets and the errors of scripts.
    /// Therefore such a response must pass the check that browsers apply when a script reads a response.
    func isShared(_ response: HTTPURLResponse) -> Bool {
        guard hasLeftSite || requestedOrigin != WebOrigin(response.url) else { return true }
        let shared = response.field("Access-Control-Allow-Origin")
        return shared == "*" || shared != nil && shared == pageOrigin?.site
    }

    /// The origin of the requested URL, not of its mirror.
    private var requestedOrigin: WebOrigin? { WebOrigin(original) }

    /// The origin of the page that sends the request, according to `Origin`, or to `Referer` if there is no `Origin`.
    ///
    /// If the field names no origin, or if there is neither field, the value is ``requestedOrigin``.
    var pageOrigin: WebOrigin? {
        let named = ["Origin", "Referer"].lazy.compactMap { self.request.value(forHTTPHeaderField: $0) }.first
        return named.flatMap { WebOrigin($0) } ?? requestedOrigin
    }

    mutating func part(_ data: Data) {
        guard buffered != nil else { return deliver(data) }
        buffered?.body.append(data)
        if let body = buffered?.body, body.count > Self.longestRewritten { deliverBuffered(as: body) }
    }

    mutating func end() {
        if let buffered {
            let policy = buffered.response.field("Content-Security-Policy")
            let body = server.rewritten(buffered.body, buffered.type, at: original, policy: policy)
            deliverBuffered(as: body ?? buffered.body)
        }
        continuation.finish()
    }

    private mutating func deliverBuffered(as body: Data) {
        guard let response = buffered?.response, let url = response.url else { return }
        buffered = nil
        var fields = response.allHeaderFields as? [String: String] ?? [:]
        fields = fields.filter { $0.key.lowercased() != "content-length" }
        let head = HTTPURLResponse(
            url: url,
            statusCode: response.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        continuation.yield(.response(head ?? response))
        deliver(body)
    }

    private func deliver(_ data: Data) {
        var rest = data
        while !rest.isEmpty {
            continuation.yield(.data(rest.prefix(SchemeReply.maximumChunkSize)))
            rest = rest.dropFirst(SchemeReply.maximumChunkSize)
        }
    }

    func fail(_ error: any Error) { continuation.finish(throwing: error) }

    /// Ends the load with a refusal.
    ///
    /// The reason is always the same text, because scripts can read it. A more exact text would reveal the redirect's
    /// target, which browsers do not reveal to scripts.
    func refuse() {
        let reason =
            "It redirects to a URL that this page may not load, or to none. The target must be http or https, not from https "
            + "to http, on a host that the app has named, and shared by that host (Access-Control-Allow-Origin)."
        end(with: server.refusal(502, reason, to: request))
    }

    /// Ends the reply with another one: a file, a refusal or a short page, none of which needs the network.
    func end(with reply: SchemeReply) {
        Task { [continuation] in await reply.deliver(to: continuation) }
    }
}

extension MediaType {
    /// True for the types of documents.
    ///
    /// An engine runs the scripts in a document with the origin of the document's URL.
    fileprivate var isDocument: Bool {
        essence == "text/html" || essence.hasSuffix("/xml") || essence.hasSuffix("+xml")
    }
}
