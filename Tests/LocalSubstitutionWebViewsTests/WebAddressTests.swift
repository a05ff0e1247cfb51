import Foundation
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Addresses as pages read them")
struct WebAddressTests {
    /// Returns a word for the kind of an address, followed by the parsed address.
    private static func words(_ text: String, from scheme: String?) -> String {
        var place = SourceMappedText(endingAt: 0)
        place.append(text.utf8, at: 0)
        let string = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
        return switch WebAddress(place.address.bytes, from: scheme) {
        case .absolute(let scheme, let authority, let rest): "absolute \(scheme)://\(authority)\(string(rest))"
        case .schemeRelative(let authority, let rest): "scheme //\(authority)\(string(rest))"
        case .relative(let path): "relative \(string(path))"
        case .other: "other"
        }
    }

    // The expected results follow the URL Standard. Node's `new URL()` gives the same results with an https page as
    // base.
    @Test(
        "An address on an https page is read as the URL Standard reads it",
        arguments: [
            ("", "relative "), ("?a", "relative ?a"), ("#a", "relative #a"), ("../a/./b", "relative ../a/./b"),
            ("1:2", "relative 1:2"), ("a/b:c", "relative a/b:c"), (#"..\a\b"#, "relative ../a/b"),
            (#"a?b\c#d\e"#, #"relative a?b\c#d\e"#), (#"#\"#, #"relative #\"#), ("'a'", "relative 'a'"),
            ("?a='b'#'", "relative ?a=%27b%27#'"), ("//h/a", "scheme //h/a"), (#"\\h\a"#, "scheme //h/a"),
            (#"\/h?a\b"#, #"scheme //h?a\b"#), (#"/\/\h\a\"#, "scheme //h/a/"), ("//h#a", "scheme //h#a"),
            ("//", "scheme //"), ("//u:p@h:1/a", "scheme //u:p@h:1/a"), (#"//h\@i/"#, "scheme //h/@i/"),
            (#"https:\\h\a"#, "absolute https://h/a"), ("https:///h", "absolute https://h"),
            (#"HTTPS:/\h"#, "absolute https://h"), ("https://", "absolute https://"), ("https:a", "relative a"),
            (#"https:\a"#, "relative /a"), ("https:", "relative "), ("https:?a", "relative ?a"),
            ("https:a:b", "relative ./a:b"), ("https: a", "relative ./ a"), ("https:,a", "relative ./,a"),
            ("https:..", "relative .."), ("http:h/a", "absolute http://h/a"), ("http:/h", "absolute http://h"),
            (#"http:\\\h\a"#, "absolute http://h/a"), ("HtTp://H:80/", "absolute http://H:80/"),
            ("data:a\\b", "other"), ("c:\\a", "other"), ("x+.-1:a", "other"), ("blob:https://h/a", "other"),
            (":a", "relative :a"), ("ä:b", "relative ä:b"), (" \u{1}i.png\u{1F} ", "relative i.png"),
            ("ht\ntps:\r//h\t/a", "absolute https://h/a"), ("/\n/h", "scheme //h"), ("java\tscript:a", "other"),
            ("\u{0}", "relative "),
        ]
    )
    func secure(text: String, reading: String) { #expect(Self.words(text, from: "https") == reading) }

    @Test(
        "Only the page's own scheme may precede a relative address; without a base, a host follows each scheme",
        arguments: [
            ("https:h/a", "http", "absolute https://h/a"), ("http:a", "http", "relative a"),
            ("http:///h/a", "http", "absolute http://h/a"), ("https:h/a", nil, "absolute https://h/a"),
            ("http:h", nil, "absolute http://h"), ("a", nil, "relative a"),
        ] as [(String, String?, String)]
    )
    func otherBases(text: String, scheme: String?, reading: String) {
        #expect(Self.words(text, from: scheme) == reading)
    }
}
