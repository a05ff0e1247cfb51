// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit

@Suite("What pages, stylesheets and scripts load")
struct NeedsTests {
    /// The test replaces `app:` by `https://example.com/app/`.
    private static let manifest = """
        {
          "app:": "index.html", "app:css/site.css": "site.css", "app:page.xhtml": "page.xhtml",
          "app:js/main.js": "main.js", "app:img/here.png": { "file": "here.png", "when": "offline" },
          "app:img/past.png": { "file": "past.png", "until": "2020-01-01" },
          "//cdn.example.com/lib/lib.js": { "file": "lib.js", "ignoreQuery": true },
          "https://example.com/shared/": "shared/"
        }
        """

    /// A mapped file, its text, and the URLs that are missing, as paths in `https://example.com/app/`.
    private static let table: [(file: String, text: String, missing: String)] = [
        // Elements of pages.
        (
            "index.html",
            """
            <link rel=stylesheet href=a.css><link rel='shortcut icon' href=/favicon.ico><link rel=icon href=b.png>
            <link rel=manifest href=c.json><link rel=apple-touch-icon href=d.png><link rel=preload href=e.js as=script>
            <link rel=modulepreload href=f.js><link rel=preload as=image imagesrcset='g.png 1x, h.png 2x'>
            <script src=js/i.js></script><script src=js/main.js></script><script src=js/MAIN.js></script>
            <img src=j.png srcset='k.png 1x, img/here.png 2x,l.png 3x'>
            <picture><source srcset=m.avif><img src=img/here.png></picture>
            <video src=n.mp4 poster=o.jpg><track src=p.vtt><source src=q.mp4></video><audio src=r.mp3></audio>
            <input type=image src=s.png><input src=none.png><object data=t.svg></object><embed src=u.pdf>
            <svg><use href='v.svg#b'/><use href='#c'/><image href=w.png /></svg>
            <style>@import 'x.css'; b { background: url('y.png') }</style>
            """,
            "a.css b.png c.json d.png e.js f.js g.png h.png js/i.js js/MAIN.js j.png k.png l.png m.avif "
                + "n.mp4 o.jpg p.vtt q.mp4 r.mp3 s.png t.svg u.pdf v.svg w.png x.css y.png"
        ),
        (
            "index.html",
            "<iframe src=a.html></iframe><iframe srcdoc='<img src=b.png><p style=&quot;c: url(d.png)&quot;>' src=e.html></iframe>",
            "a.html b.png d.png"
        ),
        (
            "index.html",
            "<iframe srcdoc='<iframe srcdoc=&quot;<img src=a.png>&quot;></iframe><img src=b.png>'></iframe>",
            "b.png"
        ),
        ("index.html", "<body background=a.png style='background: url(b.png)'>", "a.png b.png"),
        (
            "index.html",
            """
            <script type=importmap>{"imports": {"a": "./a.js", "b": "./b.js"}}</script>
            <script type=module>import 'a'; import 'vue'; import './c.js'; import('./d.js'); export * from './e.js'</script>
            """,
            "a.js c.js d.js e.js"
        ),
        // Where an address leads.
        ("index.html", "<base href=/shared/><img src=a.png><img src=here.css>", "https://example.com/shared/a.png"),
        ("index.html", "<base href=https://other.example/><img src=a.png>", ""),
        (
            "index.html",
            """
            <img src=https://example.com/app/x/../a.png?b#c><img src='//example.com/app/a b.png'>
            <img src=http://example.com/app/c.png><script src=http://example.com/app/b.js></script>
            <script src=//cdn.example.com/lib/lib.js?v=1></script><script src=https://cdn.example.com/lib/b.js></script>
            <img src=img/here.png?v=1><img src=img/past.png><img src=d.png><img src=./d.png>
            <img src=/shared/a.css><img src=/shared/a%28b%29.css><img src=/shared/c.css>
            """,
            "a.png?b a%20b.png c.png https://cdn.example.com/lib/b.js img/here.png?v=1 d.png "
                + "https://example.com/shared/c.css"
        ),
        // What is not missing.
        (
            "index.html",
            """
            <a href=a.html>a</a><area href=b><form action=c></form><button formaction=d></button>
            <link rel=canonical href=a><link rel='alternate next prev author' href=b><link rel=prefetch href=c>
            <link rel=dns-prefetch href=//example.com><link rel='preconnect license me' href=a><link href=b>
            <link rel='alternate stylesheet' href=a.css disabled><meta property=og:image content=a.png>
            <!-- <img src=a.png> --><noscript><img src=a.png></noscript><textarea><img src=a.png></textarea>
            <template><img src=a.png><style>a { b: url(c.png) }</style></template>
            <img src=''><img src='#a'><img src='data:image/png,a'><img src=blob:a><iframe src=about:blank></iframe>
            <a href=mailto:a@b.c></a><iframe src=javascript:a></iframe><img data-src=a.png>
            <img src='{{ a }}.png'><img src='<%= a %>.png'><img src='${a}.png'>
            <script nomodule src=a.js></script><script type=text/plain src=b.js></script>
            <script>const a = "<img src='a.png'>", b = 'import "./b.js"'; c('/app/c.js') // import './d.js'</script>
            <script type=text/x-template><img src=a.png>import './a.js'</script>
            <img src=https://other.example/a.png><img src=/elsewhere/a.png><img src=https://example.com:8443/app/a.png>
            <img src=//user:password@example.com/app/a.png><img src=%zz.png><img src=http://[>
            <?xml-stylesheet href='a.css'?>
            """,
            ""
        ),
        ("page.xhtml", "<?xml-stylesheet href='a.css'?><html xmlns='http://www.w3.org/1999/xhtml'/>", "a.css"),
        // Stylesheets.
        (
            "site.css",
            """
            @import url(a.css) screen; @import "b.css"; a { c: image-set('c.png' 1x, url(d.png) 2x) }
            b { background: url(../img/e.png), url( 'f.png' ), url(\\67 .png) } @import 'x.css'; @import url(x.css);
            /* url(x.png) */ @namespace url(b); a { filter: url(#c); content: 'url(x.png)'; e: url(), url('') }
            @font-face { src: url(x.eot); src: url('x.eot?#iefix') format('embedded-opentype'), url(h.woff2),
            url(x.woff), url(x.svg#a) } @font-face { src: url(x.woff2); unicode-range: U+100-2AF }
            @font-face { unicode-range: U+1; src: url(x.woff2) } @font-face { src: url(i.woff2) }
            """,
            "css/a.css css/b.css css/c.png css/d.png img/e.png css/f.png css/g.png css/h.woff2 css/i.woff2"
        ),
        // Scripts.
        (
            "main.js",
            """
            import './a.js'; import b from '../b.js'; export { c } from '/app/c.js'; import('./d.js')
            import './main'; import '../css/site'
            import a from 'vue'; import('node:fs'); import(`./${b}.js`); import('./x' + d)
            // import './x.js'
            /* import('./x.js') */ const c = 'import "./x.js"', d = `import './x.js'`
            fetch('x.json'); new Worker('x.js'); new URL('x.png', import.meta.url); img.src = 'x.png'
            """,
            "js/a.js b.js c.js js/d.js js/main css/site"
        ),
    ]

