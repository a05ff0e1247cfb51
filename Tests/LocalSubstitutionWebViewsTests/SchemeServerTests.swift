import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Answers under the mirrors' schemes", .serialized)
final class SchemeServerTests: SchemeSuite {
    private let css = "substitution-https://example.com/site.css"

    @Test(
        "A mirror is the same URL under another scheme; a URL that is not a web URL has none",
        arguments: [
            ("https://h/a?b#c", "substitution-https://h/a?b#c"), ("https://h", "substitution-https://h"),
            ("http://[::1]:8080/%7E", "substitution-http://[::1]:8080/%7E"), ("about:blank", "about:blank"),
            ("file:///a", "file:///a"), ("substitution-ftp://h/", "substitution-ftp://h/"), ("data:,", "data:,"),
        ]
    )
    func mirrors(url: String, mirror: String) throws {
        let cache = try cache()
        let (url, mirror) = (try #require(URL(string: url)), try #require(URL(string: mirror)))
        #expect(cache.mirror(of: url) == mirror && cache.original(of: mirror) == url)
        #expect(cache.mirror(of: mirror) == mirror && cache.original(of: url) == url)
    }

    @Test("An origin has the normal form that engines compare, whatever the path is")
    func origins() throws {
        let url = try #require(URL(string: "HTTPS://Example.com:443/A%2fb?C#D"))
        #expect(try cache().mirror(of: url).absoluteString == "substitution-https://example.com/A%2fb?C#D")
        for url in ["https://a.org/50%-off", "substitution-https://a.org/a b\\c?%", "https://A.org:443#%"] {
            #expect(WebOrigin(url)?.site == "https://a.org")
        }
    }

    @Test("The number of stylesheets remembered for their integrity is limited, and pages are not included")
    func manyPromises() async throws {
        let links = (0..<10_001).map { "<link integrity=x href=\($0).css>" }.joined()
        try folder.write("\(links)<link integrity=x href=promised.css>", to: "many.html")
        let css = "a{b:url(https://example.com/site.css)}"
        for name in ["0.css", "promised.css"] { try folder.write(css, to: name) }
        try folder.write("<a integrity=x href=two.html><link integrity=x href=two.html>", to: "one.html")
        try folder.write("<img src=https://example.com/site.css>", to: "two.html")
        let server = SchemeServer(try cache(#"{ "https://example.com/": "./" }"#))
        let text = { (path: String) in
            try await self.answer(server, self.request(Self.page + path, "GET", from: Self.page + "p")).text
        }
        for page in ["one.html", "many.html"] { _ = try await text(page) }
        #expect(try await text("0.css") == css)
        #expect(try await text("promised.css") != css)
        #expect(try await text("two.html") == "<img src=substitution-https://example.com/site.css>")
    }

    @Test("HEAD of a rewritten page has the head of GET")
    func rewrittenHead() async throws {
        try folder.write("<img src=https://example.com/site.css>", to: "page.html")
        let cache = try cache(#"{ "https://example.com/site.css": "site.css", "https://example.com/p": "page.html" }"#)
        let (get, head) = (try request(Self.page + "p"), try request(Self.page + "p", "HEAD"))
        let (whole, alone) = (try await answer(SchemeServer(cache), get), try await answer(SchemeServer(cache), head))
        #expect(whole.text == "<img src=substitution-https://example.com/site.css>" && alone.body.isEmpty)
        for answer in [whole, alone] {
            #expect(answer["Content-Length"] == "\(whole.body.count)" && answer["ETag"] == nil)
        }
    }

    @Test("A mapped URL is answered with its file, and with the fields that engines require, in every spelling")
    func file() async throws {
        let answer = try await answer(SchemeServer(cache()), request(css))
        #expect(answer.status == 200 && answer.text == body)
        #expect(answer["Content-Type"] == "text/css; charset=utf-8" && answer["Content-Length"] == "\(body.utf8.count)")
        #expect(answer["Cache-Control"] == "no-cache" && answer["Cross-Origin-Resource-Policy"] == "cross-origin")
        #expect(answer["Cache-Status"]?.contains("hit") == true && answer["Accept-Ranges"] == "bytes")
        for spelling in ["https://Example.COM:443/x/../site.css#x", "HTTPS://example.com/%73ite.css"] {
            let url = "Substitution-\(spelling)"
            #expect(try await self.answer(SchemeServer(cache()), request(url)).text == body)
        }
    }

    /// Pages and `Origin` fields, each with the answer's URL and CORS fields.
    private static let sharing: [(page: String?, origin: String?, isMirror: Bool, allowed: String?)] = [
        ("https://a.org/x", nil, false, "https://a.org"), ("https://a.org:8443/", nil, false, "https://a.org:8443"),
        ("https://a.org/", "https://frame.org", false, "https://frame.org"), ("https://a.org/", "null", false, nil),
        ("substitution-https://a.org/", nil, true, "substitution-https://a.org"), ("about:blank", nil, true, nil),
        (nil, nil, true, nil),
    ]

    @Test("An answer has the URL that its page expects, and allows its origin, or every one", arguments: sharing)
    func cors(page: String?, origin: String?, isMirror: Bool, allowed: String?) async throws {
        let request = try request(css, from: page, origin.map { ["Origin": $0] } ?? [:])
        let answer = try await answer(SchemeServer(cache()), request)
        #expect(answer.head.url?.absoluteString == (isMirror ? css : "https://example.com/site.css"))
        #expect(answer["Access-Control-Allow-Origin"] == (allowed ?? "*"))
        #expect(answer["Access-Control-Allow-Credentials"] == allowed.map { _ in "true" })
    }

    @Test(
        "CORS fields of the manifest are kept",
        arguments: [
            (#""access-control-allow-origin": "https://b.org""#, "https://b.org", "cross-origin"),
            (#""Access-Control-Allow-Origin": null"#, nil, "cross-origin"),
            (#""Cross-Origin-Resource-Policy": "same-site""#, "https://a.org", "same-site"),
        ]
    )
    func ownHeaders(header: String, allowed: String?, policy: String) async throws {
        let cache = try cache(#"{ "https://example.com/site.css": { "file": "site.css", "headers": { \#(header) } } }"#)
        let answer = try await answer(SchemeServer(cache), request(css, from: "https://a.org/"))
        #expect(answer["Access-Control-Allow-Origin"] == allowed && answer["Cross-Origin-Resource-Policy"] == policy)
    }

    @Test("Ranges are answered exactly, and unsatisfiable ones with 416")
    func ranges() async throws {
        let server = try SchemeServer(cache())
        let count = body.utf8.count
        for (range, bytes) in [("0-0", 0..<1), ("5-", 5..<count), ("-5", count - 5..<count), ("3-999999", 3..<count)] {
            let answer = try await answer(server, request(css, "GET", ["Range": "bytes=\(range)"]))
            #expect(answer.status == 206 && answer.body == Data(body.utf8)[bytes])
            #expect(answer["Content-Range"] == "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(count)")
            #expect(answer["Content-Length"] == "\(bytes.count)")
        }
        for range in ["\(count)-", "-0"] {
            let answer = try await answer(server, request(css, "GET", ["Range": "bytes=\(range)"]))
            #expect(answer.status == 416 && answer.body.isEmpty)
            #expect(answer["Content-Range"] == "bytes */\(count)" && answer["Content-Length"] == "0")
        }
        let range = "bytes=0-1"
        for fields in [["Range": "\(range),3-4"], ["Range": range, "If-Range": "\"other\""], ["If-None-Match": "*"]] {
            #expect(try await answer(server, request(css, "GET", fields)).status == 200)
        }
        #expect(try await answer(server, request(css, "HEAD", ["Range": range])).status == 200)
    }

    @Test("HEAD has the head of GET and no body; other methods are refused")
    func methods() async throws {
        let server = try SchemeServer(cache())
        let head = try await answer(server, request(css, "HEAD"))
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == "\(body.utf8.count)")
        let post = try await answer(server, request(css, "POST"))
        #expect(post.status == 405 && post["Allow"] == "GET, HEAD" && post.text.contains("its method is \"POST\""))
    }

    @Test("An unmapped URL is a 404 with the reason and its mirror's policy, which no page of another origin may read")
    func unmapped() async throws {
        let answer = try await answer(SchemeServer(cache()), request("substitution-https://www.example.com/site.css"))
        #expect(answer.status == 404 && answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.text.contains("because no entry names it; substitute explain names the nearest."))
        #expect(answer["Access-Control-Allow-Origin"] == nil && answer["Content-Length"] == "\(answer.body.count)")
        #expect(answer["Content-Security-Policy"]?.hasPrefix("default-src https:") == true)
        let networkFirst = try cache(#"{ "https://example.com/x": { "file": "site.css", "when": 404 } }"#)
        let asked = try await self.answer(SchemeServer(networkFirst), request("substitution-https://example.com/x"))
        #expect(asked.status == 404 && asked.text.contains("answers instead when"))
    }

    @Test(
        "A mirror URL without a web URL is a 404",
        arguments: [
            "https://example.com/site.css", "file:///etc/passwd", "substitution-file:///etc/passwd",
            "substitution-https:", "substitution-https:///site.css", "substitution-https://u@example.com/site.css",
        ]
    )
    func strange(url: String) async throws {
        #expect(try await answer(SchemeServer(cache()), request(url)).status == 404)
    }

    @Test("A large file is delivered in parts of 1 MiB without copies, and an empty one in none")
    func parts() async throws {
        let bytes = Data((0..<(5 << 19)).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
        try folder.write(bytes, to: "large.bin")
        try folder.write("", to: "empty.bin")
        let cache = try cache(#"{ "https://example.com/l": "large.bin", "https://example.com/e": "empty.bin" }"#)
        let large = try await answer(SchemeServer(cache), request("substitution-https://example.com/l"))
        #expect(large.body == bytes && large.parts == 3)
        let empty = try await answer(SchemeServer(cache), request("substitution-https://example.com/e"))
        #expect(empty.status == 200 && empty.body.isEmpty && empty["Content-Length"] == "0")
    }

    @Test("A small reply is available at once, and a large one is not")
    func immediate() throws {
        try folder.write(Data(count: SchemeReply.maximumImmediateSize + 1), to: "large.bin")
        let server = SchemeServer(try cache(#"{ "https://h/s": "site.css", "https://h/l": "large.bin" }"#))
        #expect(try server.reply(to: request("substitution-https://h/s")).immediate?.data.count == body.utf8.count)
        #expect(try server.reply(to: request("substitution-https://h/l")).immediate == nil)
    }

    @Test("After reload() the next request gets the new file, and a reply being read continues with the old one")
    func reload() async throws {
        try folder.write(Data(repeating: 1, count: 3 << 20), to: "site.css")
        try folder.write(#"{ "https://example.com/site.css": "site.css" }"#, to: "manifest.json")
        let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        let server = SchemeServer(cache)
        var reading = try server.reply(to: request(css, from: "https://h/")).makeAsyncIterator()
        _ = try await reading.next()
        guard case .data(var old)? = try await reading.next() else { Issue.record("no data"); return }
        // Replace the file with another one, as a build does.
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("site.css"))
        try folder.write("new", to: "site.css")
        try cache.reload()
        #expect(try await answer(server, request(css)).text == "new")
        while case .data(let data)? = try await reading.next() { old += data }
        #expect(old == Data(repeating: 1, count: 3 << 20))
    }

    @Test("Two caches answer independently")
    func twoCaches() async throws {
        try folder.write("other", to: "other.css")
        let first = SchemeServer(try cache())
        let second = SchemeServer(try cache(#"{ "https://example.com/site.css": "other.css" }"#))
        #expect(try await answer(first, request(css)).text == body)
        #expect(try await answer(second, request(css)).text == "other")
    }
}

@Suite("Calls that a web view's task allows", .serialized)
struct SchemeTaskStateTests {
    private static let made: [([SchemeTaskState.Call], [SchemeTaskState.Call])] = [
        ([], [.response, .fail]), ([.response], [.response, .data, .finish, .fail]),
        ([.response, .response], [.response, .data, .finish, .fail]), ([.response, .data], [.data, .finish, .fail]),
        ([.response, .finish], []), ([.response, .data, .finish], []), ([.fail], []), ([.response, .fail], []),
        ([.response, .data, .fail], []),
    ]

    @Test("After each sequence of calls only certain calls are allowed, and after a stop none", arguments: made)
    func allowed(calls: [SchemeTaskState.Call], next: [SchemeTaskState.Call]) {
        var state = SchemeTaskState()
        for call in calls where !state.allows(call) { Issue.record("\(call) is not allowed") }
        for call in SchemeTaskState.Call.allCases {
            var copy = state
            let isAllowed = copy.allows(call)
            #expect(isAllowed == next.contains(call))
            copy = state
            copy.stop()
            let isAllowedAfterStop = copy.allows(call)
            #expect(!isAllowedAfterStop)
        }
    }
}
