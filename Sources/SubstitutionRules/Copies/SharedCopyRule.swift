// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

import LocalSubstitutionCache

/// The rule by which a response may be given to others.
///
/// HTTP lets a shared cache keep it (RFC 9111 §3), and nothing in the request could have named a user.
///
/// Pass each request and each response of a chain of redirects, in their order. No value of a field is read, except
/// that of `Cache-Control`.
package struct SharedCopyRule: Sendable {
    /// A fact that forbids giving the response away.
    package enum Objection: Hashable, Sendable, CustomStringConvertible {
        /// Only responses to GET are given away; the name is that of the request's method.
        case method(String)
        /// A field of the request that is not in ``allowedFields``, the response's `Set-Cookie`, or a `Cache-Control`
        /// with the word `no-store`, in a response also with `private` (RFC 9111 §5.2).
        case field(String)
        /// A server has asked for a credential (RFC 9111 §3.5).
        case challenge
        /// The status of the last response is not 200.
        case status(Int)

        package var description: String {
            switch self {
            case .method(let method): "its method is \(method)"
            case .field(let name): "its request or response has the field \(name)"
            case .challenge: "its server has asked for a password"
            case .status(let status): "its status is \(status)"
            }
        }
    }

    /// The objection to the request; the same URL may have a response for everybody.
    package private(set) var ofRequest: Objection?
    /// The objection to the response, whatever the request was.
    package private(set) var ofResponse: Objection?
    /// Nil as long as the response may be given away.
    package var objection: Objection? { ofRequest ?? ofResponse }
    /// True if the rule is that of the user's own cache: only `no-store`, the method and the status count.
    private let isOfUser: Bool

    package init(isOfUser: Bool = false) { self.isOfUser = isOfUser }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - fields: The header fields, also those that the session adds, and `Cookie` if a cookie goes with the request.
    package mutating func ask(_ method: String, _ fields: some Sequence<(name: String, value: String)>) {
        if method != "GET" { ofRequest = ofRequest ?? .method(method) }
        for (name, value) in fields where ofRequest == nil {
            let key = name.lowercased()
            let isAllowed =
                isOfUser || Self.allowedFields.contains(key) || Self.allowedPrefixes.contains(where: key.hasPrefix)
            if !isAllowed || key == "cache-control" && Self.has("no-store", value) {
                ofRequest = .field(name)
            }
        }
    }

    /// Judges a request that has the fields of its session.
    package mutating func ask(_ request: URLRequest) {
        ask(request.httpMethod ?? "GET", (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) })
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - status: The status; nil if another request follows, because the response is a redirect.
    ///   - value: Returns the value of a header field.
    package mutating func receive(_ status: Int?, _ value: (_ name: String) -> String?) {
        if let status, status != 200 { ofResponse = ofResponse ?? .status(status) }
        if !isOfUser, value("Set-Cookie") != nil { ofResponse = ofResponse ?? .field("Set-Cookie") }
        if let field = value("Cache-Control"), Self.has("no-store", field) || !isOfUser && Self.has("private", field) {
            ofResponse = ofResponse ?? .field("Cache-Control")
        }
    }

    /// Notes that a server has asked for a credential.
    package mutating func challenge() { if !isOfUser { ofRequest = ofRequest ?? .challenge } }

    /// Returns whether a response with this `Vary` may differ for the same URL (RFC 9110 §12.5.5).
    ///
    /// URL loading undoes `Accept-Encoding`, and `Origin` changes header fields only.
    package static func varies(_ vary: String?) -> Bool {
        guard let vary, vary.isStreamSafe else { return vary != nil }
        let names = vary.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return !Set(names).isSubset(of: ["accept-encoding", "origin"])
    }

    /// Returns whether a field contains a word anywhere.
    ///
    /// A malformed list may have been meant to forbid storing.
    private static func has(_ word: String, _ field: String) -> Bool { field.lowercased().utf8.contains(word.utf8) }

    /// The fields of a request that name no user: those that Fetch lets any page send (Fetch §2.2.2, CORS-safelisted
    /// request-headers), and those that URL loading and browsers write themselves.
    private static let allowedFields: Set = [
        "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-language",
        "content-type", "dnt", "host", "origin", "pragma", "priority", "range", "referer", "te",
        "upgrade-insecure-requests", "user-agent",
    ]
    private static let allowedPrefixes = ["if-", "sec-"]
}
