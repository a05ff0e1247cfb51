import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Import maps of mirror pages")
struct ImportMapTests {
    private func rewritten(_ page: String) throws -> String {
        let rewriter = PageRewriter(
            url: try #require(URL(string: "https://h/page/")),
            isMapped: { (try? URLIdentity($0))?.base.hasPrefix("https://cdn/three") == true },
            isForwarded: { $0.authority == "api.h" },
            isMappedPrefix: { "https://cdn/three/addons/controls/OrbitControls.js".hasPrefix($0) }
        )
        let body = rewriter.rewritten(Data(page.utf8), try #require(MediaType("text/html"))).body
        return body.map { String(decoding: $0, as: UTF8.self) } ?? page
    }

    private func map(_ text: String) throws -> String {
        let (start, end) = ("<script type=importmap>", "</script>")
        return String(try rewritten(start + text + end).dropFirst(start.count).dropLast(end.count))
    }

    @Test(
        "Mapped values lead to the mirror",
        arguments: [
            #"{"imports":{"a":"§https:\/\/cdn\/three.js","b":"§\u0068ttps:\u002f/cdn/three.js"}}"#,
            #"{"imports":{"a/":"§https://cdn/three/","b/":"https://cdn/four/","c/":"https://api.h/c/"}}"#,
            #"{"imports":{"a":null,"b":1,"c":["https://cdn/three.js"],"d":"","e":"//cdn/three.js","f":"//api.h/c.js"}}"#,
            #"{"imports":{"https://other/a.js":"/a.js","/a.js":"/b.js","c.js":"/d.js"}}"#,
            #"{"other":{"a":"https://cdn/three.js"}}"#, #"["https://cdn/three.js"]"#,
            #"{"imports":{"a":"https://cdn/three.js",}}"#, #"{"imports":"https://cdn/three.js"}"#, "", "{",
        ]
    )
    func values(marked: String) throws {
        let expected = marked.replacingOccurrences(of: "§", with: "substitution-")
        #expect(try map(marked.replacingOccurrences(of: "§", with: "")) == expected)
    }

    // If a page names a module by a relative URL, the module has the mirror's URL. If a script names a module by its
    // full URL, the module has the original URL.
    @Test(
        "A key that is a URL is written for the mirror's URL, too, and an address so that the mirror reads it alike",
        arguments: [
            (
                #"{"imports":{"a":"HTTPS://CDN:443/three.js","b":"//other/b.js","c":"./b\\c.js","d":"\\e.js","f":"https:g.js"}}"#,
                #"{"imports":{"a":"substitution-https://cdn/three.js","b":"https://other/b.js","c":"./b/c.js","d":"\\e.js","f":"https:g.js"}}"#
            ),
            (
                #"{"imports":{"https://h/a.js":null,"https://api.h/<":"\"<"}}"#,
                #"{"imports":{"substitution-https://h/a.js": null, "https://h/a.js":null,"substitution-https://api.h/\u003C": "\u0022\u003C", "https://api.h/<":"\"<"}}"#
            ),
            (
                #"{"imports":{"//cdn/three.js":"/a.js"}}"#,
                #"{"imports":{"https://cdn/three.js": "/a.js", "//cdn/three.js":"/a.js"}}"#
            ),
            (
                #"{"scopes":{"https://cdn/three/":{"a":"https://cdn/three/a.js","https://cdn/three.js":"/b.js"}}}"#,
                #"{"scopes":{"substitution-https://cdn/three/": {"a": "substitution-https://cdn/three/a.js", "substitution-https://cdn/three.js": "\/b.js", "https://cdn/three.js": "\/b.js"}, "https://cdn/three/":{"a":"substitution-https://cdn/three/a.js","substitution-https://cdn/three.js": "/b.js", "https://cdn/three.js":"/b.js"}}}"#
                    .replacingOccurrences(of: "\\/", with: "/")
            ),
            (
                #"{"scopes":{"lib\\a/":{"a":"https://cdn/three.js"},"https://other/":{"a":"/b.js"}}}"#,
                #"{"scopes":{"lib/a/":{"a":"substitution-https://cdn/three.js"},"https://other/":{"a":"/b.js"}}}"#
            ),
            (
                #"{"integrity":{"https://cdn/three.js":"sha384-x","/a.js":"sha384-y","https://other/":"sha384-z"}}"#,
                #"{"integrity":{"substitution-https://cdn/three.js": "sha384-x", "https://cdn/three.js":"sha384-x","/a.js":"sha384-y","https://other/":"sha384-z"}}"#
            ),
        ]
    )
    func keys(text: String, expected: String) throws { #expect(try map(text) == expected) }

    @Test(
        "Other scripts stay unchanged, as does a map that a policy names by its hash, and an address with integrity",
        arguments: [
            "<script type=module>MAP</script>", "<script type=importmap src=/map.json>MAP</script>",
            "<svg><script type=importmap>MAP</script></svg>",
            "<meta http-equiv=content-security-policy content=\"style-src 'sha256-x'\"><script type=importmap>MAP</script>",
            "<link rel=modulepreload href=https://cdn/three.js integrity=sha384-x><script type=importmap>"
                + "{\"imports\":{\"a\":\"https://cdn/three.js\",\"b\":\"§https://cdn/three2.js\"}}</script>",
            // A browser compares the script's type in this way.
            "<SCRIPT TYPE=' ImportMap\n'>§MAP</SCRIPT>", "<script type=&#105;mportmap>§MAP</script>",
        ]
    )
    func others(marked: String) throws {
        let marked = marked.replacingOccurrences(of: "§MAP", with: #"{"imports":{"a":"§https://cdn/three.js"}}"#)
            .replacingOccurrences(of: "MAP", with: #"{"imports":{"a":"https://cdn/three.js"}}"#)
        let page = marked.replacingOccurrences(of: "§", with: "")
        #expect(try rewritten(page) == marked.replacingOccurrences(of: "§", with: "substitution-"))
    }

    @Test("A prefix leads to the mirror if the manifest maps a URL below it, whatever its file is")
    func prefix() throws {
        let folder = try TemporaryFolder()
        for path in ["a.js", "dir/b.js"] { try folder.write("", to: path) }
        let manifest = """
            { "//cdn/three/addons/a.js": "a.js", "https://cdn/folder/": "dir/",
              "https://cdn/late/a.js": { "file": "a.js", "when": "offline" } }
            """
        let server = SchemeServer(try folder.cache(manifest))
        let map = """
            {"imports":{"a/":"§https://cdn/three/addons/","b/":"§https://cdn/three/","c/":"§https://CDN/folder/",
            "d/":"https://cdn/late/","e/":"https://cdn/f/"}}
            """
        let page = "<script type=importmap>\(map)</script>"
        let plain = Data(page.replacingOccurrences(of: "§", with: "").utf8)
        let url = try #require(URL(string: "https://h/"))
        let body = server.rewritten(plain, try #require(MediaType("text/html")), at: url, policy: nil)
        let expected = page.replacingOccurrences(of: "§https://CDN", with: "§https://cdn")
        #expect(body == Data(expected.replacingOccurrences(of: "§", with: "substitution-").utf8))
    }

    @Test("The written map is JSON, and means the same for both URLs")
    func written() throws {
        let text = try map(
            #"{"imports":{"https://cdn/three\ud83d\ude00\t.js":"https://cdn/three\u00e9'\\\".js"},"scopes":{"https://h/<\/script":{"a":"https://cdn/three.js"}}}"#
        )
        #expect(JSONParser.parse(text.utf8).errors.isEmpty)
        #expect(!text.contains("</script"))
        let map = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]])
        #expect(Set((map["imports"] ?? [:]).values.compactMap { $0 as? String }).count == 1)
        #expect(map["imports"]?.count == 2 && map["scopes"]?.count == 2)
    }
}
