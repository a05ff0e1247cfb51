import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("Texts in messages")
struct QuotingTests {
    @Test(
        "The user information of a URL is left out, wherever the URL is",
        arguments: [
            ("https://user:s3cr3t@h/", "https://…@h/"), ("https://s3cr3t@h", "https://…@h"),
            ("//user:s3cr3t@h/p", "//…@h/p"), ("https:///user:s3cr3t@h", "https:///…@h"),
            ("https;//user:s3cr3t@h/a b", "https;//…@h/a b"), ("https://a@user:s3cr3t@@h/x", "https://…@h/x"),
            ("https://user:s3cr3t@[::1]:80/", "https://…@[::1]:80/"), ("https://user: s3cr3t\n@h", "https://…@h"),
            ("https://user:s3cr3t@\u{301}h/", "https://…@\u{301}h/"), ("https://ü:s3cr3t@h/@x", "https://…@h/@x"),
            ("https://DOMAIN\\user:s3\"cr3t@h/", "https://…@h/"), ("/web/https://user:s3cr3t@h/", "/web/https://…@h/"),
            ("https://h/?next=//user:s3cr3t@h/", "https://h/?next=//…@h/"),
            ("//a@b?//s3cr3t@b#//s3cr3t@b", "//…@b?//…@b#//…@b"),
        ]
    )
    func leftOut(text: String, shown: String) {
        #expect(visible(text) == shown)
        #expect(quoted(text) == "\"\(shown)\"")
        #expect(visible(shown) == shown)
        for count in 150...200 {
            let start = String(repeating: "a", count: count) + " "
            #expect(!quoted(start + text).contains("s3"))
            #expect(!quoted(text.replacing("s3", with: "s3" + start)).contains("s3"))
        }
    }

    @Test(
        "A text without user information stays unchanged",
        arguments: [
            "https://unpkg.com/react@18", "https://h/@scope/pkg", "me@example.com", "img//logo@2x.png", "//@",
            "https://@h/",
            "https://h//logo@2x.png", "git@github.com:org/repo.git", "https://h/?mail=me@x.org",
            "file:///Users/x/logo@2x.png",
        ]
    )
    func unchanged(text: String) { #expect(visible(text) == text) }

    @Test(
        "A cut text keeps an \"@\" if one may follow, raw or encoded",
        arguments: [
            ("b", ""), ("@", "@"), ("b%40", "@"), ("%2540", "@"), ("\\u0040", "@"), ("\\u{40}", "@"), ("4040", ""),
            ("&#064;", "@"), ("&#x40;", "@"), ("&commat;", "@"), ("\\x40", "@"), ("%4", ""), ("u00", ""), ("&#6", ""),
        ]
    )
    func cut(end: String, mark: String) {
        let text = String(repeating: "a", count: 190) + String(repeating: "é", count: 10)
        #expect(quoted(text) == "\"\(text)\"")
        #expect(quoted(text + end) == "\"\(text)…\(mark)\"")
        for count in 1..<max(2, end.count) {
            // The cut is inside the encoded "@".
            let start = String(repeating: "a", count: 200 - count)
            let shown = end.hasPrefix("\\") || end.hasPrefix("&") ? start : start + end.prefix(count)
            #expect(shortened(start + end + "bbbbbb") == "\(shown)…\(mark)")
        }
    }

    @Test("What is behind the cut of a long text costs less than a pass over the text")
    func cutCost() {
        let text = String(repeating: "a/2064", count: 50_000)
        let factor = Growth.factor(
            of: { #expect(shortened(text).hasSuffix("…@")) },
            over: { #expect(printable("é" + text).utf8.count == text.utf8.count + 2) },
            below: 1
        )
        #expect(factor < 1)
    }
}
