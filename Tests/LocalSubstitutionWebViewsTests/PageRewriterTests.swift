import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Addresses in mirror pages")
struct PageRewriterTests {
    private let rewriter: PageRewriter
    private let html: MediaType

    init() throws {
        html = try #require(MediaType("text/html"))
        rewriter = PageRewriter(
            url: try #require(URL(string: "https://h/page/")),
            isMapped: { (try? URLIdentity($0))?.base.hasSuffix("/m") == true },
            isForwarded: { $0.authority == "api.h" }
        )
    }

    private func rewritten(_ text: String, _ type: String = "text/html") throws -> String {
        let type = try #require(MediaType(type))
        return rewriter.rewritten(Data(text.utf8), type).body.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// Pages with `§` where the rewriter must insert the prefix `substitution-`; a page without `§` must not change.
    private static let marked: [String] = [
        #"<img src="§https://h/m">"#, #"<a href='§http://h/m'>"#, "<img src=§https://h/m>",
        #"<IMG ALT=x SRC = "  §https://h/m ">"#, #"<a href="§https://h/m#x">"#, #"<a href="§https://h/m?">"#,
        #"<link rel=stylesheet href="§https://h/m">"#, #"<video poster="§https://h/m" src="§https://h/m"></video>"#,
        #"<object data="§https://h/m"></object>"#, #"<form action="§https://h/m"><button formaction='§https://h/m'>"#,
        #"<svg><use xlink:href="§https://h/m#a"/><image href='§https://h/m'/></svg>"#,
        #"<body background="§https://h/m">"#,
        // Character references are not replaced by characters.
        #"<img src="§https&#58;//h/m">"#, #"<img src="§&#104;ttps://h/m?a=1&amp;b=2">"#,
        #"<img src="§https:&#x2F;/h/m">"#,
        // Lists of images.
        #"<img srcset="§https://h/m 1x, /m 2x,§https://h/m  3x , https://h/n">"#,
        #"<img srcset="§https://h/m, §https://h/m 2x">"#, #"<link imagesrcset='§https://h/m 100w'>"#,
        #"<img srcset="https://h/n (a, b), §https://h/m">"#,
        // Styles.
        #"<p style="background: url(§https://h/m)">"#, #"<p style="background: url(&quot;§https://h/m&quot;)">"#,
        #"<style>@import "§https://h/m"; a { b: url( '§https://h/m' ) } /* url(https://h/m) */</style>"#,
        #"<style>a{b:url(§https://h/m)}</STYLE><img src="§https://h/m">"#,
        // An address that is not mapped, relative addresses, and addresses of other schemes.
        #"<img src="https://h/n"><img src="/m"><img src="m"><img src="ftp://h/m"><img src="data:,https://h/m">"#,
        // Not addresses.
        #"<p title="https://h/m">https://h/m</p><!-- <img src="https://h/m"> --><img data-src="https://h/m">"#,
        #"<script>"<img src='https://h/m'>"</script><textarea><img src="https://h/m"></textarea>"#,
        // Of two attributes with the same name, the first counts. The address of a script with an `integrity` attribute
        // is not changed.
        #"<img src="/a" src="https://h/m">"#, #"<script integrity="sha256-x" src="https://h/m"></script>"#,
        // Odd pages.
        #"<img/src="§https://h/m"/>"#, #"<img src="https://h/m""#, #"<a =href="x" href="§https://h/m">"#,
        "< img src=https://h/m>", "<plaintext><img src=https://h/m>",
        #"<input value=><script>'<img src="https://h/m">'</script><img src="§https://h/m">"#,
        // A policy that names no address is not changed, and neither are other `meta` elements.
        #"<meta http-equiv=Content-Security-Policy content="img-src 'none'"><img src="§https://h/m">"#,
        #"<meta http-equiv=refresh content="https://h"><meta content="img-src https://h"><img src="/m">"#,
        // The page's `base` element.
        #"<base href="§https://h/dir/"><img src="x">"#, #"<base href="https://other/dir/">"#, #"<base href="/dir/">"#,
        #"<base href="//h/dir/">"#, #"<base href="//api.h/dir/">"#,
        #"<template><base href=https://other/></template><img src="§https://h/m">"#,
        // Scripts in scripts.
        #"<script><!-- "<script></script><img src='https://h/m'>" --></script><img src='§https://h/m'>"#,
        "<style>a{b:url(§https://h/m)}</styles>c{}</style ><p>",
        // In HTML, `title`, `textarea` and `script` contain only text; in SVG and MathML, they may contain elements.
        "<svg><![CDATA[><img src=https://h/m>]]><image href=§https://h/m /></svg>",
        "<svg><p><title><img src=https://h/m></title>", "<svg></p><title><img src=https://h/m></title>",
        "<math><annotation-xml encoding=Text/HTML><title><a href=https://h/m></a></title></annotation-xml></math>",
        "<math><annotation-xml><title><a href=§https://h/m></a></title></annotation-xml></math>",
        "<svg><title><![CDATA[><img src=https://h/m>]]></title><image href=§https://h/m /></svg>",
        // In SVG, the text of a `style` element may contain character references.
        "<svg><style>a{b:url(&quot;§https:&#47;/h/m&quot;)}</style></svg>",
        "<svg><style>/*<![CDATA[*/a{b:url(§https://h/m)}/*]]>*/</style></svg>",
        // An address in two pieces is not rewritten, because the text between the pieces would be overwritten.
        "<svg><style>a{b:url('https://h<![CDATA[:443/m')}]]></style></svg>",
        "<svg><style>a{b:url(https://h<g></g>:443/m)} c{d:url(§https://h/m)}</style></svg>",
        "<svg><style><!--url(https://h/m)--></style></svg>", "<math><style>url(https://h/m)</style></math>",
    ]

    @Test("Only mapped absolute addresses are rewritten to the mirror", arguments: marked)
    func pages(marked: String) throws {
        let plain = marked.replacingOccurrences(of: "§", with: "")
        #expect(try rewritten(plain) == marked.replacingOccurrences(of: "§", with: "substitution-"))
    }

    @Test(
        "Addresses mean in a mirror what they mean in its page, and policies allow the mirrors of their sources",
        arguments: [
            ("<img src=//h/m>", "<img src=//h/m>"), ("<img src=//api.h/x>", "<img src=//api.h/x>"),
            ("<img src=//cdn/x>", "<img src=https://cdn/x>"),
            ("<style>a{b:url(//cdn/x)}</style>", "<style>a{b:url(https://cdn/x)}</style>"),
            ("<img src=//>", "<img src=//>"), ("<img src='//bad host/'>", "<img src='//bad host/'>"),
            ("<script integrity=x src=//cdn/x>", "<script integrity=x src=https://cdn/x>"),
            ("<script integrity=x src=//h/m>", "<script integrity=x src=https://h/m>"),
            ("<script integrity=x src=//api.h/x>", "<script integrity=x src=//api.h/x>"),
            ("<base href=//cdn/>", "<base href=https://cdn/>"),
            // Policies.
            (
                #"<META content="img-src https://c; script-src 'self'" HTTP-EQUIV="Content-Security-POLICY">"#,
                #"<META content="img-src substitution-https://c&#32;https://c; script-src https://h&#32;'self'" "#
                    + #"HTTP-EQUIV="Content-Security-POLICY">"#
            ),
            (
                #"<meta http-equiv='content-security-policy' content='img-src https://c/&#39;&quot;&amp;'>"#,
                #"<meta http-equiv='content-security-policy' content='img-src substitution-https://c/&#39;&#34;&#38;&#32;"#
                    + #"https://c/&#39;&quot;&amp;'>"#
            ),
            // Media that an https page names by http is loaded by https, as browsers do.
            ("<img src=http://n.h/x>", "<img src=https://n.h/x>"),
            ("<img src=http://h/m>", "<img src=substitution-https://h/m>"),
            (
                "<video src='http://n.h:80/x?a&amp;b' poster=http://n.h:81/x>",
                "<video src='https://n.h/x?a&amp;b' poster=https://n.h:81/x>"
            ),
            ("<svg><image href=HTTP://n.h/x /></svg>", "<svg><image href=https://n.h/x /></svg>"),
            // Unchanged: image sets, names of this machine, IP addresses, and everything that is not media.
            ("<img srcset='http://n.h/x 2x'>", ""), ("<img src=http://localhost/x><img src=http://a.localhost/x>", ""),
            ("<img src=http://127.0.0.1:80/x><img src='http://[::1]/x'>", ""),
            ("<script src=http://n.h/x></script><a href=http://n.h/x><iframe src=http://n.h/x></iframe>", ""),
            // Addresses that a mirror would read differently.
            (#"<img src="..\css\i.png?a\b#c\d">"#, #"<img src="../css/i.png?a\b#c\d">"#),
            (#"<img src=\\h\m>"#, "<img src=//h/m>"), (#"<img src=\\cdn\i.png>"#, "<img src=https://cdn/i.png>"),
            ("<a href=https: class=b>", "<a href=https: class=b>"),
            (#"<img src=https:\\h\m>"#, "<img src=substitution-https://h/m>"),
            (#"<img src=https:\\cdn\i>"#, #"<img src=https:\\cdn\i>"#),
            ("<a href=http:i.png>", "<a href=http:i.png>"), ("<img src=http:i.png>", "<img src=https://i.png>"),
            ("<img src=//API.H:443/i>", "<img src=//api.h/i>"),
            ("<img src='\u{1}ht\ntps://h\t/m\u{2}'>", "<img src='\u{1}substitution-ht\ntps://h\t/m\u{2}'>"),
            ("<img src=' \t.\n.\\a '>", "<img src=' \t../a '>"),
            ("<img src=&#46;.&bsol;a&amp;b>", "<img src=../a&amp;b>"),
            (#"<img src="\a&quot;b\c">"#, #"<img src="/a&#34;b/c">"#),
            (#"<img src=\a'b&#32;\c>"#, "<img src=/a&#39;b&#32;/c>"), ("<a href='?a=&#39;b'>", "<a href='?a=%27b'>"),
            (#"<img srcset="..\a 1x, \b 2x,https:c">"#, #"<img srcset="../a 1x, /b 2x,c">"#),
            (#"<a href=javascript:a\b><a href=mailto:a\b>"#, #"<a href=javascript:a\b><a href=mailto:a\b>"#),
            (#"<script integrity=x src=..\a.js></script>"#, "<script integrity=x src=../a.js></script>"),
            ("<img src='//bücher.h/i'><img src=//u:p@h/i>", "<img src='https://bücher.h/i'><img src=https://u:p@h/i>"),
            // The `base` element decides which scheme an address has, and whether relative addresses refer to a mirror.
            (#"<base href=..\dir\><img src=a\b>"#, "<base href=../dir/><img src=a/b>"),
            (#"<base href=HTTPS:\\H:443\dir\>"#, "<base href=substitution-https://h/dir/>"),
            (
                #"<base href=https://cdn/><img src=..\a><img src=//h/m><img src=https:b>"#,
                #"<base href=https://cdn/><img src=..\a><img src=substitution-https://h/m><img src=https:b>"#
            ),
            ("<base href=http://cdn/><img src=//h/m>", "<base href=http://cdn/><img src=substitution-http://h/m>"),
            // Stylesheets have their own escapes.
            (#"<style>@import "..\\css\\x.css";</style>"#, #"<style>@import "../css/x.css";</style>"#),
            (#"<style>a{b:url("\5c\5c h\5cm")}</style>"#, #"<style>a{b:url("//h/m")}</style>"#),
            (#"<p style="b:url(\\a\)\\b\26)">"#, #"<p style="b:url(/a\000029/b\26)">"#),
            (#"<p style=b:url('\\a&#39;\\b')>"#, #"<p style=b:url('/a&#39;\\b')>"#),
            (
                #"<svg><style>a{b:url("\\\3C/style&gt;\\a")}</style></svg>"#,
                #"<svg><style>a{b:url("/\00003C/style\00003E/a")}</style></svg>"#
            ),
        ]
    )
    func meanings(page: String, expected: String) throws {
        #expect(try rewritten(page) == (expected.isEmpty ? page : expected))
    }

    @Test("On an http page, an address that begins with http: is relative, and one with a host is not upgraded")
    func plainPage() throws {
        let plain = PageRewriter(
            url: try #require(URL(string: "http://h/page/")),
            isMapped: rewriter.isMapped,
            isForwarded: rewriter.isForwarded
        )
        let page = Data("<img src=http:a><img src=https:h/m><img src=http://n.h/x>".utf8)
        let expected = "<img src=a><img src=substitution-https://h/m><img src=http://n.h/x>"
        #expect(plain.rewritten(page, html).body == Data(expected.utf8))
    }

    @Test("Mapped addresses in stylesheets are rewritten")
    func stylesheets() throws {
        let marked =
            #"@import url(§https://h/m); @import '§https://h/m'; a { b: URL("§https://h/m"); c: "https://h/m" } "#
            + #"a { b: url(https://h/\6E); c: url(§https://h/\6D) } /* @import "https://h/m" */ a { b: url("#
        let plain = marked.replacingOccurrences(of: "§", with: "")
        let expected = marked.replacingOccurrences(of: "§", with: "substitution-")
        #expect(try rewritten(plain, "text/css; charset=utf-8") == expected)
    }

    @Test("URLs with an integrity attribute are reported as the page resolves them")
    func promised() throws {
        let page = """
            <base href=/dir/><link integrity=x href=a.css><script integrity=x src=//cdn/b.js></script>
            <link integrity=x href=https://c/d.css><link href=e.css><a integrity=x href=f.css>
            """
        let promised = rewriter.rewritten(Data(page.utf8), html).promised
        #expect(promised.map(\.absoluteString) == ["https://h/dir/a.css", "https://c/d.css"])
    }

    @Test("Styles that a policy names by their hashes stay unchanged", arguments: [true, false])
    func fingerprints(isInHead: Bool) throws {
        let policy = "style-src 'SHA256-abc'; img-src 'none'"
        let meta = isInHead ? "" : "<meta http-equiv=content-security-policy content=\"\(policy)\">"
        let page = "<style>a{b:url(https://h/m)}</style><p style='b:url(https://h/m)'>"
        let body = Data("\(meta)\(page)<img src=https://h/m>".utf8)
        let result = rewriter.rewritten(body, html, policy: isInHead ? policy : nil)
        #expect(result.body == Data("\(meta)\(page)<img src=substitution-https://h/m>".utf8))
    }

    @Test("Other types and wide encodings are left alone, and a page in which nothing changes is not written again")
    func others() throws {
        let page = Data(#"<img src="https://h/m">"#.utf8)
        for type in ["text/javascript", "application/xhtml+xml", "text/html; charset=utf-16le"] {
            #expect(rewriter.rewritten(page, try #require(MediaType(type))).body == nil)
        }
        #expect(rewriter.rewritten([0xFF, 0xFE] + page, html).body == nil)
        let unchanged = "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\"><img src=x>"
        #expect(rewriter.rewritten(Data(unchanged.utf8), html).body == nil)
    }

    @Test("Bytes that are not UTF-8 stay unchanged")
    func latin() throws {
        let page = { (url: String) -> Data in
            Data([0xE4, 0xFC]) + Data("<img alt='".utf8) + [0xF6] + Data("' src='\(url)'>".utf8)
        }
        let type = try #require(MediaType("text/html; charset=iso-8859-1"))
        #expect(rewriter.rewritten(page("https://h/m"), type).body == page("substitution-https://h/m"))
    }

    @Test(
        "The cost of a page is linear",
        arguments: [
            "<", "<a ", "<a href=\"", "<!--", "<style>", "<style></style ", "<a b='c' ", "<img srcset=',,, ", "url(",
            "&", "<script><!--", "<script", "</script", "--!", "<!-", "<!", "</ ", "<![CDATA[", "\\", "<a href='\\",
            "<a href='https:", "&#9", "<meta http-equiv=Content-Security-Policy content='a-src https: b'>",
            "<meta http-equiv=Content-Security-Policy content='a-src https: ",
            // Depth costs no more than length.
            "<svg>", "<svg><![CDATA[", "<svg><style>a", "<svg><style>a{b:url(https://h/m)}<g>", "<svg></x>",
            "<svg><desc>", "<math><mi>", "<template>", "</template>", "<a><svg>",
            "<script type=importmap>{}</script>", "<script type=importmap>{\"imports\":{\"a/\":\"https://h/m/\",",
        ]
    )
    func hostile(part: String) throws {
        for type in part.hasPrefix("<") ? ["text/html"] : ["text/html", "text/css"] {
            let growth = try Growth.whenEightfold(2000) { count in
                _ = try rewritten(String(repeating: part, count: count), type)
            }
            #expect(growth < Growth.limit)
        }
    }

    @Test("The cost of a tag is linear in the number of its attributes")
    func attributes() throws {
        let names = (0..<16_000).map { " a\($0)" }
        let growth = try Growth.whenEightfold(2000) { count in
            _ = try rewritten("<b\(names.prefix(count).joined())>")
        }
        #expect(growth < Growth.limit)
    }

    @Test(
        "The cost of combining marks is linear",
        arguments: [
            "<a", "<img b", "<img src=\"https://", "<link rel=\"", "<style>a{b:url(", "<script type=module>import '",
            "<meta http-equiv=Content-Security-Policy content=\"img-src ",
        ]
    )
    func marks(start: String) throws {
        let growth = try Growth.whenEightfold(1000) { count in
            let marks = String(repeating: "\u{301}\u{316}", count: count)
            _ = try rewritten("\(start)\(marks)'\" src=\"https://h/m\" href=\"https://h/m\">")
        }
        #expect(growth < Growth.limit)
    }
}
