// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit

@Suite("What pages, stylesheets and scripts load")
struct NeedsTests {
    private static let manifest = """
        {
          "https://example.com/app/": "index.html",
          "https://example.com/app/css/site.css": "site.css",
          "https://example.com/app/page.xhtml": "page.xhtml",
          "https://example.com/app/js/main.js": "main.js",
          "https://example.com/app/img/here.png": { "file": "here.png", "when": "offline" },
          "https://example.com/app/img/past.png": { "file": "past.png", "until": "2020-01-01" },
          "//cdn.example.com/lib/lib.js": { "file": "lib.js", "ignoreQuery": true },
          "https://example.com/shared/": "shared/"
        }
        """

    /// A mapped file, its text, and the URLs that are missing.
    ///
    /// The test replaces `app:` by `https://example.com/app/`.
    private static let table: [(file: String, text: String, missing: [String])] = [
        // Elements of pages.
        ("index.html", "<link rel=stylesheet href=a.css>", ["app:a.css"]),
        ("index.html", "<link rel='shortcut icon' href=/favicon.ico><link rel=icon href=i.png>", ["app:i.png"]),
        (
            "index.html", "<link rel=manifest href=m.json><link rel=apple-touch-icon href=t.png>",
            ["app:m.json", "app:t.png"]
        ),
        (
            "index.html", "<link rel=preload href=p.js as=script><link rel=modulepreload href=q.js>",
            ["app:p.js", "app:q.js"]
        ),
        ("index.html", "<link rel=preload as=image imagesrcset='a.png 1x, b.png 2x'>", ["app:a.png", "app:b.png"]),
        ("index.html", "<script src=js/a.js></script>", ["app:js/a.js"]),
        ("index.html", "<script src=js/main.js></script>", []),
        ("index.html", "<script src=js/MAIN.js></script>", ["app:js/MAIN.js"]),
        (
            "index.html", "<img src=a.png srcset='b.png 1x, img/here.png 2x,c.png 3x'>",
            ["app:a.png", "app:b.png", "app:c.png"]
        ),
        ("index.html", "<picture><source srcset=a.avif><img src=img/here.png></picture>", ["app:a.avif"]),
        (
            "index.html",
            "<video src=a.mp4 poster=a.jpg><track src=a.vtt><source src=b.mp4></video><audio src=a.mp3></audio>",
            ["app:a.mp4", "app:a.jpg", "app:a.vtt", "app:b.mp4", "app:a.mp3"]
        ),
        (
            "index.html", "<input type=image src=a.png><input src=b.png><object data=c.svg></object><embed src=d.pdf>",
            ["app:a.png", "app:c.svg", "app:d.pdf"]
        ),
        (
            "index.html",
            "<iframe src=a.html></iframe><iframe srcdoc='<img src=b.png><p style=&quot;c: url(d.png)&quot;>' src=e.html></iframe>",
            ["app:a.html", "app:b.png", "app:d.png"]
        ),
        (
            "index.html",
            "<iframe srcdoc='<iframe srcdoc=&quot;<img src=a.png>&quot;></iframe><img src=b.png>'></iframe>",
            ["app:b.png"]
        ),
        (
            "index.html", "<svg><use href='a.svg#b'/><use href='#c'/><image href=d.png /></svg>",
            ["app:a.svg", "app:d.png"]
        ),
        ("index.html", "<body background=a.png style='background: url(b.png)'>", ["app:a.png", "app:b.png"]),
        ("index.html", "<style>@import 'a.css'; b { background: url('c.png') }</style>", ["app:a.css", "app:c.png"]),
        (
            "index.html", "<script type=module>import './a.js'; import('./b.js'); export * from './c.js'</script>",
            ["app:a.js", "app:b.js", "app:c.js"]
        ),
        (
            "index.html",
            "<script type=importmap>{\"imports\": {\"a\": \"./a.js\", \"b\": \"./b.js\"}}</script><s"
                + "cript type=module>import 'a'; import 'vue'</script>",
            ["app:a.js"]
        ),
        // Where an address leads.
        ("index.html", "<base href=/shared/><img src=a.png><img src=here.css>", ["https://example.com/shared/a.png"]),
        ("index.html", "<base href=https://other.example/><img src=a.png>", []),
        ("index.html", "<img src=https://example.com/app/x/../a.png?b#c>", ["app:a.png?b"]),
        ("index.html", "<img src='//example.com/app/a b.png'>", ["app:a%20b.png"]),
        (
            "index.html", "<img src=http://example.com/app/a.png><script src=http://example.com/app/b.js></script>",
            ["app:a.png"]
        ),
        ("index.html", "<script src=//cdn.example.com/lib/lib.js?v=1></script>", []),
        ("index.html", "<script src=https://cdn.example.com/lib/b.js></script>", ["https://cdn.example.com/lib/b.js"]),
        ("index.html", "<img src=img/here.png?v=1>", ["app:img/here.png?v=1"]),
        ("index.html", "<img src=img/past.png>", []),
        (
            "index.html", "<img src=/shared/a.css><img src=/shared/a%28b%29.css><img src=/shared/c.css>",
            ["https://example.com/shared/c.css"]
        ),
        ("index.html", "<img src=a.png><img src=./a.png>", ["app:a.png"]),
        // What is not missing.
        ("index.html", "<a href=a.html>a</a><area href=b><form action=c></form><button formaction=d></button>", []),
        (
            "index.html",
            "<link rel=canonical href=a><link rel='alternate next prev author' href=b><link rel=prefetch href=c>", []
        ),
        (
            "index.html",
            "<link rel=dns-prefetch href=//example.com><link rel='preconnect license me' href=a><link href=b>", []
        ),
        (
            "index.html", "<link rel='alternate stylesheet' href=a.css disabled><meta property=og:image content=a.png>",
            []
        ),
        (
            "index.html",
            "<!-- <img src=a.png> --><noscript><img src=a.png></noscript><textarea><img src=a.png></textarea>", []
        ),
        ("index.html", "<template><img src=a.png><style>a { b: url(c.png) }</style></template>", []),
        (
            "index.html",
            "<img src=''><img src='#a'><img src='data:image/png,a'><img src=blob:a><iframe src=about:blank></iframe>",
            []
        ),
        ("index.html", "<a href=mailto:a@b.c></a><iframe src=javascript:a></iframe><img data-src=a.png>", []),
        ("index.html", "<img src='{{ a }}.png'><img src='<%= a %>.png'><img src='${a}.png'>", []),
        ("index.html", "<script nomodule src=a.js></script><script type=text/plain src=b.js></script>", []),
        (
            "index.html",
            "<script>const a = \"<img src='a.png'>\", b = 'import \"./b.js\"'; c('/app/c.js') // imp"
                + "ort './d.js'</script>",
            []
        ),
        ("index.html", "<script type=text/x-template><img src=a.png>import './a.js'</script>", []),
        (
            "index.html",
            "<img src=https://other.example/a.png><img src=/elsewhere/a.png><img src=https://example"
                + ".com:8443/app/a.png>",
            []
        ),
        ("index.html", "<img src=//user:password@example.com/app/a.png><img src=%zz.png><img src=http://[>", []),
        ("index.html", "<?xml-stylesheet href='a.css'?>", []),
        ("page.xhtml", "<?xml-stylesheet href='a.css'?><html xmlns='http://www.w3.org/1999/xhtml'/>", ["app:a.css"]),
        // Stylesheets.
        ("site.css", "a { background: url(../img/a.png), url( 'b.png' ) }", ["app:img/a.png", "app:css/b.png"]),
        (
            "site.css", "@import url(a.css) screen; @import \"b.css\"; a { c: image-set('c.png' 1x, url(d.png) 2x) }",
            ["app:css/a.css", "app:css/b.css", "app:css/c.png", "app:css/d.png"]
        ),
        ("site.css", "a { b: c } @import 'a.css'; @import url(b.css);", []),
        (
            "site.css",
            "/* url(a.png) */ @namespace url(b); a { filter: url(#c); content: 'url(d.png)'; e: url(), url('') }", []
        ),
        (
            "site.css",
            "@font-face { src: url(a.eot); src: url('a.eot?#iefix') format('embedded-opentype'), url"
                + "(a.woff2), url(a.woff), url(a.svg#a) }",
            ["app:css/a.woff2"]
        ),
        (
            "site.css",
            "@font-face { src: url(a.woff2); unicode-range: U+100-2AF } @font-face { unicode-range: "
                + "U+1; src: url(b.woff2) } @font-face { src: url(c.woff2) }",
            ["app:css/c.woff2"]
        ),
        ("site.css", "a { b: url(\\61 .png) }", ["app:css/a.png"]),
        // Scripts.
        (
            "main.js", "import './a.js'; import b from '../b.js'; export { c } from '/app/c.js'; import('./d.js')",
            ["app:js/a.js", "app:b.js", "app:c.js", "app:js/d.js"]
        ),
        ("main.js", "import './main'; import '../css/site'", ["app:js/main", "app:css/site"]),
        ("main.js", "import a from 'vue'; import('node:fs'); import(`./${b}.js`); import('./c' + d)", []),
        (
            "main.js",
            "// import './a.js'\n/* import('./b.js') */ const c = 'import \"./c.js\"', d = `import './d.js'`", []
        ),
        ("main.js", "fetch('a.json'); new Worker('b.js'); new URL('c.png', import.meta.url); img.src = 'd.png'", []),
    ]

