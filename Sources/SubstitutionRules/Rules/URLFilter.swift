/// The URLs that one rule of a web extension is about, in the words that all engines have for them.
///
/// Rules are read by declarativeNetRequest (Chromium, Firefox, WebKit). Its `urlFilter` can neither name a literal `*`
/// nor one value of a query; its `regexFilter` can, but browsers take few of those. Of regular expressions only what
/// WebKit's parser reads is used: literals, one class and its repetition, `^` first and `$` last; no group, because
/// the time that WebKit takes for rules with groups grows with the square of their number.
package struct URLFilter: Hashable, Sendable {
    /// How the URL begins, percent-encoded as browsers send it, and so ASCII.
    package let start: String
    /// What follows the value of a parameter that is ignored; nil when there is none, and `start` is all.
    let rest: String?
    /// Whether anything may follow.
    let isOpen: Bool

    /// How much may follow a value, in bytes: of more, Chromium makes an expression that is too large for it, and
    /// leaves it out without a word (measured: 100 are taken, 110 are not).
    static let longestRest = 80

    package init(_ start: String, rest: String? = nil, isOpen: Bool = false) {
        (self.start, self.rest, self.isOpen) = (start, rest, isOpen)
    }

    var isSecure: Bool { start.hasPrefix("https:") }

    /// The same URLs with a fragment, which engines compare, too.
    var withFragment: URLFilter {
        rest.map { URLFilter(start, rest: $0 + "#", isOpen: true) } ?? URLFilter(start + "#", isOpen: true)
    }

    /// The filter as `urlFilter`; nil when only a regular expression can say it.
    package var pattern: String? {
        guard rest == nil, !start.utf8.contains(where: "*^|".utf8.contains) else { return nil }
        return "|\(start)\(isOpen ? "" : "|")"
    }

    /// The filter as `regexFilter`, which matches the whole URL.
    package var regularExpression: String {
        // What a value may hold in a URL that a browser sends: ASCII without controls, spaces, "#" and "&".
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
