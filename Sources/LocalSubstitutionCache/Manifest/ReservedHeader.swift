/// The headers that a manifest may not set.
enum ReservedHeader {
    /// Why the header is not the manifest's to set; nil when it may be set.
    ///
    /// Names are case-insensitive.
    static func reason(for name: String) -> String? { reasons[name.lowercased()] }

    private static let reasons: [String: String] = {
        let computed = "the library computes it"
        let refused = "URL loading would refuse the response, now or later"
        return [
            "content-type": "use \"type\"", "content-length": computed, "content-range": computed,
            "accept-ranges": computed, "etag": computed, "cache-control": computed, "cache-status": computed,
            "expires": refused, "pragma": refused, "age": refused, "date": refused, "vary": refused,
            "www-authenticate": refused, "proxy-authenticate": refused,
            "last-modified": "a client would send it to the real server",
            "content-encoding": "the bytes are delivered as they are, and nothing would decode them",
            "transfer-encoding": "it belongs to a connection, and there is none",
            "connection": "it belongs to a connection, and there is none",
            "trailer": "it belongs to a connection, and there is none",
            "set-cookie": "a file has no session, and the cookie would replace the server's",
            "location": "a file does not redirect",
        ]
    }()
}
