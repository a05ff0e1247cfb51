import Foundation
import SubstitutionRules
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects")
struct RedirectTests {
    /// Returns the request after a request with credentials for `http://h:8080/from/here` was redirected.
    private func next(_ location: String) throws -> URLRequest {
        let url = try #require(URL(string: "http://h:8080/from/here"))
        let fields = ["Location": location]
        let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: fields))
        var request = URLRequest(url: url)
        for (name, value) in ["Authorization": "Basic eDp5", "Cookie": "a=b", "X-A": "b"] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return try #require(head.redirected(request))
    }

    @Test(
        "Location is resolved as RFC 3986 §5 says",
        arguments: [
            ("page2", "/from/page2"), ("/page2", "/page2"), ("../page2?x=%2F", "/page2?x=%2F"), ("./a/../b", "/from/b"),
            ("?y", "/from/here?y"), ("/a%2Fb", "/a%2Fb"), ("/%7Euser", "/%7Euser"), ("/a;b=c", "/a;b=c"),
            ("//other/there", "http://other/there"), ("https://other/there", "https://other/there"),
        ]
    )
    func resolved(location: String, target: String) throws {
        let expected = target.hasPrefix("/") ? "http://h:8080" + target : target
        #expect(try next(location).url?.absoluteString == expected)
    }

    @Test(
        "Authorization and Cookie are sent to the same origin, but not to another; a user name does not change it",
        arguments: [
            ("/page2", true), ("http://me:secret@h:8080/page2", true), ("http://h:8081/page2", false),
            ("http://other:8080/page2", false), ("https://h:8080/page2", false),
        ]
    )
    func credentials(location: String, isSameOrigin: Bool) throws {
        let request = try next(location)
        #expect(request.value(forHTTPHeaderField: "Authorization") == (isSameOrigin ? "Basic eDp5" : nil))
        #expect(request.value(forHTTPHeaderField: "Cookie") == (isSameOrigin ? "a=b" : nil))
        #expect(request.value(forHTTPHeaderField: "X-A") == "b")
        // A user name is not sent to another origin.
        #expect(try next("http://me:secret@other/page2#top").url?.absoluteString == "http://other/page2#top")
    }
}
