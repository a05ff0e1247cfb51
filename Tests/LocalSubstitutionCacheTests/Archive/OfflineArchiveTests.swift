import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

@Suite("Copies that an archive keeps and replays")
final class OfflineArchiveTests: ArchiveSuite, @unchecked Sendable {
    @Test("A copy keeps body and head without cookies, is labelled as a copy, and is found by another archive")
    func replayed() throws {
        let request = try request("a?b=1")
        let fields = ["Content-Type": "text/html", "Set-Cookie": "a=b", "Cache-Status": "edge; hit", "X-Own": "ü"]
        try keep("hello", for: request, fields)
        #expect(text(of: request) == "hello")
        let again = try OfflineArchive(directory: folder.url, capacity: 1_000_000)
        let head = try #require(again.answer(to: request)?.response as? HTTPURLResponse)
        #expect(head.statusCode == 200)
        #expect(head.url == request.url)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html")
        #expect(head.value(forHTTPHeaderField: "X-Own") == "ü")
        #expect(head.value(forHTTPHeaderField: "Set-Cookie") == nil)
        let status = try #require(head.value(forHTTPHeaderField: "Cache-Status"))
        #expect(status.hasPrefix("edge; hit, LocalSubstitutionCache; fwd=bypass; detail=\"copy of 20"))
        #expect(status.hasSuffix("Z (offline)\""))
    }

    @Test("A forged head with a long run of combining marks is no copy, raw or escaped")
    func marks() throws {
        for (mark, isCopy) in [("a", true), ("\\\\u0301", true), ("\u{0301}", false), ("\\u0301", false)] {
            let name = String(repeating: mark, count: 100)
            let head = Data("{\"url\":\"u\",\"responseURL\":\"u\",\"fields\":{\"\(name)\":\"\"},\"date\":1}".utf8)
            #expect((ArchivedCopy(decoding: ArchivedCopy.headerLine(head, Data()) + head) != nil) == isCopy)
        }
    }

    @Test("A copy that waits for the disk is replayed, and removed by removeAll()")
    func pending() throws {
        let request = try request("a")
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        for number in 0..<200 {
            archive.keep(response, Data("\(number)".utf8), for: request)
            #expect(text(of: request) == "\(number)")
        }
        archive.removeAll()
        #expect(text(of: request) == nil)
        archive.waitUntilWritten()
        #expect(text(of: request) == nil)
    }

