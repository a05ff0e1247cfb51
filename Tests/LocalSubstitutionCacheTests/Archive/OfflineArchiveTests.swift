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
    @Test("A copy keeps body and head, is labelled as a copy, and is found by another archive")
    func replayed() throws {
        let request = try request("a?b=1")
        let fields = ["Content-Type": "text/html", "Cache-Status": "edge; hit", "X-Own": "ü"]
        try keep("hello", for: request, fields)
        #expect(text(of: request) == "hello")
        let again = try makeArchive(capacity: 1_000_000)
        let head = try #require(again.answer(to: request)?.response as? HTTPURLResponse)
        #expect(head.statusCode == 200)
        #expect(head.url == request.url)
        #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html")
        #expect(head.value(forHTTPHeaderField: "X-Own") == "ü")
        let status = try #require(head.value(forHTTPHeaderField: "Cache-Status"))
        #expect(status.hasPrefix("edge; hit, LocalSubstitutionCache; fwd=bypass; detail=\"copy of 20"))
        #expect(status.hasSuffix("Z (offline)\""))
    }

    @Test("A body whose length differs from Content-Length is not kept, unless it was encoded")
    func wrongLength() throws {
        try keep("hello", for: request("a"), ["Content-Length": "4"])
        try keep("hello", for: request("b"), ["Content-Length": "4", "Content-Encoding": "gzip"])
        // URL loading could not read the length, or not decode the body.
        try keep("hello", for: request("c"), ["Content-Length": "0x5"])
        try keep("", for: request("d"), ["Content-Encoding": "br"])
        #expect(try ["a", "b", "c", "d"].map { try text(of: request($0)) } == [nil, "hello", nil, nil])
    }

    @Test("Equivalent spellings of a URL share one copy, and other URLs do not get it")
    func identity() throws {
        try keep("hello", for: request("%7ea/../b?x"))
        let same = try #require(URL(string: "HTTPS://EXAMPLE.com:443/b?x#top"))
        #expect(text(of: URLRequest(url: same)) == "hello")
        for other in ["b", "b?y", "B?x", "b?x&"] { #expect(try text(of: request(other)) == nil) }
    }

    @Test("A response that could not be given to anybody is not kept, and the field that says so is counted")
    func notKept() throws {
        try keep("hello", for: request("a"), status: 404)
        let fields = [("Set-Cookie", "a=b"), ("Vary", "*"), ("Vary", "Accept-Encoding, Cookie")]
        for (name, value) in fields { try keep("hello", for: request("a"), [name: value]) }
        #expect(
            archive.refusalCounts == [.status: 1, .responseField("Set-Cookie"): 1, .responseField("Vary"): 2]
        )
        #expect(files.isEmpty)
        let allowed = ["Vary": "accept-encoding, Origin", "Cache-Control": "no-cache, max-age=0"]
        try keep("hello", for: request("a"), allowed)
        #expect(try text(of: request("a")) == "hello")
    }

    @Test("A field of combining marks is read in linear time", arguments: ["Cache-Control", "Vary"])
    func marks(field: String) throws {
        let growth = try Growth.whenEightfold(500) { count in
            try keep("hello", for: request("a"), [field: "a" + String(repeating: "\u{301}\u{316}", count: count)])
        }
        #expect(growth < Growth.limit)
    }

    @Test("In a chain of redirects, each response and each request counts, and each host must be named")
    func redirects() throws {
        let archive = try OfflineArchive(
            directory: folder.url,
            capacity: 1000,
            hosts: ["example.com", "b.example"],
            hostsWithCredentials: ["example.com", "c.example"]
        )
        let first = try request("a", ["X-User-Id": "1"])
        func refusal(to host: String, _ fields: [String: String]) throws -> OfflineArchive.Refusal? {
            var request = URLRequest(url: try #require(URL(string: "https://\(host)/b")))
            request.setValue("a=b", forHTTPHeaderField: "Cookie")
            let load = IncomingCopy(of: first, version: 0, for: archive)
            try load.redirect(response(to: first, status: 302, fields), to: request)
            return load.refusal
        }
        for host in ["example.com", "c.example"] {
            #expect(try refusal(to: host, ["Set-Cookie": "a=b"]) == nil)
            #expect(try refusal(to: host, ["Cache-Control": "no-store"]) == .responseField("Cache-Control"))
        }
        for host in ["b.example", "d.example"] { #expect(try refusal(to: host, [:]) == .redirect) }
        let load = IncomingCopy(of: first, version: 0, for: archive)
        load.redirect(nil, to: first)
        #expect(load.refusal == .unseen)
        let plain = IncomingCopy(of: try request("a"), version: 0, for: self.archive)
        try plain.redirect(response(to: first, status: 302), to: first)
        #expect(plain.refusal == .requestField("X-User-Id"))
    }

    @Test("Responses for one user are kept for the hosts that the app names for them, but not with no-store")
    func ofOneUser() throws {
        let archive = try makeArchive(hostsWithCredentials: ["EXAMPLE.com"])
        let own = try request("a", ["Authorization": "Bearer x", "Cookie": "a=b", "X-User-Id": "1"])
        #expect(archive.accepts(own))
        try keep("mine", for: own, ["Set-Cookie": "a=b", "Cache-Control": "private"], in: archive)
        #expect(text(of: own, in: archive) == "mine")
        let head = archive.answer(to: own)?.response as? HTTPURLResponse
        #expect(head?.value(forHTTPHeaderField: "Set-Cookie") == nil)
        try keep("mine", for: request("b"), ["Cache-Control": "no-store"], in: archive)
        #expect(archive.refusalCounts == [.responseField("Cache-Control"): 1])
        let load = IncomingCopy(of: own, version: 0, for: archive)
        load.refuse(MissingBody.challenged)
        #expect(load.refusal == nil)
        // For any other host, what the request has is the reason.
        #expect(!self.archive.accepts(own))
        self.archive.countRefusal(of: try request("a", ["X-User-Id": "1"]))
        #expect(self.archive.refusalCounts == [.requestField("X-User-Id"): 1])
        let plain = IncomingCopy(of: try request("a"), version: 0, for: self.archive)
        plain.refuse(MissingBody.challenged)
        #expect(plain.refusal == .challenge)
    }

    @Test("Only a GET for a web URL of an allowed host, with neither own fields nor no-store, is accepted")
    func notAccepted() throws {
        let archive = try OfflineArchive(directory: folder.url, capacity: 1000, hosts: ["Example.com"]) {
            $0.url?.path != "/private"
        }
        #expect(try archive.accepts(request("a")) && !archive.accepts(request("private")))
        for method in ["POST", "HEAD"] {
            var other = try request("a")
            other.httpMethod = method
            #expect(!archive.accepts(other))
        }
        for fields in [["Cookie": "x=y"], ["X-Device-Id": "x=y"], ["Cache-Control": "no-store"]] {
            #expect(try !archive.accepts(request("a", fields)))
        }
        for url in ["ftp://example.com/", "https://me@example.com/", "file:///etc/passwd", "https://example.org/a"] {
            #expect(!archive.accepts(URLRequest(url: try #require(URL(string: url)))), "\(url)")
        }
    }

    @Test("The fields that a session adds and the cookies in its storage are those of its requests")
    func sessionFields() throws {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(SessionFields(configuration).added(to: try request("a")).allHTTPHeaderFields?.isEmpty != false)
        configuration.httpAdditionalHeaders = ["X-User-Id": 1, "Accept": "a"]
        let host = "example.com"
        let cookie = try #require(HTTPCookie(properties: [.name: "a", .value: "b", .domain: host, .path: "/c"]))
        let storage = try #require(configuration.httpCookieStorage)
        storage.setCookie(cookie)
        defer { storage.deleteCookie(cookie) }
        let fields = SessionFields(configuration)
        var own = URLRequest(url: try #require(URL(string: "https://b.example/")))
        own.setValue("b", forHTTPHeaderField: "Accept")
        #expect(fields.added(to: own).allHTTPHeaderFields == ["X-User-Id": "1", "Accept": "b"])
        #expect(fields.added(to: try request("c")).value(forHTTPHeaderField: "Cookie") == "")
    }

    @Test("The bytes that wait for the disk are bounded, even if one URL is kept again and again")
    func waiting() throws {
        let big = try makeArchive(capacity: 100_000_000)
        let request = try request("a")
        let response = try response(to: request)
        for number in 0..<40 {
            try big.keep(response, Data(repeating: UInt8(number), count: 15_000_000), for: request)
            #expect(big.held.value <= 32 << 20)
        }
        big.directory.queue.sync {}
        #expect(big.held.value == 0)
    }

    @Test("Bodies in flight share 32 MB, which a body that is refused leaves to the others")
    func budget() throws {
        func incoming(_ headers: [String: String] = [:], status: Int = 200) throws -> IncomingCopy {
            let request = try request("a")
            let incoming = IncomingCopy(of: request, version: 0, for: archive)
            try incoming.receive(response(to: request, status: status, headers))
            return incoming
        }
        let (first, other) = (try incoming(), try incoming())
        #expect(first.hasRoom(for: 20_000_000) && other.hasRoom(for: 10_000_000))
        // A body that lacks a part is refused as a whole.
        #expect(!other.hasRoom(for: 10_000_000) && !other.hasRoom(for: 1))
        #expect(archive.held.value == 20_000_000)
        first.refuse(MissingBody.incomplete)
        #expect(try incoming().hasRoom(for: 30_000_000))
        #expect(try !incoming().hasRoom(for: 40_000_000))
        #expect(try !incoming(["Cache-Control": "no-store"]).hasRoom(for: 1))
        #expect(try !incoming(status: 404).hasRoom(for: 1))
        #expect(archive.held.value == 0)
    }
}
