import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Addresses that a mirror would read differently")
struct PageReadingTests {
    private func rewritten(_ text: String, at url: String = "https://h/page/") throws -> String {
        let rewriter = PageRewriter(
            url: try #require(URL(string: url)),
            isMapped: { (try? URLIdentity($0))?.base.hasSuffix("://h/m") == true },
            isForwarded: { $0.authority == "api.h" }
        )
        let body = rewriter.rewritten(Data(text.utf8), try #require(MediaType("text/html"))).body
        return body.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    @Test(
        "They are rewritten so that page and mirror read them alike, and no others are changed",
        arguments: [
            (#"<img src="..\css\i.png?a\b#c\d">"#, #"<img src="../css/i.png?a\b#c\d">"#),
            (#"<img src=\\h\m>"#, "<img src=//h/m>"),
            (#"<img src=/\api.h\i>"#, "<img src=//api.h/i>"),
            (#"<img src=\\cdn\i.png>"#, "<img src=https://cdn/i.png>"),
            ("<img src=https:i.png>", "<img src=i.png>"),
            ("<a href=https: class=b>", "<a href=https: class=b>"),
            (#"<img src=https:\\h\m>"#, "<img src=substitution-https://h/m>"),
            ("<a href=http:h/m>", "<a href=substitution-http://h/m>"),
            (#"<img src=https:\\cdn\i>"#, #"<img src=https:\\cdn\i>"#),
            ("<a href=http:i.png>", "<a href=http:i.png>"), ("<img src=http:i.png>", "<img src=https://i.png>"),
            ("<img src='https://H:443/m?b'>", "<img src='substitution-https://h/m?b'>"),
            ("<img src=//API.H:443/i>", "<img src=//api.h/i>"),
            ("<img src='\u{1}ht\ntps://h\t/m\u{2}'>", "<img src='\u{1}substitution-ht\ntps://h\t/m\u{2}'>"),
            ("<img src=' \t.\n.\\a '>", "<img src=' \t../a '>"),
            ("<img src=&#46;.&bsol;a&amp;b>", "<img src=../a&amp;b>"),
            (#"<img src="\a&quot;b\c">"#, #"<img src="/a&#34;b/c">"#),
            (#"<img src=\a'b&#32;\c>"#, "<img src=/a&#39;b&#32;/c>"),
            ("<a href='?a=&#39;b'>", "<a href='?a=%27b'>"),
            (#"<img srcset="..\a 1x, \b 2x,https:c">"#, #"<img srcset="../a 1x, /b 2x,c">"#),
            (
                #"<a href=javascript:a\b><a href=c:\d><a href=#\e><a href=mailto:a\b>"#,
                #"<a href=javascript:a\b><a href=c:\d><a href=#\e><a href=mailto:a\b>"#
            ),
            (
                #"<script integrity=x src=..\a.js></script><script integrity=x src=\\h\m></script>"#,
                "<script integrity=x src=../a.js></script><script integrity=x src=https://h/m></script>"
            ),
            ("<img src='//bücher.h/i'><img src=//u:p@h/i>", "<img src='https://bücher.h/i'><img src=https://u:p@h/i>"),
            // The `base` element decides which scheme an address has, and whether relative addresses refer to a mirror.
            (#"<base href=..\dir\><img src=a\b>"#, "<base href=../dir/><img src=a/b>"),
            (#"<base href=https:\\h\dir\>"#, "<base href=substitution-https://h/dir/>"),
            ("<base href=HTTPS://H:443/d/>", "<base href=substitution-https://h/d/>"),
            (
                #"<base href=https://cdn/><img src=..\a><img src=//h/m><img src=https:b>"#,
                #"<base href=https://cdn/><img src=..\a><img src=substitution-https://h/m><img src=https:b>"#
            ),
            (
                "<base href=http://cdn/><img src=http:b><img src=//h/m>",
                "<base href=http://cdn/><img src=http:b><img src=substitution-http://h/m>"
            ),
            // Stylesheets have their own escapes.
            (
                #"<style>@import "..\\css\\x.css"; a{b:url(..\\i.png)}</style>"#,
                #"<style>@import "../css/x.css"; a{b:url(../i.png)}</style>"#
            ),
            (#"<style>a{b:url("\5c\5c h\5cm")}</style>"#, #"<style>a{b:url("//h/m")}</style>"#),
            (#"<p style="b:url(\\a\)\\b\26)">"#, #"<p style="b:url(/a\000029/b\26)">"#),
            (#"<p style=b:url('\\a&#39;\\b')>"#, #"<p style=b:url('/a&#39;\\b')>"#),
            (#"<style>a{b:url("..\a\b")}</style>"#, #"<style>a{b:url("..\a\b")}</style>"#),
            ("<style>a{b:url(https:c.png)}</style>", "<style>a{b:url(c.png)}</style>"),
            (
                #"<svg><style>a{b:url("\\\3C/style&gt;\\a")}</style></svg>"#,
                #"<svg><style>a{b:url("/\00003C/style\00003E/a")}</style></svg>"#
            ),
        ]
    )
    func readings(page: String, expected: String) throws {
        #expect(try rewritten(page) == expected)
    }

    @Test("On an http page, an address that begins with http: is relative, and one with https: is not")
    func plainPage() throws {
        let page = try rewritten("<img src=http:a><img src=https:h/m>", at: "http://h/page/")
        #expect(page == "<img src=a><img src=substitution-https://h/m>")
    }

    /// Pages whose tags are as expensive as possible to read.
    private static let hostile: [String: @Sendable (_ size: Int) -> String] = [
        "attributes": { size in
            String(repeating: "<b \((0..<size * 60).map { "a\($0)" }.joined(separator: " "))>", count: 2)
        },
        "many alike": { size in
            (0..<size).map { number in
                "<p><b \((0..<200).map { "a\($0)" }.joined(separator: " ")) z=\(number)></p>"
            }
            .joined()
        },
        "opened again": { size in
            "<p>" + (0..<500).map { "<b a=\($0)>" }.joined() + String(repeating: "<p>x", count: size * 200)
        },
        "closed again": { size in
            "<p>" + (0..<500).map { "<b a=\($0)>" }.joined() + String(repeating: "x</p><p>", count: size * 100)
        },
    ]

    @Test("The cost of a page is linear", arguments: hostile.keys.sorted())
    func hostilePages(name: String) throws {
        let page = try #require(Self.hostile[name])
        let growth = Growth.whenEightfold(64) { size in
            let text = page(size) + "<svg><a href=x>"
            #expect(PageScanner.references(in: Array(text.utf8)).addresses.count == 1)
        }
        #expect(growth < Growth.limit)
    }
}
