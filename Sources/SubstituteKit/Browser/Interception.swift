import Foundation

/// A request that the browser holds until somebody decides on it (`Fetch.requestPaused`): before it is sent, and again
/// when it is answered or has failed.
struct HeldRequest: Decodable, Sendable {
    struct Request: Decodable, Sendable {
        /// Without its fragment.
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
    /// The use of what is loaded, such as `Document`, `Image` or `Media`.
    let resourceType: String
    /// The frame for which it is loaded; that of a page is called as the page's target.
    let frameId: String
    /// The same for every redirect of one load; nil for what is no load of a page.
    let networkId: String?
    /// Set for each request of a redirect but the first.
    let redirectedRequestId: String?
    let responseStatusCode: Int?
    let responseErrorReason: String?
    let responseHeaders: [Field]?

    /// True once the network has answered, or failed to.
    var isOver: Bool { responseStatusCode != nil || responseErrorReason != nil }

    /// Returns true if a page of this target begins with it.
    func begins(_ target: String?) -> Bool {
        resourceType == "Document" && frameId == target && !isOver && redirectedRequestId == nil
    }

    /// The value of a field of the answer; the last where there are several.
    func responseField(_ name: String) -> String? {
        responseHeaders?.last { $0.name.lowercased() == name }?.value
    }

    /// The same for every redirect of one load.
    var identifier: String { networkId ?? requestId }

    /// True for a redirect, after which the same load asks again.
    var isRedirect: Bool {
        responseStatusCode.map { (300..<400).contains($0) } ?? false && responseField("location") != nil
    }

    /// True if the answer has a body that comes to an end, as far as its head says.
    var hasBody: Bool {
        guard responseStatusCode != nil, responseErrorReason == nil, !isRedirect, request.method != "HEAD" else {
            return false
        }
        return !isStream
    }

    /// True if the answer goes on until the client ends it (HTML §9.2; RFC 2046 §5.1, as cameras use it).
    var isStream: Bool {
        let type = responseField("content-type")?.lowercased() ?? ""
        return type.hasPrefix("text/event-stream") || type.hasPrefix("multipart/x-mixed-replace")
    }

    /// The length of the body that comes, in bytes, as its head says.
    var responseLength: Int? {
        // A page may announce anything.
        responseField("content-length").flatMap { Int($0) }.flatMap { (0...1_000_000_000_000).contains($0) ? $0 : nil }
    }

    /// The length of the body in bytes, where its head says it and no coding changes it.
    var plainLength: Int? { responseField("content-encoding") == nil ? responseLength : nil }
}

extension HeldRequest {
    /// The number of bytes of the answer's body, which is loaded for that: the page gets it when it is whole.
    ///
    /// Nil where there is none. A film is loaded in parts, as it is played, so its head is believed.
    func size(_ body: @Sendable () async throws -> String) async -> Int? {
        guard hasBody else { return nil }
        if resourceType == "Media" { return responseLength }
        return (try? await body()).map(Base64.byteCount(of:))
    }
}

/// A decision on a request that the browser holds.
enum Decision: Sendable {
    /// It goes its way.
    case goOn
    /// It is sent without a field.
    case goOnWithout(String)
    /// It is answered.
    case answer(status: Int, fields: [HeldRequest.Field], body: Data)

    /// True if the network is not asked any more.
    var isLast: Bool {
        switch self {
        case .goOn, .goOnWithout: false
        case .answer: true
        }
    }
}

/// Decides on the requests of a browser.
protocol Interceptor: Sendable {
    /// Decides on a request that is about to be sent.
    func decide(on request: HeldRequest) async -> Decision

    /// Decides on a request that was answered, or has failed.
    ///
    /// - Parameters:
    ///   - request: The request, with the head of the answer.
    ///   - body: Loads the body of the answer, in base64, after the codings of the content are undone.
    /// - Returns: What becomes of it.
    func decide(on request: HeldRequest, body: @Sendable () async throws -> String) async -> Decision
}