    @Test("Each missing URL is found, and nothing else", arguments: table.indices)
    func missing(row: Int) async throws {
        let (file, text, missing) = Self.table[row]
        let app = "https://example.com/app/"
        let folder = try TemporaryFolder()
        for name in ["site.css", "shared/here.css", "shared/a.css", "shared/a(b).css", "main.js", "lib.js"] {
            try folder.write(name.hasSuffix("css") ? "a { }\n" : "a()\n", to: name)
        }
        for name in ["here.png", "past.png"] { try folder.write(HAR.png(), to: name) }
        for (name, text) in [("page.xhtml", "<html/>"), ("index.html", "<!doctype html>\n"), (file, text)] {
            try folder.write(text, to: name)
        }
        try folder.write(Self.manifest.replacing("app:", with: app), to: "manifest.json")
        let result = await Tool.run(["check", "--all", "--format", "json"], in: folder.url)
        let lines = result.output.split(separator: "\n").filter { $0.contains("missing-reference") }
        let found = lines.compactMap { $0.firstMatch(of: /loads \\"([^"]*)\\"/)?.1 }
        let expected = missing.split(separator: " ").map { $0.hasPrefix("https:") ? String($0) : "\(app)\($0)" }
        #expect(result.status == 0 && found.map(String.init).sorted() == expected.sorted(), "\(text)")
    }
}
#endif
