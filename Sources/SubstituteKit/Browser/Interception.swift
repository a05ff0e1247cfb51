import Foundation

/// A request that the browser holds until this tool decides on the request.
///
/// The browser reports such a request in the event `Fetch.requestPaused` of the DevTools protocol. The browser holds
/// a request before it is sent, and again once it has a response or has failed.
struct HeldRequest: Decodable, Sendable {
    struct Request: Decodable, Sendable {
        /// The URL, without its fragment.
        let url: String
        let method: String
        let headers: [String: String]
    }

    struct Field: Codable, Sendable {
        let name: String
        let value: String
    }

    let requestId: String
    let request: Request
    /// The kind of resource, such as `Document`, `Image` or `Media`.
    let resourceType: String
    /// The frame that loads the resource; a page's main frame has the same identifier as the page's target.
    let frameId: String
    /// The load's identifier in the protocol's domain `Network`, the same after each redirect.
    ///
    /// Nil if the domain does not report the request.
    let networkId: String?
    /// The identifier of the request that was redirected to this one; nil for the first request of a load.
    let redirectedRequestId: String?
    let responseStatusCode: Int?
    let responseErrorReason: String?
    let responseHeaders: [Field]?
    /// The first request of the load; nil if the request was not redirected.
    var first: Request?
    /// True if a service worker loads the resource, which is not the worker's own script.
    var isOfServiceWorker = false

    private enum CodingKeys: CodingKey {
        case requestId, request, resourceType, frameId, networkId, redirectedRequestId
        case responseStatusCode, responseErrorReason, responseHeaders
    }

    /// True if a response head has arrived, or the request has failed.
    ///
    /// The body may still be on its way.
    var hasOutcome: Bool { responseStatusCode != nil || responseErrorReason != nil }

    /// Returns true if the request begins a navigation of a page, and was not caused by a redirect.
    ///
    /// `target` is the identifier of the page's target (the browser's tab); nil if there is no page yet.
    func begins(_ target: String?) -> Bool {
        resourceType == "Document" && frameId == target && !hasOutcome && redirectedRequestId == nil
    }

    /// Returns the value of a header field of the response; the last value if the field occurs several times.
    ///
    /// `name` is in lower case.
    func responseField(_ name: String) -> String? {
        responseHeaders?.last { $0.name.lowercased() == name }?.value
    }

    /// The load's identifier, the same after each redirect; the request's own identifier if `networkId` is nil.
    var identifier: String { networkId ?? requestId }

    /// True if the response has `Location` and a redirect status (Fetch §2.2.6).
    ///
    /// After such a response, the browser sends another request for the same load.
    var isRedirect: Bool {
        responseStatusCode.map { [301, 302, 303, 307, 308].contains($0) } ?? false && responseField("location") != nil
    }

    /// True if the response has a body that can be read to its end.
    ///
    /// Responses to HEAD and responses with the status 204 or 304 have no body (RFC 9110 §6.4.1). A redirect's body is
    /// not used, and the body of a stream has no end.
    var hasBody: Bool {
        guard let status = responseStatusCode, responseErrorReason == nil, !isRedirect else { return false }
        return request.method != "HEAD" && ![204, 304].contains(status) && !isStream
    }

    /// True if the response continues until the client ends it.
    ///
    /// Such responses are server-sent events (HTML §9.2), and the multipart responses (RFC 2046 §5.1) that cameras
    /// send.
    var isStream: Bool {
        let type = responseField("content-type")?.lowercased() ?? ""
        return type.hasPrefix("text/event-stream") || type.hasPrefix("multipart/x-mixed-replace")
    }

    /// The length of the body in bytes as transferred, with its content codings, according to `Content-Length`.
    var responseLength: Int? {
        // A server may announce any number, so a length of more than 1 TB is ignored.
        responseField("content-length").flatMap { Int($0) }.flatMap { (0...1_000_000_000_000).contains($0) ? $0 : nil }
    }

    /// The length of the body in bytes; nil if it is not known.
    ///
    /// The length is known if there is a valid `Content-Length`, and the body has no content coding.
    var plainLength: Int? { responseField("content-encoding") == nil ? responseLength : nil }
}

extension HeldRequest {
    /// Returns the response's body; nil if there is none, or if it cannot be loaded.
    ///
    /// The page receives the body only when the body is complete. Audio and video are not loaded here, because players
    /// load them in parts.
    func bytes(_ body: @Sendable () async throws -> String) async -> Data? {
        guard hasBody, resourceType != "Media" else { return nil }
        return (try? await body()).flatMap { Data(base64Encoded: $0) }
    }
}

/// A decision on a request that the browser holds.
enum Decision: Sendable {
    /// The browser sends the request, or passes on the response, unchanged.
    case proceed
    /// The request is sent with these header fields, and no others.
    ///
    /// This decision is only for a request that has not been sent yet.
    case proceedWith([String: String])
    /// The tool's own response answers the request, and replaces the network's response if there is one.
    case answer(status: Int, fields: [HeldRequest.Field], body: Data)
}

/// Decides on the requests of a browser.
///
/// The browser holds each request until its decision is returned. The browser then continues or answers the request
/// accordingly.
protocol Interceptor: Sendable {
    /// Decides on a request that is about to be sent.
    func decide(on request: HeldRequest) async -> Decision

    /// Decides on a request that has a response, or has failed.
    ///
    /// - Parameters:
    ///   - request: The request, with the response head if there is a response.
    ///   - body: Loads the response's body in base64, after the browser has removed the content codings.
    /// - Returns: The decision.
    func decide(on request: HeldRequest, body: @Sendable () async throws -> String) async -> Decision
}