    @Test("Each missing URL is found, and nothing else", arguments: table.indices)
    func missing(row: Int) async throws {
        let (file, text, missing) = Self.table[row]
        let folder = try Self.site([file: text])
        let result = await Tool.run(["check", "--all", "--format", "json"], in: folder.url)
        let found = result.output.split(separator: "\n").filter { $0.contains("missing-reference") }.compactMap {
            $0.firstMatch(of: /loads \\"([^"]*)\\"/)?.1
        }
        let expected = missing.map { $0.replacingOccurrences(of: "app:", with: "https://example.com/app/") }
        #expect(found.map(String.init) == expected, "\(text)")
        #expect(result.status == 0)
    }

    private static func site(_ texts: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let files = ["index.html": "<!doctype html>\n", "site.css": "a { }\n", "main.js": "a()\n", "lib.js": "a()\n"]
            .merging(["shared/here.css": "a { }\n", "shared/a.css": "a { }\n", "shared/a(b).css": "a { }\n"]) { $1 }
            .merging(["page.xhtml": "<html/>"]) { $1 }
        for (name, text) in files.merging(texts, uniquingKeysWith: { $1 }) { try folder.write(text, to: name) }
        for name in ["here.png", "past.png"] {
            try folder.write(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D]), to: name)
        }
        try folder.write(manifest, to: "manifest.json")
        return folder
    }
}
#endif
