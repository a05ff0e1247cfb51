// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("substitute add follows references", .serialized)
struct ReferenceTests {
    private let site: RemoteSite

    init() throws { site = try RemoteSite() }

    private func add(_ words: String...) async -> Program.Result {
        await Tool.run(["add", "--with-references", "\(site.url)/a.css"] + words, in: site.folder.url)
    }

    @Test("Stylesheets are followed to the end, even if they import each other")
    func deep() async throws {
        site.set("/a.css", "@import 'sub/b.css'; @import 'a.css'", type: "text/css")
        site.set("/sub/b.css", "@import url(../c.css); i { background: url(b.svg) }", type: "text/css")
        site.set("/c.css", "@import 'a.css'; @import 'sub/b.css'; @font-face { src: url(c.woff2) }", type: "text/css")
        site.set("/sub/b.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", type: "image/svg+xml")
        let result = await add()
        #expect(result.status == 0, "\(result)")
        #expect(try await site.run("check").status == 0)
        let files = site.listing.keys.filter { $0.hasPrefix(site.name) }.sorted()
        #expect(files == ["a.css", "c.css", "sub/b.css", "sub/b.svg"].map { "\(site.name)/\($0)" })
        #expect(result.errors == "\"\(site.url)/c.woff2\" was not loaded: its server answers 404\n")
        let targets = ["/a.css", "/c.css", "/c.woff2", "/sub/b.css", "/sub/b.svg"]
        #expect(site.requests().sorted() == targets.map { "GET \($0)" })
    }

    /// The references of a page, each with the targets that are requested.
    static let elements: [(html: String, targets: [String])] = [
        ("<img src=a srcset='b 1x, c 2x,d 3x , e%20f 4x'>", ["/a", "/b", "/c", "/d", "/e%20f"]),
        ("<img srcset='a 100w,b 200w' sizes=100vw>", ["/a", "/b"]),
        ("<picture><source srcset='a, b 2x' type=image/avif><img src=c></picture>", ["/a", "/b", "/c"]),
        ("<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>", ["/a", "/b", "/c"]),
        ("<link rel=preload as=image imagesrcset='data:image/gif;base64,a,b 1x, c 2x'>", ["/c"]),
        ("<video src=a poster=b><source src=c><track src=d></video>", ["/a", "/b", "/c", "/d"]),
        ("<audio src=a><source src=b></audio>", ["/a", "/b"]),
        ("<input type=image src=a formaction=b><input type=IMAGE src=c>", ["/a", "/c"]),
        ("<input type=text src=a><input src=b><button formaction=c>", []),
        ("<object data=a type=image/svg+xml></object><object classid=b></object>", ["/a"]),
        ("<embed src=a>", ["/a"]), ("<iframe src=a></iframe><iframe src=about:blank></iframe>", ["/a"]),
        ("<svg><use href=a#i /><use xlink:href=b#j /><use href=#k /></svg>", ["/a", "/b"]),
        ("<svg><image href=a /><image xlink:href=b /><filter><feImage href=c /></filter></svg>", ["/a", "/b", "/c"]),
        ("<svg><a href=a><text>b</text></a></svg><a href=c>d</a><form action=e></form><area href=f>", []),
        ("<body background=a><table background=b><tr><td background=c>", ["/a", "/b", "/c"]),
        ("<script src=a></script><script type=module src=b></script>", ["/a", "/b"]),
        ("<link rel=apple-touch-startup-image href=a><link rel='shortcut icon' href=b>", ["/a", "/b"]),
        ("<link rel=canonical href=a><link rel=preconnect href=b><link rel=alternate href=c>", []),
        ("<p style='background: url(a)'>b</p><style>i { mask: url(#c); background: url(d#e) }</style>", ["/a", "/d"]),
        ("<style>i { background: image-set('a' 1x, url(b) 2x) }</style>", ["/a", "/b"]),
        ("<style>@import 'a'; i { background: url('b#i') }</style><img src=data:image/png;base64,AAAA>", ["/a", "/b"]),
        ("<base href=/x/><img src=a><svg><use href=#b /></svg>", ["/x/a"]),
        ("<img src='a?v=1&amp;w=2'>", ["/a?v=1&w=2"]),
        ("<img src='a?f=Lato%3A400|Inter'><img src='b?f[]=a%20b'>", ["/a?f=Lato%3A400%7CInter", "/b?f%5B%5D=a%20b"]),
        (#"<img src='\dir\a?b\c'><img src='d e.png'><img src='f?100%'>"#, ["/dir/a?b%5Cc", "/d%20e.png", "/f?100%25"]),
    ]

    @Test("Everything that a page loads is loaded, and nothing else", arguments: Self.elements)
    func element(html: String, targets: [String]) async throws {
        site.set("/a.css", "<!doctype html>" + html, type: "text/html")
        let result = await add("--as", "a.html")
        #expect(result.status == 0, "\(result)")
        #expect(Set(site.requests()) == Set((["/a.css"] + targets).map { "GET \($0)" }))
    }

    @Test("A stylesheet's processing instruction counts in XHTML, and is a comment in HTML")
    func instruction() async throws {
        for (type, targets) in [("application/xhtml+xml", ["/b.css"]), ("text/html", [])] {
            let page = "<?xml-stylesheet type='text/css' href='b.css'?><html xmlns='http://www.w3.org/1999/xhtml'/>"
            site.set("/a.css", page, type: type)
            let result = await add("--as", "a.html", "--replace")
            #expect(result.status == 0 && site.requests() == (["/a.css"] + targets).map { "GET \($0)" }, "\(result)")
        }
    }

    @Test("The page in a frame, also after a redirect, is added with its own files, but a linked page is not")
    func frames() async throws {
        site.set("/a.css", "<iframe src=frame.html></iframe><a href=linked.html>a</a>", type: "text/html")
        site.set("/frame.html", .init(status: 302, headers: ["Location": "/in/frame.html"]))
        site.set("/in/frame.html", "<img src=i.svg>", type: "text/html")
        site.set("/in/i.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", type: "image/svg+xml")
        let result = await add("--as", "a.html")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(site.requests() == ["/a.css", "/frame.html", "/in/frame.html", "/in/i.svg"].map { "GET \($0)" })
    }

    @Test("The references of an existing stylesheet are followed, but it is not loaded again")
    func present() async throws {
        site.set("/a.css", "@import 'b.css'", type: "text/css")
        #expect(await add().errors == "\"\(site.url)/b.css\" was not loaded: its server answers 404\n")
        site.set("/b.css", "i { background: url(c.svg) }", type: "text/css")
        site.set("/c.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", type: "image/svg+xml")
        _ = site.requests()
        let result = await add()
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.output.hasPrefix("present  \(site.url)/a.css"))
        #expect(site.requests() == ["GET /b.css", "GET /c.svg"])
    }

