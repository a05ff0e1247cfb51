import Foundation

/// A key of the manifest: one URL, or `//host/path` for the same URL in http and https.
package struct URLPattern: Sendable {
    /// One URL that the key represents.
    package struct Target: Sendable {
        /// The URL as the manifest spells it, but with every character that is not allowed in a URL percent-encoded.
        package let spelling: String
        package let identity: URLIdentity
        /// True if the manifest names the scheme; false if it leaves the scheme open with `//`.
        let namesScheme: Bool
    }

    /// The key as written, but with every character that is not allowed in a URL percent-encoded.
    package let spelling: String
    /// The URLs that the key represents: one, or two if the key has no scheme.
    package let targets: [Target]
}

extension URLPattern {
    package init(_ key: String) throws(URLProblem) {
        try Self.checkText(key)
        let namesScheme = !key.hasPrefix("//")
        let authority = key.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // RFC 3986 §3.2.2 allows a "*" in a host's name, but no real host has a "*".
        let host = authority.prefix { !$0.isOne(of: "/?:") }
        if host.contains(UInt8(ascii: "*")) { throw .host(String(Substring(host))) }
        // After the host, encode all bytes that a URL may not hold there, such as brackets. Keep each "%" as written.
        let path = authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? key.endIndex
        let isKept = { (byte: UInt8) in byte.isPathCharacter || byte.isOne(of: "?%") }
        // If nothing has to be encoded, use the text itself instead of a copy.
        let isSpelled = key.utf8[path...].allSatisfy(isKept)
        let spelling = isSpelled ? key : key[..<path] + Self.encoded(String(key[path...]), keeping: isKept)
        let targets = try (namesScheme ? [""] : ["https:", "http:"]).map { prefix throws(URLProblem) in
            let url = prefix + key
            let identity = try URLIdentity(url)
            return Target(spelling: isSpelled ? url : prefix + spelling, identity: identity, namesScheme: namesScheme)
        }
        // `URLIdentity` also accepts invalid queries that browsers send. In a key, such a query is a mistake.
        if let query = key.utf8.firstIndex(of: UInt8(ascii: "?")) {
            _ = try URLIdentity.normalised(String(key[query...]).composed.utf8)
        }
        self.init(spelling: spelling, targets: targets)
    }

    /// Checks a manifest's key for characters that are mistakes there, but not in the URL of a request.
    private static func checkText(_ key: String) throws(URLProblem) {
        if key.utf8.contains(UInt8(ascii: "#")) { throw .fragment }
        if key.utf8.first == UInt8(ascii: " ") || key.utf8.last == UInt8(ascii: " ") {
            throw .spaceAround(String(key.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()))
        }
        if key.isASCII { return }
        // These invisible scalars are allowed, because they join letters and emoji.
        let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}", "\u{FE0F}"]
        if let scalar = key.unicodeScalars.first(where: { $0.value > 0x7F && $0.isInvisible && !joiners.contains($0) })
        {
            throw .invisible(scalar)
        }
    }

    package var query: String? { targets.first?.identity.query }

    /// True if the URL as written ends in "/", so that the path of a file in a folder can be appended.
    package var isFolder: Bool { spelling.utf8.last == UInt8(ascii: "/") }

    /// The key in a form that is equal for keys of the same URL; a search for duplicate keys compares this form.
    package var identityKey: String {
        // For a single target, return its text itself instead of a copy.
        let texts = targets.map(\.identity.description)
        return texts.count == 1 ? texts[0] : texts.joined(separator: " ")
    }

    /// Returns the pattern of one file of a folder entry.
    ///
    /// An empty path gives the folder's own URL.
    func appending(path: String) -> URLPattern {
        let path = Self.encoded(path, keeping: \.isPathCharacter)
        let targets = targets.compactMap { target in
            let url = target.spelling + path
            return (try? URLIdentity(url)).map { Target(spelling: url, identity: $0, namesScheme: target.namesScheme) }
        }
        return URLPattern(spelling: spelling + path, targets: targets)
    }

    /// Returns `text` in NFC; the bytes for which `isKept` is false are percent-encoded.
    private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        if text.utf8.allSatisfy(isKept) { return text }
        var result: [UInt8] = []
        for byte in text.composed.utf8 {
            if isKept(byte) { result.append(byte) } else { URLIdentity.appendEncoded(byte, to: &result) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
