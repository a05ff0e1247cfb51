import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// The answer to whether a response may become a file, which every user of an app gets.
///
/// ``SharedCopyRule`` decides. What speaks only against the request, or sets a cookie, is decided by a second request,
/// without cookies and own fields: a site that sets a cookie on every visitor would lose all its files otherwise.
struct Sharing: Sendable {
    private var rule = SharedCopyRule()
    private var setsCookie = false
    /// The fields of requests by which the server chooses between versions.
    private var deciding: Set<String> = []
    /// The fields of the response on which a page depends, keyed by name.
    private(set) var policies: [String: String] = [:]
    /// True if the server sent the same bytes to the second request; nil if there was none.
    var isSameForAll: Bool?

    /// Judges a request; the pseudo fields of HTTP/2 are not fields.
    mutating func ask(_ method: String, _ fields: [String: String], sendsCookies: Bool) {
        var fields = fields.filter { !$0.key.hasPrefix(":") }.map { (name: $0.key, value: $0.value) }
        if sendsCookies { fields.append(("Cookie", "")) }
        rule.ask(method, fields.sorted { $0.name < $1.name })
    }

    /// Judges the fields of a response; others judge its status.
    mutating func receive(_ value: (_ name: String) -> String?) {
        setsCookie = setsCookie || value("Set-Cookie") != nil
        rule.receive(nil) { $0 == "Set-Cookie" ? nil : value($0) }
        let names = (value("Vary") ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        deciding.formUnion(names.filter { !Self.harmless.contains($0.lowercased()) })
        policies = [:]
        for name in Self.policyNames { policies[name] = value(name) }
        // A file's response lets every page read it, but none that sends credentials (Fetch §3.3.4).
        if policies.removeValue(forKey: Self.credentials) == "true", let origin = value(Self.origin) {
            policies.merge([Self.credentials: "true", Self.origin: origin]) { $1 }
        }
    }

    /// The names in `Vary` that say nothing about who gets what: compression, the sender's name, and the browser's.
    private static let harmless: Set = ["", "accept-encoding", "origin", "user-agent"]
    private static let (origin, credentials) = ("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials")
    private static let policyNames = [
        "Content-Security-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Resource-Policy", credentials,
    ]

    /// The predicate of a sentence for the user, if the server has other versions; nil if it names none.
    var remark: String? {
        if deciding.isEmpty { return nil }
        let names = shortened(deciding.sorted().joined(separator: ", "))
        return "varies by \(names) on its server, and ships to everybody as it is"
    }

    /// True if only a second request shows whether the response is for everybody.
    var isUncertain: Bool {
        switch rule.ofRequest {
        case .field, .challenge: !isForbidden
        case nil: setsCookie && !isForbidden
        case .method, .status: false
        }
    }

    /// True if the server forbids shared copies, whatever the request was.
    var isForbidden: Bool { rule.ofResponse != nil }

    /// The reason why the response is not for everybody, as a clause; nil if it is.
    var reason: String? {
        if isUncertain, isSameForAll == true { return nil }
        if case .field(let name) = rule.ofResponse { return "its server forbids shared copies (\(name))" }
        return switch rule.ofResponse ?? rule.ofRequest {
        case .method, .status, .challenge: "it is no response to GET that everybody gets"
        case .field(let name) where name.lowercased() == "cookie":
            "it was requested with cookies, and without them its server does not send the same"
        case .field(let name):
            "it was requested with \(quoted(name)), and without that field its server does not send the same"
        case nil where setsCookie: "its server sets a cookie (Set-Cookie), and does not send the same twice"
        case nil: nil
        }
    }
}

extension CommandOption where Self == Option<Bool> {
    static var includePrivate: Self {
        Self("include-private")
    }
}