    @Test("A body whose length differs from Content-Length is not kept, unless it was encoded")
    func wrongLength() throws {
        try keep("hello", for: request("a"), ["Content-Length": "4"])
        try keep("hello", for: request("b"), ["Content-Length": "4", "Content-Encoding": "gzip"])
        // URL loading could not read the length, or not decode the body.
        try keep("hello", for: request("c"), ["Content-Length": "0x5"])
        try keep("", for: request("d"), ["Content-Encoding": "br"])
        for path in ["c", "d"] { #expect(try text(of: request(path)) == nil) }
        #expect(try text(of: request("a")) == nil)
        #expect(try text(of: request("b")) == "hello")
    }

    @Test("Equivalent spellings of a URL share one copy, and other URLs do not get it")
    func identity() throws {
        try keep("hello", for: request("%7ea/../b?x"))
        let same = try #require(URL(string: "HTTPS://EXAMPLE.com:443/b?x#top"))
        #expect(text(of: URLRequest(url: same)) == "hello")
        for other in ["b", "b?y", "B?x", "b?x&"] { #expect(try text(of: request(other)) == nil) }
    }

    @Test(
        "A response that must not be stored is not kept",
        arguments: [
            (201, [:]), (206, [:]), (304, [:]), (404, [:]), (200, ["Cache-Control": "max-age=9, No-Store"]),
            (200, ["Cache-Control": "no-store=\"x\""]), (200, ["Cache-Control": "max-age=0;no-store"]),
            (200, ["Cache-Control": "max-age=0;private"]), (200, ["Cache-Control": "private=\"a"]),
            (200, ["Vary": "*"]), (200, ["Vary": "Accept-Encoding, Cookie"]),
            (200, ["X-CSRF-Token": "hunter2"]), (200, ["x-auth-token": "hunter2"]), (200, ["X-Api-Key": "hunter2"]),
            (200, ["Authorization": "Bearer hunter2"]), (200, ["Authentication-Info": "nextnonce=\"hunter2\""]),
            (200, ["Refresh": "0;url=/x?token=hunter2"]),
            (200, ["WWW-Authenticate": "Negotiate oYGKMIGHoAMKAQChCwYJKoZIgvcSAQICom8EbWBrBgkqhkiG9w0="]),
            (200, ["Content-Location": "/a?access_token=hunter2"]),
            (200, ["Link": "</a?access_token=hunter2>; rel=next"]), (200, ["X-Amzn-Remapped-Set-Cookie": "a=hunter2"]),
            (200, ["Access-Control-Allow-Origin": "https://anna:hunter2@h"]),
            (200, ["X-Data": "eyJhbGciOiJub25lIn0.x"]),
            (200, ["X-Token": "a" + String(repeating: "\u{301}\u{316}", count: 20)]),
        ]
    )
    func notKept(status: Int, headers: [String: String]) throws {
        try keep("hello", for: request("a"), status: status, headers)
        #expect(try text(of: request("a")) == nil)
        #expect(files.isEmpty)
    }

    @Test("A field of combining marks is read in linear time", arguments: ["X-Token", "Vary"])
    func marks(field: String) throws {
        let growth = try Growth.whenEightfold(500) { count in
            let value = "a" + String(repeating: "\u{301}\u{316}", count: count)
            try keep("hello", for: request("a"), [field: value])
        }
        #expect(growth < Growth.limit)
    }

    @Test(
        "A response that varies only by encoding, must be revalidated, or has ordinary fields, is kept",
        arguments: [
            ["Vary": "accept-encoding", "Cache-Control": "private, no-cache, max-age=0"], ["Set-Cookie": "a=b"],
            [
                "ETag": "\"68b329da9893e34099c7d8ad5cb9c940-gzip\"",
                "X-Request-Id": "123e4567-e89b-12d3-a456-426614174000",
                "X-Amz-Id-2": "eftixk72aD6Ap51TnqcoF8eFidJG9Z/2mkiDFu8yU9AS1ed4OpIszj7UDNEHGran",
                "CF-RAY": "8f3a9c1d2e4b5f60-FRA",
                "x-amz-server-side-encryption-aws-kms-key-id":
                    "arn:aws:kms:a:1:key/1234abcd-12ab-34cd-56ef-1234567890ab",
                "x-goog-hash": "md5=CY9rzUYh03PK3k6DJie09g==", "Surrogate-Key": "page/12 site", "X-Cache-Key": "/a/b",
                "X-Apple-Jingle-Correlation-Key": "ABCDEFGH2345", "xkey": "page-12", "Netlify-Vary": "cookie=lang",
                "X-OAuth-Scopes": "repo", "X-Authenticated": "0", "X-Cookies-Accepted": "no", "Signature": "a=:b3Bl:",
                "X-CSRF-Protection": "1; mode=block", "X-Cache-Cookies-Bypass": "feature-not-enabled",
                "Public-Key-Pins": "pin-sha256=\"d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\"",
            ],
            [
                "Content-Security-Policy":
                    "default-src 'self'; report-uri https://o1.ingest.sentry.io/api/1/security/?sentry_key=0a1b2c",
                "Report-To": "{\"url\":\"https://h/?token=a1b2c3\"}",
                "Access-Control-Allow-Headers": "Authorization, X-Api-Key, X-CSRF-Token",
                "Access-Control-Expose-Headers": "X-Auth-Token", "Access-Control-Allow-Credentials": "true",
                "Cross-Origin-Embedder-Policy": "credentialless", "Clear-Site-Data": "\"cache\", \"cookies\"",
                "Server-Timing": "auth;dur=5, cache;desc=hit",
                "Strict-Transport-Security": "max-age=63072000; includeSubDomains; preload",
                "Content-Digest": "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
                "Link": "<https://h/a.css?v=68b329da9893e34099c7d8ad5cb9c940>; rel=preload; as=style; nonce=abc",
                "Permissions-Policy": "publickey-credentials-get=(self), geolocation=()",
                "X-Permitted-Cross-Domain-Policies": "none", "Referrer-Policy": "origin",
            ],
        ]
    )
    func kept(headers: [String: String]) throws {
        for (name, value) in headers {
            try keep("hello", for: request(name), [name: value])
            #expect(try text(of: request(name)) == "hello", "\(name)")
        }
    }

    @Test("A secret in a response is kept for the hosts that the app names")
    func personalResponse() throws {
        let archive = try OfflineArchive(directory: folder.url, capacity: 1000, hostsWithCredentials: ["example.com"])
        try keep("hello", for: request("a"), ["X-CSRF-Token": "hunter2"], in: archive)
        #expect(try text(of: request("a"), in: archive) == "hello")
        let secrets = [
            ("X-CSRF-Token", "hunter2"), ("X-CSRF-Token", "correct-horse-battery"),
            ("X-Session-Id", "qzxwvkjhgfdpoiuyt"),
        ]
        for (name, value) in secrets { try keep("hello", for: request("b"), [name: value]) }
        #expect(self.archive.refusals == [.credentials: 3])
        // After a redirect, the secret is of a host that the app does not name.
        let other = try #require(URL(string: "https://example.org/"))
        let fields = ["X-CSRF-Token": "hunter2"]
        let response = HTTPURLResponse(url: other, statusCode: 200, httpVersion: nil, headerFields: fields)
        #expect(try archive.refusal(of: #require(response), to: request("a")) == .credentials)
    }

    @Test("A response that fits into the archive only without its header fields is not kept, and counted")
    func fullFile() throws {
        let archive = try OfflineArchive(directory: folder.url, capacity: 300)
        try keep(String(repeating: "x", count: 290), for: request("a"), in: archive)
        #expect(archive.copies.isEmpty && archive.refusals == [.length: 1])
    }

    @Test("Only a GET for a web URL, with neither credentials nor no-store, is accepted")
    func notAccepted() throws {
        var post = try request("a")
        post.httpMethod = "POST"
        var head = try request("a")
        head.httpMethod = "HEAD"
        #expect(try archive.accepts(request("a")))
        #expect(!archive.accepts(post))
        #expect(!archive.accepts(head))
        for name in ["Authorization", "Proxy-Authorization", "Cookie"] {
            #expect(try !archive.accepts(request("a", [name: "x=y"])))
        }
        #expect(try !archive.accepts(request("a", ["Cache-Control": "no-store"])))
        #expect(try archive.accepts(request("a", ["newrelic": "eyJ2IjpbMCwxXSwiZCI6e319"])))
        for url in ["ftp://example.com/", "https://me@example.com/", "file:///etc/passwd"] {
            #expect(!archive.accepts(URLRequest(url: try #require(URL(string: url)))), "\(url)")
        }
    }

    @Test("The allowed hosts, those with credentials, and a predicate decide what is accepted")
    func filters() throws {
        let archive = try OfflineArchive(
            directory: folder.url,
            capacity: 1000,
            hosts: ["Example.com"],
            hostsWithCredentials: ["EXAMPLE.com"],
            including: { $0.url?.path != "/private" }
        )
        #expect(try archive.accepts(request("a")))
        #expect(try archive.accepts(request("a", ["Authorization": "x", "Cookie": "y"])))
        #expect(try !archive.accepts(request("private")))
        #expect(!archive.accepts(URLRequest(url: try #require(URL(string: "https://example.org/a")))))
    }

    @Test("Cookies in the shared storage count as credentials")
    func storedCookies() throws {
        let url = try #require(URL(string: "https://\(UUID().uuidString.lowercased()).example/"))
        #expect(archive.accepts(URLRequest(url: url)))
        let host = try #require(url.host)
        let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "b", .domain: host, .path: "/"]))
        HTTPCookieStorage.shared.setCookie(cookie)
        defer { HTTPCookieStorage.shared.deleteCookie(cookie) }
        #expect(!archive.accepts(URLRequest(url: url)))
        var request = URLRequest(url: url)
        request.httpShouldHandleCookies = false
        #expect(archive.accepts(request))
    }

    @Test("The bytes that wait for the disk are bounded, even if one URL is kept again and again")
    func waiting() throws {
        let big = try OfflineArchive(directory: folder.url, capacity: 100_000_000)
        let request = try request("a")
        let url = try #require(request.url)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        for number in 0..<40 {
            big.keep(response, Data(repeating: UInt8(number), count: 15_000_000), for: request)
            #expect(big.memory.count <= 32 * 1024 * 1024)
        }
        big.waitUntilWritten()
        #expect(big.memory.count == 0)
    }

    @Test(
        "Bodies in flight share a budget, which one announced body may exceed alone, up to the archive's capacity"
    )
    func budget() throws {
        let big = try OfflineArchive(directory: folder.url, capacity: 100_000_000)
        func incoming(_ headers: [String: String], status: Int = 200) throws -> IncomingCopy {
            let request = try request("a")
            let url = try #require(request.url)
            let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers)
            let incoming = IncomingCopy(of: request, since: 0, version: 0, for: big)
            incoming.receive(head)
            return incoming
        }
        let endless = try incoming([:])
        #expect(endless.hasRoom(for: 20_000_000))
        let other = try incoming([:])
        #expect(other.hasRoom(for: 10_000_000))
        #expect(!other.hasRoom(for: 10_000_000))
        // If the budget has no room for a part, `IncomingCopy` releases the memory of the body's earlier parts, and
        // refuses all later parts.
        #expect(!other.hasRoom(for: 1))
        #expect(big.memory.count == 20_000_000)
        let announced = try incoming(["Content-Length": "60000000"])
        #expect(!announced.hasRoom(for: 60_000_000))
        endless.refuse(.incomplete)
        #expect(try incoming(["Content-Length": "60000000"]).hasRoom(for: 60_000_000))
        #expect(try !incoming([:]).hasRoom(for: 60_000_000))
        #expect(try !incoming(["Content-Length": "200000000"]).hasRoom(for: 1))
        #expect(try !incoming(["Cache-Control": "no-store"]).hasRoom(for: 1))
        #expect(try !incoming([:], status: 404).hasRoom(for: 1))
        #expect(big.memory.count == 0)
    }
}
