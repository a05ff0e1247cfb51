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

@Suite("substitute add and hostile servers", .serialized)
struct HostileServerTests {
    private let site: RemoteSite

    init() throws { site = try RemoteSite() }

    /// Answers `/a.css` with a body that is sent in a coding or in chunks.
    private func set(_ field: String, _ value: String, _ body: Data) {
        let headers = ["Content-Type": "text/css", field: value]
        let transfer: LoopbackServer.Transfer = field == "Transfer-Encoding" ? .closing(after: body.count) : .whole
        site.set("/a.css", LoopbackServer.Response(headers: headers, body: body, transfer: transfer))
    }

    // Foundation decodes bodies itself on Apple's systems, and describes its problems in other words.
    @Test(
        "A body that cannot be decoded is described in a sentence",
        .enabled(if: Platform.isLinux),
        arguments: [
            ("Content-Encoding", "utf-8", "a { }", "names a Content-Encoding that only a browser accepts"),
            ("Content-Encoding", "gzip, aws-chunked", "a { }", "load it with substitute add --in-browser"),
            ("Content-Encoding", "br", "zzzzzzzzz { }", "it is not in its Content-Encoding"),
            ("Content-Encoding", "gzip,gzip,gzip,gzip,gzip,gzip", "a { }", "load it with substitute add --in-browser"),
            ("Content-Encoding", "gzip", "a { }", "it is not in its Content-Encoding"),
            ("Transfer-Encoding", "chunked", "zz\r\na { }\r\n0\r\n\r\n", "the chunks of its body are broken"),
            ("Transfer-Encoding", "chunked", "-5\r\na { }\r\n0\r\n\r\n", "the chunks of its body are broken"),
            ("Transfer-Encoding", "chunked", "fffffffffffffffffff\r\na { }\r\n", "the chunks of its body are broken"),
            ("Transfer-Encoding", "chunked", "5\r\na { }\r\nzz\r\n\r\n", "the chunks of its body are broken"),
            ("Transfer-Encoding", "chunked", "5\r\na { }b\r\n0\r\n\r\n", "the connection was lost"),
            ("Transfer-Encoding", "chunked", "5\r\na { }\r\n0\r\n", "the connection was lost"),
            ("Transfer-Encoding", "chunked", "", "the connection was lost"),
        ]
    )
    func undecodable(field: String, value: String, body: String, message: String) async throws {
        set(field, value, Data(body.utf8))
        let before = site.listing
        let result = try await site.run("add", "\(site.url)/a.css")
        #expect(result.status == 1 && result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.range(of: "curl|outstanding|hexadecimal|unencod", options: .regularExpression) == nil)
        #expect(site.listing == before)
    }

    // Foundation on Linux reads heads more strictly than browsers.
    @Test(
        "A head that cannot be read is described in a sentence",
        .enabled(if: Platform.isLinux),
        arguments: ["200 OK\r\nContent-Type:text/css", "200 OK\r\nX-A: caf\u{E9}", "200"]
    )
    func unreadableHead(head: String) async throws {
        var response = LoopbackServer.Response()
        response.sending = { _, output in
            let text = "HTTP/1.1 \(head)\r\nContent-Length: 5\r\n\r\na { }"
            return output.send(text.data(using: .isoLatin1) ?? Data())
        }
        site.set("/a.css", response)
        let result = try await site.run("add", "\(site.url)/a.css")
        #expect(result.status == 1 && result.errors.contains("a head that only a browser accepts"), "\(result)")
    }

