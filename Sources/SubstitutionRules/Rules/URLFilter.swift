/// The set of URLs that one rule of a web extension matches, in a form that all engines support.
///
/// The rules have the format of declarativeNetRequest (Chromium, Firefox, WebKit). A rule's `urlFilter` can express
/// neither a literal `*` nor a query parameter with any value. A rule's `regexFilter` can, but browsers accept only a
/// few rules with a `regexFilter`.
///
/// The regular expressions here use only syntax that WebKit's parser supports: literals, one repeated character class,
/// `.*`, `^` at the start and `$` at the end. They contain no group, because WebKit's time for rules with groups grows
/// with the square of the number of these rules.
package struct URLFilter: Hashable, Sendable {
    /// The beginning of the URL, percent-encoded as browsers send it, and therefore ASCII.
    package let start: String
    /// The text after an ignored parameter's value; nil if the filter ignores no parameter.
    let rest: String?
    /// True if the URL may continue with any text after `rest`, or after `start` if `rest` is nil.
    let isOpen: Bool

    /// The maximum length of ``rest``, in bytes.
    ///
    /// For a longer text, the expression that Chromium compiles exceeds Chromium's own limit. Chromium then drops the
    /// rule without a message. (Measured: 100 bytes are accepted, 110 are not.)
    static let longestRest = 80

    package init(_ start: String, rest: String? = nil, isOpen: Bool = false) {
        (self.start, self.rest, self.isOpen) = (start, rest, isOpen)
    }

    var isSecure: Bool { start.hasPrefix("https:") }

    /// The filter for the same URLs, each followed by a fragment.
    ///
    /// Engines compare the filter with the whole URL, including its fragment.
    var withFragment: URLFilter {
        rest.map { URLFilter(start, rest: $0 + "#", isOpen: true) } ?? URLFilter(start + "#", isOpen: true)
    }

    /// The filter as the text of a `urlFilter`; nil if only a regular expression can express it.
    package var pattern: String? {
        guard rest == nil, !start.utf8.contains(where: "*^|".utf8.contains) else { return nil }
        return "|\(start)\(isOpen ? "" : "|")"
    }

    /// The filter as a `regexFilter`, which matches the whole URL.
    package var regularExpression: String {
        // In a URL that a browser sends, a parameter's value contains ASCII without control characters, spaces, "#" and
        // "&".
        let value = rest.map { #"[!"$%'-~]*"# + Self.escaped($0) } ?? ""
        return "^\(Self.escaped(start))\(value)\(isOpen ? ".*" : "$")"
    }

    private static func escaped(_ literal: String) -> String {
        var result: [UInt8] = []
        for byte in literal.utf8 {
            if #"\.+*?()[]{}^$|"#.utf8.contains(byte) { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
