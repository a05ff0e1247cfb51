import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Addresses in mirror pages")
struct PageRewriterTests {
    private let rewriter: PageRewriter

    init() throws {
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
        #"<title><img src="https://h/m"></title><noscript><img src="https://h/m"></noscript>"#,
        // Of two attributes with the same name, the first counts. The address of a script with an `integrity` attribute
        // is not changed.
        #"<img src="/a" src="https://h/m">"#, #"<script integrity="sha256-x" src="https://h/m"></script>"#,
        // Odd pages.
        #"<img/src="§https://h/m"/>"#, #"<img src="https://h/m""#, "<", "<a", "<a href", "<a href=", #"<a href=""#,
        "<!--", "</", "<style>",
        "< img src=https://h/m>", #"<a =href="x" href="§https://h/m">"#, "<plaintext><img src=https://h/m>",
        #"<input value=><script>'<img src="https://h/m">'</script><img src="§https://h/m">"#,
        // A policy that names no address is not changed, and neither are other `meta` elements.
        #"<meta http-equiv=Content-Security-Policy content="img-src 'none'"><img src="§https://h/m">"#,
        #"<meta http-equiv=refresh content="https://h"><meta content="img-src https://h"><img src="/m">"#,
        // The page's `base` element.
        #"<base href="§https://h/dir/"><img src="x">"#, #"<base href="https://other/dir/">"#, #"<base href="/dir/">"#,
        #"<base href="//h/dir/">"#, #"<base href="//api.h/dir/">"#,
        #"<template><base href=https://other/></template><img src="§https://h/m">"#,
        // Comments, and scripts in scripts.
        #"<!--> <img src="§https://h/m"> <!---> <img src="§https://h/m"> --><img src="§https://h/m">"#,
        #"<!-- <img src="https://h/m"> --!> <img src="§https://h/m"> <!--!> <img src="https://h/m"> -->"#,
        #"<script><!-- "<script></script><img src='https://h/m'>" --></script><img src='§https://h/m'>"#,
        #"<script><!-- </script><img src='§https://h/m'>"#, "<style>a{b:url(§https://h/m)}</styles>c{}</style ><p>",
        // Text that is not a tag.
        #"<!x <img src="https://h/m"><img src="§https://h/m">"#,
        #"<?x <img src='https://h/m'><img src="§https://h/m">"#,
        #"</ <img src="https://h/m"><img src="§https://h/m">"#, #"</><img src="§https://h/m">"#,
        #"</p title="<img src='https://h/m'>"><img src="§https://h/m">"#,
        #"<![CDATA[<img src="https://h/m">]]><img src="§https://h/m">"#,
        // In HTML, `title`, `textarea` and `script` contain only text; in SVG and MathML, they may contain elements.
        "<svg><![CDATA[><img src=https://h/m>]]><image href=§https://h/m /></svg>",
        "<svg><textarea><image href=§https://h/m /></textarea></svg>",
        "<svg><script><use href=§https://h/m /></script></svg>",
        "<svg><title><textarea><img src=https://h/m></textarea></title></svg>",
        "<svg><foreignObject><title><img src=https://h/m></title></foreignObject></svg>",
        "<svg><p><title><img src=https://h/m></title>", "<svg></p><title><img src=https://h/m></title>",
        "<div><svg></div><title><img src=https://h/m></title>",
        "<math><title><a href=§https://h/m></a></title></math>",
        "<math><mi><title><a href=https://h/m></a></title></mi></math>",
        "<math><annotation-xml encoding=Text/HTML><title><a href=https://h/m></a></title></annotation-xml></math>",
        "<math><annotation-xml><title><a href=§https://h/m></a></title></annotation-xml></math>",
        "<svg/><title><img src=https://h/m></title>", "<b><svg></b><title><img src=https://h/m></title>",
        "<table><tr><td><svg><desc><td><title><img src=https://h/m></title>",
        "<template><svg></template><title><img src=https://h/m></title>",
        "<svg><title><![CDATA[><img src=https://h/m>]]></title><image href=§https://h/m /></svg>",
        // In SVG, the text of a `style` element may contain character references.
        "<svg><style>a{b:url(§https://h/m)}</style></svg>",
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
        "An address without a scheme leads to the network without a mirror; a policy allows the mirrors of its sources",
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
                "<meta http-equiv=content-security-policy content=img-src&#32;https:><img src=https://h/m>",
                "<meta http-equiv=content-security-policy content=img-src&#32;substitution-https:&#32;https:>"
                    + "<img src=substitution-https://h/m>"
            ),
            (
                #"<meta http-equiv='content-security-policy' content='img-src https://c/&#39;&quot;&amp;'>"#,
                #"<meta http-equiv='content-security-policy' content='img-src substitution-https://c/&#39;&#34;&#38;&#32;"#
                    + #"https://c/&#39;&quot;&amp;'>"#
            ),
        ]
    )
    func schemesAndPolicies(page: String, expected: String) throws {
        #expect(try rewritten(page) == expected)
    }

    @Test(
        "Mapped addresses in stylesheets are rewritten",
        arguments: [
            #"@import url(§https://h/m); @import '§https://h/m' screen; a { b: url("§https://h/m") }"#,
            #"a { b: URL(§https://h/m); c: "https://h/m"; d: url(https://h/\6E) } /* @import "https://h/m" */"#,
            #"a { b: url(§https://h/\6D) } @font-face { src: url(§https://h/m) format("woff2"), url(x) }"#, "url(",
            "@import",
            #"url("#, "@import \"",
        ]
    )
    func stylesheets(marked: String) throws {
        let plain = marked.replacingOccurrences(of: "§", with: "")
        #expect(
            try rewritten(plain, "text/css; charset=utf-8")
                == marked.replacingOccurrences(of: "§", with: "substitution-")
        )
    }

    @Test(
        "Media that an https page names by http is loaded by https, as browsers do",
        arguments: [
            ("<img src=http://n.h/x>", "<img src=https://n.h/x>"),
            ("<img src=http://h/m>", "<img src=substitution-https://h/m>"),
            (
                "<video src='http://n.h:80/x?a&amp;b' poster=http://n.h:81/x>",
                "<video src='https://n.h/x?a&amp;b' poster=https://n.h:81/x>"
            ),
            ("<svg><image href=HTTP://n.h/x /></svg>", "<svg><image href=https://n.h/x /></svg>"),
            // Unchanged: image sets, names of this machine, IP addresses, and everything that is not media.
            ("<img srcset='http://n.h/x 2x'>", ""), ("<img src=http://localhost/x><img src=http://a.localhost/x>", ""),
            ("<img src=http://127.0.0.1:80/x><img src=http://10.1.2.3/x><img src='http://[::1]/x'>", ""),
            ("<script src=http://n.h/x></script><a href=http://n.h/x><iframe src=http://n.h/x></iframe>", ""),
        ]
    )
    func upgraded(page: String, expected: String) throws {
        #expect(try rewritten(page) == (expected.isEmpty ? page : expected))
        let plain = PageRewriter(
            url: try #require(URL(string: "http://h/page/")),
            isMapped: rewriter.isMapped,
            isForwarded: rewriter.isForwarded
        )
        let isMirrored = page.contains("/m>")
        #expect((plain.rewritten(Data(page.utf8), try #require(MediaType("text/html"))).body == nil) != isMirrored)
    }

    @Test("A page in which nothing changes is not written again")
    func unchanged() throws {
        let page = Data("<meta http-equiv=Content-Security-Policy content=\"img-src 'none'\"><img src=x>".utf8)
        #expect(rewriter.rewritten(page, try #require(MediaType("text/html"))).body == nil)
    }

    @Test("URLs with an integrity attribute are reported as the page resolves them")
    func promised() throws {
        let page = """
            <base href=/dir/><link integrity=x href=a.css><script integrity=x src=//cdn/b.js></script>
            <link integrity=x href=https://c/d.css><link href=e.css><a integrity=x href=f.css>
            """
        let promised = rewriter.rewritten(Data(page.utf8), try #require(MediaType("text/html"))).promised
        #expect(promised.map(\.absoluteString) == ["https://h/dir/a.css", "https://c/d.css"])
    }

    @Test("Styles that a policy names by their hashes stay unchanged", arguments: [true, false])
    func fingerprints(isInHead: Bool) throws {
        let policy = "style-src 'SHA256-abc'; img-src 'none'"
        let meta = isInHead ? "" : "<meta http-equiv=content-security-policy content=\"\(policy)\">"
        let page = "<style>a{b:url(https://h/m)}</style><p style='b:url(https://h/m)'>"
        let type = try #require(MediaType("text/html"))
        let body = Data("\(meta)\(page)<img src=https://h/m>".utf8)
        let result = rewriter.rewritten(body, type, policy: isInHead ? policy : nil)
        let expected = "\(meta)\(page)<img src=substitution-https://h/m>"
        #expect(result.body.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("Other types and wide encodings are left alone")
    func others() throws {
        let page = Data(#"<img src="https://h/m">"#.utf8)
        for type in [
            "text/plain", "text/javascript", "application/xhtml+xml", "text/html; charset=utf-16le",
            #"text/html; charset="UTF-16""#,
        ] {
            #expect(rewriter.rewritten(page, try #require(MediaType(type))).body == nil)
        }
        #expect(rewriter.rewritten([0xFF, 0xFE] + page, try #require(MediaType("text/html"))).body == nil)
    }

    @Test("Bytes that are not UTF-8 stay unchanged")
    func latin() throws {
        let page =
            Data([0xE4, 0xFC]) + Data("<img alt=\"".utf8) + [0xF6] + Data("\" src=\"https://h/m\">".utf8) + [0xDF]
        let expected =
            Data([0xE4, 0xFC]) + Data("<img alt=\"".utf8) + [0xF6] + Data("\" src=\"substitution-https://h/m\">".utf8)
            + [0xDF]
        #expect(rewriter.rewritten(page, try #require(MediaType("text/html; charset=iso-8859-1"))).body == expected)
    }

    @Test(
        "The cost of a page is linear",
        arguments: [
            "<", "<a ", "<a href=\"", "<!--", "<style>", "<style></style ", "<a b='c' ", "<img srcset=',,, ", "url(",
            "&", "<a href='&", "<script><!--", "<script", "</script", "--!", "<!-", "<!", "<?", "</ ", "</p ",
            "<![CDATA[", "\\", "<a href='\\", "<a href='https:", "&#9", "<p x=1 y=2 z=3 ",
            "<meta http-equiv=Content-Security-Policy content='a-src https: b'>",
            "<meta http-equiv=Content-Security-Policy content='a-src https: ",
        ]
    )
    func hostile(part: String) throws {
        for type in ["text/html", "text/css"] {
            let growth = try Growth.whenEightfold(2000) { count in
                _ = try rewritten(String(repeating: part, count: count), type)
            }
            #expect(growth < Growth.limit)
        }
    }

    @Test(
        "The cost of combining marks is linear",
        arguments: [
            "<a", "<img b", "<img src=\"?a=", "<img src=\"https://", "<link rel=\"", "<style>a{b:url(",
            "<script type=\"module", "<script type=module>import '",
            "<meta http-equiv=Content-Security-Policy content=\"img-src ",
            "<meta http-equiv=Content-Security-Policy content=\"",
        ]
    )
    func marks(start: String) throws {
        let growth = try Growth.whenEightfold(1000) { count in
            let marks = String(repeating: "\u{301}\u{316}", count: count)
            _ = try rewritten("\(start)\(marks)'\" src=\"https://h/m\" href=\"https://h/m\">")
        }
        #expect(growth < Growth.limit)
    }

    @Test(
        "No page is too deep, and depth costs no more than length",
        arguments: [
            "<svg>", "<svg><![CDATA[", "<svg><style>a", "<svg><style>a{b:url(https://h/m)}<g>", "<svg></x>",
            "<svg><desc>", "<math><mi>", "<b>", "<b><p>",
            "<a><p>",
            "<i id=1><p></p>", "<p><b></p>", "<div>", "</div>", "<table><tr><td>", "<table><b>", "<template>",
            "</template>",
            "<select><option>", "<li>", "<div><b></div></b>", "<b><b><p></b>", "<form><div></form>", "<a><svg>",
            "<script type=importmap>{}</script>", "<script type=importmap>{\"imports\":{\"a/\":\"https://h/m/\",",
        ]
    )
    func deep(part: String) throws {
        let growth = try Growth.whenEightfold(1000) { count in
            _ = try rewritten(String(repeating: part, count: count))
        }
        #expect(growth < Growth.limit)
    }
}
