import Foundation
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
            ("https://user:s3cr3t@[::1]:80/", "https://…@[::1]:80/"), ("https://h \"me@h\"", "https://h \"me@h\""),
            ("https://user:s3cr3t@\u{301}h/", "https://…@\u{301}h/"), ("https://ü:s3cr3t@h/@x", "https://…@h/@x"),
            ("https://h is me@h", "https://h is me@h"), ("/web/https://user:s3cr3t@h/", "/web/https://…@h/"),
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
        }
    }

    @Test(
        "A text without user information stays unchanged",
        arguments: [
            "https://unpkg.com/react@18", "https://h/@scope/pkg", "me@example.com", "img//logo@2x.png", "//@",
            "https://@h/", "https://h//logo@2x.png", "git@github.com:org/repo.git", "https://h/?mail=me@x.org",
            "file:///Users/x/logo@2x.png",
        ]
    )
    func unchanged(text: String) { #expect(visible(text) == text) }

    @Test("A text is cut after its user information was left out")
    func cut() {
        let text = String(repeating: "a", count: 190) + String(repeating: "é", count: 10)
        #expect(quoted(text) == "\"\(text)\"" && quoted(text + "b") == "\"\(text)…\"")
        #expect(shortened("https://\(text)@h/\(text)") == "https://…@h/\(text.prefix(188))…")
    }

    @Test(
        "A URL in an app's messages has scheme, host, path and the names of parameters",
        arguments: [
            ("https://example.com/a?v=1&token=x#f", "https://example.com/a?v&token"),
            ("https://u:p@example.com:8443/a%2Fb?a%5B%5D=1&&=2&b", "https://…@example.com:8443/a%2Fb?a%5B%5D&&&b"),
            ("https://example.com?", "https://example.com?"), ("https://example.com/#?a=1", "https://example.com/"),
            ("/a?//u:p@h=1", "/a?//…@h"),
        ]
    )
    func requested(text: String, shown: String) throws {
        #expect(RequestedURL(try #require(URL(string: text))).description == shown)
    }
}
