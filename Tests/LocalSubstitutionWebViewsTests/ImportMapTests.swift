import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Import maps of mirror pages")
struct ImportMapTests {
    private func rewritten(_ page: String, policy: String? = nil) throws -> String {
        let rewriter = PageRewriter(
            url: try #require(URL(string: "https://h/page/")),
            isMapped: { (try? URLIdentity($0))?.base.hasPrefix("https://cdn/three") == true },
            isForwarded: { $0.authority == "api.h" },
            isMappedPrefix: { "https://cdn/three/addons/controls/OrbitControls.js".hasPrefix($0) }
        )
        let body = rewriter.rewritten(Data(page.utf8), try #require(MediaType("text/html")), policy: policy).body
        return body.map { String(decoding: $0, as: UTF8.self) } ?? page
    }

    private func map(_ text: String) throws -> String {
        let (start, end) = ("<script type=importmap>", "</script>")
        return String(try rewritten(start + text + end).dropFirst(start.count).dropLast(end.count))
    }

    @Test(
        "Mapped values lead to the mirror",
        arguments: [
            (
                #"{"imports":{"a":"HTTPS://CDN:443/three.js"}}"#,
                #"{"imports":{"a":"substitution-https://cdn/three.js"}}"#
            ),
            (
                #"{"imports":{"a":"https:\/\/cdn\/three.js"}}"#,
                #"{"imports":{"a":"substitution-https:\/\/cdn\/three.js"}}"#
            ),
            (
                #"{"imports":{"a":"\u0068ttps:\u002f/cdn/three.js"}}"#,
                #"{"imports":{"a":"substitution-\u0068ttps:\u002f/cdn/three.js"}}"#
            ),
            (
                #"{"imports":{"a":"//cdn/three.js","b":"//other/b.js","c":"//api.h/c.js"}}"#,
                #"{"imports":{"a":"//cdn/three.js","b":"https://other/b.js","c":"//api.h/c.js"}}"#
            ),
            (
                #"{"imports":{"a":"./b\\c.js","d":"\\e.js","f":"https:g.js"}}"#,
                #"{"imports":{"a":"./b/c.js","d":"\\e.js","f":"https:g.js"}}"#
            ),
            (
                #"{"imports":{"a/":"https://cdn/three/","b/":"https://cdn/four/","c/":"https://api.h/c/"}}"#,
                #"{"imports":{"a/":"substitution-https://cdn/three/","b/":"https://cdn/four/","c/":"https://api.h/c/"}}"#
            ),
            (
                #"{"imports":{"a":null,"b":1,"c":["https://cdn/three.js"],"d":""}}"#,
                #"{"imports":{"a":null,"b":1,"c":["https://cdn/three.js"],"d":""}}"#
            ),
            (#"{"other":{"a":"https://cdn/three.js"}}"#, #"{"other":{"a":"https://cdn/three.js"}}"#),
            (#"["https://cdn/three.js"]"#, #"["https://cdn/three.js"]"#),
            (#"{"imports":{"a":"https://cdn/three.js",}}"#, #"{"imports":{"a":"https://cdn/three.js",}}"#),
            (#"{"imports":"https://cdn/three.js"}"#, #"{"imports":"https://cdn/three.js"}"#), ("", ""), ("{", "{"),
        ]
    )
    func values(text: String, expected: String) throws { #expect(try map(text) == expected) }

    // If a page names a module by a relative URL, the module has the mirror's URL. If a script names a module by its
    // full URL, the module has the original URL.
    @Test(
        "A key that is a URL is written for the mirror's URL, too",
        arguments: [
            (
                #"{"imports":{"https://cdn/three.js":"/local.js"}}"#,
                #"{"imports":{"substitution-https://cdn/three.js": "/local.js", "https://cdn/three.js":"/local.js"}}"#
            ),
            (
                #"{"imports":{"https://cdn/three.js":"https://cdn/three2.js"}}"#,
                #"{"imports":{"substitution-https://cdn/three.js": "substitution-https://cdn/three2.js", "https://cdn/three.js":"substitution-https://cdn/three2.js"}}"#
            ),
            (
                #"{"imports":{"https://h/a.js":null,"https://api.h/<":"\"<"}}"#,
                #"{"imports":{"substitution-https://h/a.js": null, "https://h/a.js":null,"substitution-https://api.h/\u003C": "\u0022\u003C", "https://api.h/<":"\"<"}}"#
            ),
            (
                #"{"imports":{"//cdn/three.js":"/a.js"}}"#,
                #"{"imports":{"https://cdn/three.js": "/a.js", "//cdn/three.js":"/a.js"}}"#
            ),
            (#"{"imports":{"https://other/a.js":"/a.js"}}"#, #"{"imports":{"https://other/a.js":"/a.js"}}"#),
            (#"{"imports":{"/a.js":"/b.js","c.js":"/d.js"}}"#, #"{"imports":{"/a.js":"/b.js","c.js":"/d.js"}}"#),
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
            "<script type=module>{\"imports\":{\"a\":\"https://cdn/three.js\"}}</script>",
            "<script>{\"imports\":{\"a\":\"https://cdn/three.js\"}}</script>",
            "<script type=importmap src=/map.json>{\"imports\":{\"a\":\"https://cdn/three.js\"}}</script>",
            "<svg><script type=importmap>{\"imports\":{\"a\":\"https://cdn/three.js\"}}</script></svg>",
            "<meta http-equiv=content-security-policy content=\"style-src 'sha256-x'\">"
                + "<script type=importmap>{\"imports\":{\"a\":\"https://cdn/three.js\"}}</script>",
            "<link rel=modulepreload href=https://cdn/three.js integrity=sha384-x><script type=importmap>"
                + "{\"imports\":{\"a\":\"https://cdn/three.js\",\"b\":\"§https://cdn/three2.js\"}}</script>",
            // A browser compares the script's type in this way.
            "<SCRIPT TYPE=' ImportMap\n'>{\"imports\":{\"a\":\"§https://cdn/three.js\"}}</SCRIPT>",
            "<script type=&#105;mportmap>{\"imports\":{\"a\":\"§https://cdn/three.js\"}}</script>",
        ]
    )
    func others(marked: String) throws {
        let page = marked.replacingOccurrences(of: "§", with: "")
        #expect(try rewritten(page) == marked.replacingOccurrences(of: "§", with: "substitution-"))
    }

    @Test(
        "A prefix leads to the mirror if the manifest maps a URL below it, whatever its file is",
        arguments: ["three/addons/", "three/"]
    )
    func prefix(key: String) throws {
        let folder = try TemporaryFolder()
        for path in ["a.js", "dir/b.js"] { try folder.write("", to: path) }
        let manifest = """
            {"//cdn/three/addons/a.js": "a.js", "https://cdn/folder/": "dir/", "https://cdn/late/a.js": {"file": "a.js", "when": "offline"}}
            """
        let server = SchemeServer(try folder.cache(manifest))
        let map = """
            {"imports":{"a/":"§https://cdn/\(key)","b/":"§https://CDN/folder/","c/":"https://cdn/late/","d/":"https://cdn/f/"}}
            """
        let page = "<script type=importmap>\(map)</script>"
        let plain = Data(page.replacingOccurrences(of: "§", with: "").utf8)
        let url = try #require(URL(string: "https://h/"))
        let body = server.rewritten(plain, try #require(MediaType("text/html")), at: url, policy: nil)
        let expected = page.replacingOccurrences(of: "§", with: "substitution-").replacingOccurrences(
            of: "CDN",
            with: "cdn"
        )
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == expected)
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
