// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("substitute add, hostile servers and redirects", .serialized)
struct HostileServerTests {
    private let site: RemoteSite

    init() throws {
        site = try RemoteSite()
        site.set("/dir/b.css", "b { }", type: "text/css")
        // If Foundation followed redirects to `file:///etc/passwd` and similar URLs, Foundation would request these
        // paths from the server instead.
        for path in ["/etc/passwd", "/", "/blank", "/x", "/a"] { site.set(path, "mangled", type: "text/css") }
    }

    private func add(_ path: String) async throws -> Program.Result { try await site.run("add", site.url + path) }

    /// Answers `/a.css` with a body that is sent in a coding or in chunks.
    private func set(_ field: String, _ value: String, _ body: Data) {
        let headers = ["Content-Type": "text/css", field: value]
        let transfer: LoopbackServer.Transfer = field == "Transfer-Encoding" ? .closing(after: body.count) : .whole
        site.set("/a.css", LoopbackServer.Response(headers: headers, body: body, transfer: transfer))
    }

    private static let bodies = [
        ("Content-Encoding", "utf-8", "a { }", "names a Content-Encoding that only a browser accepts"),
        ("Content-Encoding", "gzip, aws-chunked", "a { }", "load it with substitute add --in-browser"),
        ("Content-Encoding", "br", "zzzzzzzzz { }", "it is not in its Content-Encoding"),
        ("Content-Encoding", "gzip,gzip,gzip,gzip,gzip,gzip", "a { }", "load it with substitute add --in-browser"),
        ("Content-Encoding", "gzip", "a { }", "it is not in its Content-Encoding"),
        ("Transfer-Encoding", "chunked", "zz\r\na { }\r\n0\r\n\r\n", "the chunks of its body are broken"),
        ("Transfer-Encoding", "chunked", "5\r\na { }b\r\n0\r\n\r\n", "the connection was lost"),
        ("Transfer-Encoding", "chunked", "", "the connection was lost"),
    ]

    // Foundation decodes bodies itself on Apple's systems, and describes its problems in other words.
    @Test("A body that cannot be decoded is described in a sentence", .enabled(if: Platform.isLinux), arguments: bodies)
    func undecodable(field: String, value: String, body: String, message: String) async throws {
        set(field, value, Data(body.utf8))
        let before = site.listing
        let result = try await add("/a.css")
        #expect(result.status == 1 && result.errors.contains(message) && site.listing == before, "\(result)")
        #expect(result.errors.range(of: "curl|outstanding|hexadecimal|unencod", options: .regularExpression) == nil)
    }

    // Foundation on Linux reads heads more strictly than browsers.
    @Test("A head that cannot be read is described in a sentence", .enabled(if: Platform.isLinux))
    func unreadableHead() async throws {
        for head in ["200 OK\r\nContent-Type:text/css", "200 OK\r\nX-A: caf\u{E9}", "200"] {
            var response = LoopbackServer.Response()
            response.sending = { _, output in
                let text = "HTTP/1.1 \(head)\r\nContent-Length: 5\r\n\r\na { }"
                return output.send(text.data(using: .isoLatin1) ?? Data())
            }
            site.set("/a.css", response)
            let result = try await add("/a.css")
            #expect(result.status == 1 && result.errors.contains("a head that only a browser accepts"), "\(result)")
        }
    }

