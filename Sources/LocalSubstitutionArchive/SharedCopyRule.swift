/// The rule by which a response may be given to somebody else: HTTP lets a shared cache keep it (RFC 9111 §3), and
/// nothing in the request could have named a user.
///
/// Pass each request and each response of a chain of redirects, in their order. No value of a field is read, except
/// those of `Cache-Control`.
package struct SharedCopyRule: Sendable {
    /// The first fact that forbids giving the response away.
    package enum Objection: Hashable, Sendable {
        /// Only responses to GET are given away; the name is that of the request's method.
        case method(String)
        /// The request has a field that is not in ``allowedFields``, or `Cache-Control: no-store` (RFC 9111 §5.2.1.5).
        case requestField(String)
        /// A cookie goes with the request.
        case cookie
        /// A server has asked for a credential (RFC 9111 §3.5).
        case challenge
        /// The status of the last response is not 200.
        case status(Int)
        /// The response has `Set-Cookie`, or a `Cache-Control` with `private` or `no-store`, or a malformed one
        /// (RFC 9111 §5.2.2).
        case responseField(String)
    }

    /// What speaks against the request; the same URL may have a response for everybody.
    package private(set) var ofRequest: Objection?
    /// What speaks against the response, whatever the request was.
    package private(set) var ofResponse: Objection?
    /// Nil as long as the response may be given away.
    package var objection: Objection? { ofRequest ?? ofResponse }

    package init() {}

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - fields: The header fields, also those that the session adds.
    ///   - sendsCookies: True if a cookie goes with the request.
    package mutating func ask(
        _ method: String,
        _ fields: some Sequence<(name: String, value: String)>,
        sendsCookies: Bool
    ) {
        if method != "GET" { ofRequest = ofRequest ?? .method(method) }
        if sendsCookies { ofRequest = ofRequest ?? .cookie }
        for (name, value) in fields where ofRequest == nil {
            let key = name.lowercased()
            let isAllowed =
                Self.allowedFields.contains(key) || Self.allowedPrefixes.contains(where: key.hasPrefix)
            if !isAllowed || key == "cache-control" && CacheControl.has(["no-store"], value) {
                ofRequest = key == "cookie" ? .cookie : .requestField(name)
            }
        }
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - status: The status; nil if another request follows, because the response is a redirect.
    ///   - value: Returns the value of a header field.
    package mutating func receive(_ status: Int?, _ value: (_ name: String) -> String?) {
        if let status, status != 200 { ofResponse = ofResponse ?? .status(status) }
        if value("Set-Cookie") != nil { ofResponse = ofResponse ?? .responseField("Set-Cookie") }
        if let field = value("Cache-Control"), CacheControl.has(["no-store", "private"], field) {
            ofResponse = ofResponse ?? .responseField("Cache-Control")
        }
    }

    /// Notes that a server has asked for a credential.
    package mutating func challenge() { ofRequest = ofRequest ?? .challenge }

    /// The fields of a request that name no user: those that Fetch lets any page send (Fetch §2.2.2, CORS-safelisted
    /// request-headers), and those that URL loading and browsers write themselves.
    private static let allowedFields: Set = [
        "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-language",
        "content-type", "dnt", "host", "origin", "pragma", "priority", "range", "referer", "te",
        "upgrade-insecure-requests", "user-agent",
    ]
    private static let allowedPrefixes = ["if-", "sec-"]
}
