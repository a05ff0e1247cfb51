/// The header fields that a manifest may not set.
package enum ReservedHeader {
    /// Returns the reason why a manifest may not set the header field; nil if it may.
    ///
    /// Names are case-insensitive.
    static func reason(for name: String) -> String? { reasons[name.lowercased()] }

    /// The names of all these header fields, in lower case.
    package static var names: [String] { reasons.keys.sorted() }

    private static let reasons: [String: String] = {
        let computed = "the library computes it"
        let refused = "URL loading would refuse the response, now or later"
        let connection = "it describes a connection, and a file has none"
        return [
            "content-type": "the field \"type\" sets it", "content-length": computed, "content-range": computed,
            "accept-ranges": computed, "etag": computed, "cache-control": computed, "cache-status": computed,
            "expires": refused, "pragma": refused, "age": refused, "date": refused, "vary": refused,
            "www-authenticate": refused, "proxy-authenticate": refused,
            "last-modified": "a client would send it to the real server",
            "content-encoding": "the bytes are delivered as they are, and nothing would decode them",
            "transfer-encoding": connection, "connection": connection, "trailer": connection, "keep-alive": connection,
            "upgrade": connection, "te": connection, "proxy-connection": connection,
            "set-cookie": "a file has no session, and the cookie would replace the server's",
            "location": "a file does not redirect",
        ]
    }()
}
