// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

/// A site with two answers for each URL, between which the fields of a request decide (RFC 9110 §12.5).
private struct NegotiatingSite {
    let remote: RemoteSite
    private let elsewhere: TemporaryFolder

    init() throws {
        (remote, elsewhere) = (try RemoteSite(), try TemporaryFolder())
        serve("")
    }

    var url: String { remote.url + "/" }

    static let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    static let webp = Data(base64Encoded: "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")

    /// Serves the site with this end of its stylesheet.
    private func serve(_ mark: String) {
        for path in ["/", "/picture", "/fonts.css"] { remote.set(path) { Self.answer($0, mark) } }
    }

    private static func answer(_ request: LoopbackServer.Request, _ mark: String) -> LoopbackServer.Response {
        let accept = request.headers["accept"] ?? ""
        let isEnglish = request.headers["accept-language"]?.contains("en") == true
        let page = "<!doctype html><title>\(isEnglish ? "Hello" : "Hallo")</title>"
        let (type, vary, body): (String, String, Data?)
        switch request.path {
        case "/":
            let loads = "<link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/fonts.css\">"
            (type, vary) = ("text/html", "Accept-Language")
            body = Data("\(page)\(loads)<img width=\"9\" height=\"9\" src=\"/picture\">".utf8)
        case "/picture" where accept.contains("image/webp"): (type, vary, body) = ("image/webp", "Accept", webp)
        case "/picture" where accept.hasPrefix("image/"): (type, vary, body) = ("image/png", "Accept", png)
        case "/picture": (type, vary, body) = ("text/html", "Accept", Data("\(page)The viewer".utf8))
        default:
            let format = request.headers["user-agent"]?.contains("Chrome") == true ? "woff2" : "truetype"
            (type, vary) = ("text/css", "User-Agent")
            body = Data("/* \(format) */ h1 { color: teal } \(mark)".utf8)
        }
        guard let body else { return .text("", status: 503) }
        let tag = "\"\(body.hashValue)\""
        let fields = ["Content-Type": type, "Vary": vary, "ETag": tag, "Cross-Origin-Opener-Policy": "same-origin"]
        if request.headers["if-none-match"] == tag { return LoopbackServer.Response(status: 304, headers: fields) }
        return LoopbackServer.Response(headers: fields, body: body)
    }

    func file(_ path: String) -> Data? { remote.bytes("\(remote.name)/\(path)") }

    /// Checks that no command finds a difference, and that the commands name a file that has changed, and no other.
    func checkVerdicts() async throws {
        let (style, picture) = (file("fonts.css"), file("picture.webp") ?? file("picture.png"))
        let out = elsewhere.url.appendingPathComponent("extension").path
        for words in [
            ["verify", url], ["update", "-n"], ["update"], ["check", "--strict"], ["extension", "-o", out],
        ] {
            let result = try await Tool.start(words, in: remote.folder.url)
            let isGood = result.status == 0 && result.errors == "" && !result.output.contains("differs")
            #expect(isGood, "\(words): \(result)")
        }
        #expect(file("fonts.css") == style)
        let mark = "h2 { color: navy }"
        serve(mark)
        let verify = try await Tool.start(["verify", url], in: remote.folder.url)
        #expect(verify.status == 1 && verify.output.contains("fonts.css\" differs from"), "\(verify)")
        #expect(verify.output.components(separatedBy: " differs from").count == 2, "\(verify)")
        let update = try await Tool.start(["update"], in: remote.folder.url)
        #expect(update.output.hasPrefix("updated  \(url)fonts.css  "), "\(update)")
        #expect(update.output.hasSuffix("\n3 files: 1 updated, 2 are up to date\n"), "\(update)")
        #expect(file("fonts.css") == style.map { $0 + Data(mark.utf8) })
        #expect((file("picture.webp") ?? file("picture.png")) == picture)
        #expect(try await Tool.start(["verify", url], in: remote.folder.url).status == 0)
    }
}

@Suite("A server with several answers for one URL", .serialized)
struct RepresentationTests {
    @Test("What a browser got is compared with what its server sends to a browser", .startsChromium)
    func inBrowser() async throws {
        let site = try NegotiatingSite()
        let added = try await Tool.start(["add", "--in-browser", site.url], in: site.remote.folder.url)
        #expect(added.status == 0 && added.errors == "", "\(added)")
        for sentence in [
            "varies by Accept-Language on its server, and ships to everybody as it is",
            "varies by Accept on its server", "keeps its server's Cross-Origin-Opener-Policy as \"headers\"",
        ] { #expect(added.output.contains(sentence), "\(added)") }
        #expect(!added.output.contains("varies by User-Agent"), "\(added)")
        #expect(site.file("picture.webp") == NegotiatingSite.webp)
        try await site.checkVerdicts()
    }

    @Test("What the tool got is compared with what its server sends to the tool", .startsChromium)
    func withoutBrowser() async throws {
        let site = try NegotiatingSite()
        let added = try await Tool.start(["add", "--with-references", site.url], in: site.remote.folder.url)
        #expect(added.status == 0 && added.errors == "", "\(added)")
        #expect(added.output.contains("\n         varies by Accept-Language on its server"), "\(added)")
        #expect(site.file("picture.png") == NegotiatingSite.png)
        try await site.checkVerdicts()
    }

    @Test("A body of another kind than the file's name never replaces the file")
    func otherKind() async throws {
        let site = try RemoteSite()
        let (png, webp) = (try #require(NegotiatingSite.png), try #require(NegotiatingSite.webp))
        site.set("/a.png", .init(headers: ["Content-Type": "image/png"], body: png))
        #expect(try await site.run("add", "\(site.url)/a.png").status == 0)
        site.set("/a.png", LoopbackServer.Response(headers: ["Content-Type": "image/webp"], body: webp))
        for words in [["update"], ["add", "--replace", "\(site.url)/a.png"]] {
            let result = await Tool.run(words, in: site.folder.url)
            let output = result.output + result.errors
            #expect(result.status == 1 && output.contains("it is a WebP now, not a PNG\n"), "\(result)")
            #expect(site.listing["\(site.name)/a.png"] == png)
        }
    }

    @Test("Fields on which a page depends become fields of its entry")
    func policies() async throws {
        let site = try RemoteSite()
        let fields = [
            "Content-Type": "text/html", "Content-Security-Policy": "img-src \"x\"", "X-A": "b",
            "Access-Control-Allow-Origin": "https://example.com", "Access-Control-Allow-Credentials": "true",
        ]
        site.set("/a.html", LoopbackServer.Response(headers: fields, body: Data("<!doctype html>".utf8)))
        let added = try await site.run("add", "\(site.url)/a.html")
        let line = "\n         keeps its server's Access-Control-Allow-Credentials and "
        #expect(added.output.contains(line), "\(added)")
        let headers = #"""
            "headers": { "Access-Control-Allow-Credentials": "true", \#
            "Access-Control-Allow-Origin": "https://example.com", \#
            "Content-Security-Policy": "img-src \"x\"" } }
            """#
        #expect(site.file("manifest.json")?.contains(headers) == true, "\(site.file("manifest.json") ?? "")")
        #expect(try await site.run("check", "--strict").status == 0)
    }
}
#endif