    @Test("References to another port are followed only if --also-host names it")
    func ports() async throws {
        let other = try RemoteSite()
        other.set("/b.css", "b { }", type: "text/css")
        site.set("/a.css", "@import '\(other.url)/b.css'", type: "text/css")
        let authority = try #require(other.url.split(separator: "/").last)
        let left = await add()
        let line = "skipped  references to \(authority); --also-host 127.0.0.1 loads them\n"
        #expect(left.output.contains(line) && other.requests().isEmpty, "\(left)")
        _ = await add("--replace", "--also-host", "127.0.0.1")
        #expect(other.requests() == ["GET /b.css"])
    }

    private static let choices = [
        ("https://h/", "https://h/a", true), ("https://h/", "https://h:443/a", true),
        ("https://h/", "HTTPS://H/a", true), ("https://h/", "https://h:8443/a", false),
        ("https://h/", "http://h/a", false), ("http://h/", "http://h/a", true), ("http://h/", "https://h/a", true),
        ("http://h:8080/", "https://h:8080/a", false), ("https://h/", "https://www.h/a", false),
        ("https://h/", "https://named/a", true), ("https://h/", "https://named:8443/a", true),
        ("https://h/", "http://named/a", false), ("https://h/", "https://one:8080/a", true),
        ("https://h/", "https://two/a", false), ("https://h/", "https://x.wide/a", true),
        ("https://h/", "https://user:pass@h/a", false),
    ]

    @Test("References are followed on the same server, and never from https to http", arguments: choices)
    func chosen(page: String, address: String, isTaken: Bool) throws {
        var selection = try ReferenceSelection(HostSelection(["named", "one", "*.wide"]))
        let source = try #require(URL(string: page))
        let resource = Resource(key: try URLPattern(page), file: source, type: nil, source: source, version: nil)
        #expect((selection.key(for: address, in: resource) != nil) == isTaken && selection.lines.isEmpty == isTaken)
        #expect(selection.lines.allSatisfy { $0.hasPrefix("skipped  references ") })
    }
}
#endif