    private static let refusals = [
        (204, "X-A", "1", "it has no file at this URL"), (404, "X-A", "1", "its server answers 404"),
        (206, "Content-Range", "bytes 0-1/9", "its server answers 206"),
        (304, "ETag", "a", "load it with substitute add --in-browser"),
        (401, "WWW-Authenticate", #"Basic realm="a""#, "add its recording (HAR) with --include-private"),
        (403, "X-A", "1", "save it in a browser"), (429, "Retry-After", "120", "try again later"),
        (503, "X-A", "1", "try again later"), (302, "Location", "/a.css", "if its server needs a cookie"),
        (200, "Content-Type", "text/event-stream", "it is a stream (text/event-stream)"),
    ]

    @Test("A refusal says why, and what to do", arguments: refusals)
    func refusal(status: Int, field: String, value: String, message: String) async throws {
        let headers = ["Content-Type": "text/css"].merging([field: value]) { $1 }
        for body in ["a { }", ""] where status != 200 || body != "" {
            site.set("/a.css", LoopbackServer.Response(status: status, headers: headers, body: Data(body.utf8)))
            let result = try await add("/a.css")
            #expect(result.status == 1 && result.errors.contains(message), "\(result.errors)")
        }
    }

    @Test("A body that grows without end when it is decompressed is cut at the limit, and fills no memory")
    func bomb() async throws {
        set("Content-Encoding", "gzip", Self.compressedZeros(1_500_000_000))
        let manifest = site.folder.url.appendingPathComponent("manifest.json").path
        for words in ["add --max-size 1MB '\(manifest)' '\(site.url)/a.css'", "update -n --max-size 1MB '\(manifest)'"]
        {
            // Foundation would need more than 1 GB to queue the pieces of the body.
            let command = "ulimit -d 500000; exec '\(Tool.url.path)' \(words)"
            let result = try await Program.run("/bin/sh", ["-c", command])
            let isTold = (result.errors + result.output).contains("it has more than 1.0 MB")
            #expect(result.status == 1 && isTold, "\(result)")
            try site.folder.write("{ \"\(site.url)/a.css\": \"a.css\" }", to: "manifest.json")
            try site.folder.write(String(repeating: "\0", count: 1_500_000), to: "a.css")
        }
    }

    /// Returns gzip data (RFC 1952) that is decompressed to `count` zeros, without its end.
    private static func compressedZeros(_ count: Int) -> Data {
        // RFC 1951 §3.2.6: a block with fixed codes, a literal 0, and copies of the 258 bytes before.
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        let copy: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        // Eight copies are 13 whole bytes.
        for _ in 0..<16 { bits += copy }
        let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << $1 }
        }
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + bytes.prefix(2)
        for _ in 0..<count / (8 * 258) { data.append(contentsOf: bytes[2..<15]) }
        return data
    }

    @Test("A load that is too slow for its size ends, although its server is never silent for long")
    func slow() async throws {
        site.setEndless("/a.css")
        let fetcher = Fetcher(Network(configuration: { .ephemeral }, showProgress: nil), shortestTime: 1)
        defer { fetcher.finish() }
        let url = try #require(URL(string: "\(site.url)/a.css"))
        let file = site.folder.url.appendingPathComponent("a.css")
        let error = try await #require(throws: ToolError.self) {
            _ = try await fetcher.load(url, headers: [:], to: file, limit: 9_000_000)
        }
        // On a busy machine, the check comes later than after one second.
        let sentence = /its server is too slow: [0-9,]+ bytes? in \d+ seconds/
        #expect(error.message.wholeMatch(of: sentence) != nil, "\(error.message)")
    }

    private static let insides = [
        "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "10.1.2.3", "172.16.0.1",
        "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1",
        "[::1]", "[::]", "[fe80::1]", "[fe80::1%25eth0]", "[fd00::1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]", "localhost", "LocalHost.", "a.localhost", "printer.local", "router.home.arpa",
        "metadata.google.internal", "intranet",
    ]
    private static let outsides = [
        "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "192.167.0.1", "[2606:4700::1111]", "[::ffff:8.8.8.8]",
        "example.com", "localhost.example.com", "10.example.com", "local.org",
    ]

    @Test("Addresses of private networks are recognised in every spelling")
    func privateNetwork() throws {
        for host in Self.insides + Self.outsides {
            let url = try #require(URL(string: "http://\(host):8080/a"))
            #expect(PrivateNetwork.contains(url) == Self.insides.contains(host), "\(host)")
        }
    }

    // MARK: - Redirects

    private func redirect(_ path: String, to location: String, status: Int = 302) {
        site.set(path, LoopbackServer.Response(status: status, headers: ["Location": location]))
    }

    private static let locations = [
        ("b.css", 301), ("./b.css", 302), ("/dir/b.css", 303), ("../dir/b.css", 307), ("//HOST/dir/b.css", 308),
        ("HTTP://HOST/dir/b.css", 302), ("b.css#x", 301),
    ]

    @Test("Redirects to http and https are followed, as RFC 3986 resolves them", arguments: locations)
    func followed(location: String, status: Int) async throws {
        let host = try #require(site.url.split(separator: "/").last)
        redirect("/dir/a.css", to: location.replacingOccurrences(of: "HOST", with: host), status: status)
        let result = try await add("/dir/a.css")
        #expect(result.status == 0 && site.file("\(site.name)/dir/b.css") == "b { }", "\(result)")
        #expect(site.requests() == ["GET /dir/a.css", "GET /dir/b.css"])
    }

    private static let others = [
        ("file:///etc/passwd", "no http: or https: URL"), ("FILE:/etc/passwd", "no http:"),
        ("data:text/css,x", "no http: or https: URL"), ("about:blank", "no http:"), ("javascript:x", "no http:"),
        ("ftp://h/a", "no http:"), ("http:a", "URL with a server"), ("file://user:s3cr3t@h/x", "\"file://…@h/x\""),
    ]

    @Test("Redirects to other schemes are refused, and no other server is contacted", arguments: others)
    func refused(location: String, message: String) async throws {
        redirect("/a.css", to: location)
        let before = site.listing
        let result = try await add("/a.css")
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.errors.contains("it is redirected") && result.errors.contains(message), "\(result.errors)")
        #expect(site.requests() == ["GET /a.css"] && site.listing == before)
    }

    @Test("A long chain of redirects is followed, but not an endless one")
    func bounded() async throws {
        for number in 0..<30 { redirect("/\(number).css", to: "\(number + 1).css") }
        site.set("/30.css", "b { }", type: "text/css")
        #expect(try await add("/10.css").status == 0)
        _ = site.requests()
        let result = try await add("/9.css")
        #expect(result.status == 1 && result.errors.contains("it is redirected too many times"), "\(result)")
        #expect(site.requests().count == 21)
    }

    @Test("Redirects from https to http are refused, and user info is dropped")
    func judged() throws {
        func target(_ source: String, _ location: String) throws -> String? {
            let (url, fields) = (try #require(URL(string: source)), ["Location": location])
            let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: fields)
            return try Redirect.target(of: #require(response))?.absoluteString
        }
        #expect(try target("https://h/a", "//h/b") == "https://h/b")
        #expect(try target("http://h/a", "https://h/b") == "https://h/b")
        #expect(try target("https://h/a", "https://user:pass@h/b") == "https://h/b")
        let error = try #require(throws: ToolError.self) { try target("https://h/a", "http://h/b") }
        #expect(error.message == "it is redirected to \"http://h/b\", and http: is less safe than https:")
    }

    @Test("A URL with a scheme in capitals is loaded, and its entry keeps the spelling")
    func capitals() async throws {
        let url = site.url.replacingOccurrences(of: "http:", with: "HTTP:") + "/dir/b.css"
        let result = try await site.run("add", url)
        #expect(result.status == 0 && site.file("manifest.json")?.contains("\"\(url)\"") == true, "\(result)")
        let outdated = try await site.run("update", "--dry-run")
        #expect(outdated.status == 0 && outdated.output == "1 file: 1 is up to date\n", "\(outdated)")
    }

    @Test("A redirect from a public server to a private address is not followed")
    func redirected() throws {
        let target = try #require(URL(string: "http://10.0.0.1/"))
        let source = try #require(URL(string: "https://example.com/a"))
        let error = try #require(throws: ToolError.self) { try Redirect.check(target, after: source) }
        #expect(error.message.contains("\"http://10.0.0.1/\", which lies in a private network"), "\(error.message)")
        try Redirect.check(source, after: source)
        try Redirect.check(target, after: target)
    }
}
#endif
