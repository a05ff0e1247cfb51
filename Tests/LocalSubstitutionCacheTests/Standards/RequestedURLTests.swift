import Foundation
import LocalSubstitutionCache
import Testing

@Suite("A URL in an app's messages")
struct RequestedURLTests {
    @Test(
        "It has scheme, host, path and the names of parameters",
        arguments: [
            ("https://example.com/a?v=1&token=x#f", "https://example.com/a?v&token"),
            ("https://u:p@example.com:8443/a%2Fb?a%5B%5D=1&&=2&b", "https://…@example.com:8443/a%2Fb?a%5B%5D&&&b"),
            ("https://example.com?", "https://example.com?"), ("https://example.com/#?a=1", "https://example.com/"),
            ("/a?//u:p@h=1", "/a?//…@h"),
        ]
    )
    func description(text: String, shown: String) throws {
        #expect(RequestedURL(try #require(URL(string: text))).description == shown)
    }
}
