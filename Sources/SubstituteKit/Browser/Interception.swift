import Foundation

/// A request that the browser holds until the tool decides on it (`Fetch.requestPaused`).
///
/// The browser holds each request before it is sent, and again once it has a response or has failed.
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
    /// The identifier of the load, which redirects do not change; nil for a request that is not a load of a page.
    let networkId: String?
    /// Set for every request of a redirect chain except the first.
    let redirectedRequestId: String?
    let responseStatusCode: Int?
    let responseErrorReason: String?
    let responseHeaders: [Field]?

    /// True once the network has answered or failed.
    var isOver: Bool { responseStatusCode != nil || responseErrorReason != nil }

    /// Returns true if the request is the first one for a page in this target.
    func begins(_ target: String?) -> Bool {
        resourceType == "Document" && frameId == target && !isOver && redirectedRequestId == nil
    }

    /// Returns the value of a header field of the response; the last one if there are several.
    func responseField(_ name: String) -> String? {
        responseHeaders?.last { $0.name.lowercased() == name }?.value
    }

    /// The load's identifier, the same after each redirect; the request's identifier if there is no load.
    var identifier: String { networkId ?? requestId }

    /// True for a redirect, after which the same load sends its next request.
    var isRedirect: Bool {
        responseStatusCode.map { (300..<400).contains($0) } ?? false && responseField("location") != nil
    }

    /// True if the response head announces a body that comes to an end.
    var hasBody: Bool {
        guard responseStatusCode != nil, responseErrorReason == nil, !isRedirect, request.method != "HEAD" else {
            return false
        }
        return !isStream
    }

    /// True if the response continues until the client ends it.
    ///
    /// Such responses are server-sent events (HTML §9.2), and the multipart responses (RFC 2046 §5.1) that cameras
    /// send.
    var isStream: Bool {
        let type = responseField("content-type")?.lowercased() ?? ""
        return type.hasPrefix("text/event-stream") || type.hasPrefix("multipart/x-mixed-replace")
    }

    /// The length in bytes of the body with its content codings, according to `Content-Length`.
    var responseLength: Int? {
        // A server may announce any number.
        responseField("content-length").flatMap { Int($0) }.flatMap { (0...1_000_000_000_000).contains($0) ? $0 : nil }
    }

    /// The length of the body in bytes, if `Content-Length` gives it and no content coding changes it.
    var plainLength: Int? { responseField("content-encoding") == nil ? responseLength : nil }
}

extension HeldRequest {
    /// Returns the size of the response's body in bytes; nil if there is no body.
    ///
    /// This function loads the whole body, and the page receives the body only once it is complete. Audio and video are
    /// loaded in parts while they play. For these, this function trusts `Content-Length` instead.
    func size(_ body: @Sendable () async throws -> String) async -> Int? {
        guard hasBody else { return nil }
        if resourceType == "Media" { return responseLength }
        return (try? await body()).map(Base64.byteCount(of:))
    }
}

/// A decision on a request that the browser holds.
enum Decision: Sendable {
    /// The request or response continues unchanged.
    case proceed
    /// The request is sent without this header field.
    case proceedWithout(String)
    /// The tool answers the request.
    case answer(status: Int, fields: [HeldRequest.Field], body: Data)

    /// True if the request is not sent to the network any more.
    var isLast: Bool {
        switch self {
        case .proceed, .proceedWithout: false
        case .answer: true
        }
    }
}

/// Decides on the requests of a browser.
protocol Interceptor: Sendable {
    /// Decides on a request that is about to be sent.
    func decide(on request: HeldRequest) async -> Decision

    /// Decides on a request that has a response, or has failed.
    ///
    /// - Parameters:
    ///   - request: The request, with the response head.
    ///   - body: Loads the body of the response in base64, with its content codings removed.
    /// - Returns: The decision.
    func decide(on request: HeldRequest, body: @Sendable () async throws -> String) async -> Decision
}
