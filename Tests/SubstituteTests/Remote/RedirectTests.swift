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

@Suite("substitute add follows redirects", .serialized)
struct RedirectTests {
    private let site: RemoteSite

    init() throws {
        site = try RemoteSite()
        site.set("/dir/b.css", "b { }", type: "text/css")
        // If Foundation followed redirects to `file:///etc/passwd` and similar URLs, Foundation would request these
        // paths from the server instead.
        for path in ["/etc/passwd", "/", "/blank", "/x", "/a"] { site.set(path, "mangled", type: "text/css") }
    }

    private func add(_ path: String) async -> Program.Result {
        await Tool.run(["add", site.folder.url.appendingPathComponent("manifest.json").path, site.url + path])
    }

    private func redirect(_ path: String, to location: String, status: Int = 302) {
        site.set(path, LoopbackServer.Response(status: status, headers: ["Location": location]))
    }

    @Test(
        "Redirects to http and https are followed, as RFC 3986 resolves them",
        arguments: [
            "b.css", "./b.css", "/dir/b.css", "../dir/b.css", "//HOST/dir/b.css", "HTTP://HOST/dir/b.css", "b.css#x",
        ],
        [301, 302, 303, 307, 308]
    )
    func followed(location: String, status: Int) async throws {
        let host = try #require(site.url.split(separator: "/").last)
        redirect("/dir/a.css", to: location.replacingOccurrences(of: "HOST", with: host), status: status)
        let result = await add("/dir/a.css")
        #expect(result.status == 0, "\(result)")
        #expect(site.file("\(site.name)/dir/b.css") == "b { }")
        #expect(site.requests() == ["GET /dir/a.css", "GET /dir/b.css"])
    }

    @Test(
        "Redirects to other schemes are refused, and no other server is contacted",
        arguments: [
            ("file:///etc/passwd", "no http: or https: URL"), ("FILE:/etc/passwd", "no http:"),
            ("data:text/css,x", "no http: or https: URL"), ("about:blank", "no http:"), ("javascript:x", "no http:"),
            ("ftp://h/a", "no http:"), ("http:a", "URL with a server"),
            ("file://user:s3cr3t@h/x", "\"file://…@h/x\""),
        ]
    )
    func refused(location: String, message: String) async throws {
        redirect("/a.css", to: location)
        let before = site.listing
        let result = await add("/a.css")
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.errors.contains("it is redirected"), "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(site.requests() == ["GET /a.css"])
        #expect(site.listing == before)
    }

    @Test("A long chain of redirects is followed, but not an endless one")
    func bounded() async throws {
        for number in 0..<30 { redirect("/\(number).css", to: "\(number + 1).css") }
        site.set("/30.css", "b { }", type: "text/css")
        #expect(await add("/10.css").status == 0)
        _ = site.requests()
        let result = await add("/9.css")
        #expect(result.status == 1 && result.errors.contains("it is redirected too many times"), "\(result)")
        #expect(site.requests().count == 21)
    }

    @Test("Redirects from https to http are refused, and user info is dropped")
    func judged() throws {
        func target(_ source: String, _ location: String) throws -> String? {
            let response = HTTPURLResponse(
                url: try #require(URL(string: source)),
                statusCode: 302,
                httpVersion: nil,
                headerFields: ["Location": location]
            )
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
        let manifest = site.folder.url.appendingPathComponent("manifest.json").path
        let result = await Tool.run(["add", manifest, url])
        #expect(result.status == 0, "\(result)")
        #expect(site.file("manifest.json")?.contains("\"\(url)\"") == true)
        let outdated = await Tool.run(["update", "--dry-run", manifest])
        #expect(outdated.status == 0 && outdated.output == "1 file: 1 is up to date\n", "\(outdated)")
    }
}
#endif