    @Test(
        "A refusal says why, and what to do",
        arguments: [
            (204, "X-A", "1", "it has no file at this URL"), (404, "X-A", "1", "its server answers 404"),
            (206, "Content-Range", "bytes 0-1/9", "its server answers 206"),
            (304, "ETag", "a", "load it with substitute add --in-browser"),
            (
                401, "WWW-Authenticate", #"Basic realm="a""#,
                "sign in there in a browser, and add its recording (HAR) with --include-private"
            ),
            (403, "X-A", "1", "save it in a browser"), (429, "Retry-After", "120", "try again later"),
            (503, "X-A", "1", "try again later"),
            (200, "Content-Type", "text/event-stream", "it is a stream (text/event-stream)"),
            (302, "Location", "/a.css", "if its server needs a cookie"),
        ]
    )
    func refusal(status: Int, field: String, value: String, message: String) async throws {
        let headers = ["Content-Type": "text/css"].merging([field: value]) { $1 }
        for body in ["a { }", ""] where status != 200 || body != "" {
            site.set("/a.css", LoopbackServer.Response(status: status, headers: headers, body: Data(body.utf8)))
            let result = try await site.run("add", "\(site.url)/a.css")
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
            #expect(result.status == 1, "\(result)")
            #expect((result.errors + result.output).contains("it has more than 1.0 MB"), "\(result)")
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
        let configuration: @Sendable () -> URLSessionConfiguration = { .ephemeral }
        let fetcher = Fetcher(Network(configuration: configuration, showProgress: nil), shortestTime: 1)
        defer { fetcher.finish() }
        let url = try #require(URL(string: "\(site.url)/a.css"))
        let error = try await #require(throws: ToolError.self) {
            _ = try await fetcher.load(
                url,
                headers: [:],
                to: site.folder.url.appendingPathComponent("a.css"),
                limit: 9_000_000
            )
        }
        // On a busy machine, the check comes later than after one second.
        let sentence = /its server is too slow: [0-9,]+ bytes? in \d+ seconds/
        #expect(error.message.wholeMatch(of: sentence) != nil, "\(error.message)")
    }

    // Only Linux lists the descriptors of a process in /proc.
    #if os(Linux)
    @Test("Sessions whose loads have ended hold no descriptors")
    func descriptors() async throws {
        await #expect(processExitsWith: .success) {
            let site = try RemoteSite()
            site.set("/a.css", "a", type: "text/css")
            let url = try #require(URL(string: "\(site.url)/a.css"))
            func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            let before = try count()
            for _ in 0..<100 {
                let fetcher = Fetcher(Network(configuration: { .ephemeral }, showProgress: nil))
                _ = try await fetcher.load(url, headers: [:], to: site.folder.url.appendingPathComponent("b"), limit: 9)
                fetcher.finish()
            }
            // Foundation releases a session a little later.
            try await wait(for: "the descriptors to be closed") { try count() <= before + 50 }
        }
    }
    #endif

    @Test(
        "Addresses of private networks are recognised in every spelling",
        arguments: [
            ("127.0.0.1", true), ("127.1", true), ("2130706433", true), ("0x7f.1", true), ("0177.0.0.1", true),
            ("127.0.0.1.", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.31.255.255", true),
            ("192.168.0.1", true), ("169.254.169.254", true), ("100.64.0.1", true), ("0.0.0.0", true),
            ("255.255.255.255", true), ("224.0.0.1", true), ("[::1]", true), ("[::]", true), ("[fe80::1]", true),
            ("[fe80::1%25eth0]", true), ("[fd00::1]", true), ("[::ffff:10.0.0.1]", true), ("[64:ff9b::7f00:1]", true),
            ("[2002:7f00:1::]", true), ("localhost", true), ("LocalHost.", true), ("a.localhost", true),
            ("printer.local", true), ("router.home.arpa", true), ("metadata.google.internal", true),
            ("intranet", true),
            ("8.8.8.8", false), ("172.15.0.1", false), ("172.32.0.1", false), ("100.128.0.1", false),
            ("192.167.0.1", false), ("[2606:4700::1111]", false), ("[::ffff:8.8.8.8]", false),
            ("example.com", false), ("localhost.example.com", false), ("10.example.com", false), ("local.org", false),
        ]
    )
    func privateNetwork(host: String, isPrivate: Bool) throws {
        #expect(PrivateNetwork.contains(try #require(URL(string: "http://\(host):8080/a"))) == isPrivate)
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
