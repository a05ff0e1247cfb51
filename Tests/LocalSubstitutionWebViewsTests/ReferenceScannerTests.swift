import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Addresses in stylesheets and scripts")
struct ReferenceScannerTests {
    private typealias Reference = ReferenceScanner.Reference

    /// Returns the text with `¶` before each module specifier, and `§` before each other reference.
    private static func marked(_ text: String, _ references: [Reference]) -> String {
        var bytes = Array(text.utf8)
        for reference in references.reversed() {
            bytes.insert(contentsOf: (reference.isSpecifier ? "¶" : "§").utf8, at: reference.offset)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func plain(_ text: String) -> String {
        text.replacingOccurrences(of: "§", with: "").replacingOccurrences(of: "¶", with: "")
    }

    @Test(
        "References in stylesheets are found",
        arguments: [
            "a { b: url(§x.png), url( '§y.png' ) no-repeat, URL(\"§z\") } c { d: url(§e) }", "@import '§a.css' screen;",
            "@import url(§a.css) layer(base) supports(display: grid) screen;", "@IMPORT /* of */\n\"§a.css\";",
            "@charset 'utf-8'; @namespace svg 'http://s'; a::before { content: 'url(x)'; quotes: '(' ')' }",
            "/* url(x) image-set('y') */ a { b: curl(x), -url(y), url-prefix(z) }",
            "a { b: image-set('§a.png' 1x, \"§b.png\" 2x); c: 'd' }",
            "a { b: -webkit-image-set(url(§a) 1x, url('§b') 2x), 'c' }",
            "a { b: IMAGE-SET('§a.avif' type('image/avif') calc(1x * (1 + 1)), '§b' type(\"image/png\")) 'c' }",
            "a { b: image-set('§a' 1x; c: 'd' } e { f: 'g' }", "a { b: my-image-set('c') }",
            "a { b: url(§c", "a { b: image-set('§c", "a { b: url('§c", "a { b: image-set(", "@import", "@import '§a",
            "a { b: ) url(§c) ) 'd' }", "a { b: url() url('') }",
            "@namespace url(no); @namespace svg 'no'; a { b: url(§c) }", "a { b: url(§c\\)d) }", "a { b: url(§c\\",
            // Escapes in names (CSS Syntax Level 3 §4.3.11), and what browsers ignore (§4.3.5, §4.3.6).
            "a { b: \\75 rl(§c); d: u\\000052L('§e'); f: \\url(§g) } \\\"url(§h)",
            "@\\69mport '§a'; a { b: \\-url(c) }", "a { b: url(c(d) e: url(§f) }",
            "a { b: url(c d) } e { f: url(§g ) }", "a { b: url(c'd) }",
            "a { b: url(\"c.png);\n d: url(§e) }", "@import 'a\n; @import '§b'", "a { b: url(c\u{1}d); e: url(§f) }",
        ]
    )
    func stylesheets(marked: String) {
        let text = Self.plain(marked)
        #expect(Self.marked(text, ReferenceScanner.references(inStylesheet: Data(text.utf8))) == marked)
    }

    @Test(
        "References in scripts are found",
        arguments: [
            "import '¶./a.js'", "import a, { b } from \"¶a\"",
            "export*from'¶./a.js';import('¶./b.js');import('¶./c', { with: { type: 'json' } })",
            "import('./no' + a), import(a), import(`¶./a`), a.import('no'), a.from('no')",
            "const a = new URL('§a.png', import.meta.url), b = new\nURL( \"§../b\" ,\n import.meta.url )",
            "new URL(/* vite */ '§a.wasm',import.meta.url,).href",
            "new URL('no', document.baseURI), new URL('https://h/')",
            "new URL('no' + a, import.meta.url), URL('no', import.meta.url), new a.URL('no', import.meta.url)",
            "new Foo, URL('no', import.meta.url); new URL(a, 'no')", "new URL('no", "new URL('no'", "new URL('no',",
            "import(`¶./a.js`)", "import(`./${no}.js`)", "import(`./a", "a = `import './no'`; b(`./no`)",
            "import.meta.resolve('¶./a.js'); resolve('no'); a.resolve('no')", "new URL(", "new", "import", "import(",
            "from '¶a", "/import 'no'/.test(a), b / import('¶c') / d",
            "a = `${'`'}`; import('¶./a.js')", "a = `b${{ c: `d${import('¶./e.js')}` }}`; import('¶./f.js')",
            "import(`./${`no`}.js`), `${/`/}import('no')`, `${a}` / import('¶b') / c", "`\\${`, import('¶a')", "`${",
            "`${{", "`${`${}", "import(`no` + a); import(`¶b`, { with: c })", "a = /'/ / b; import('¶./c.js') / d",
        ]
    )
    func scripts(marked: String) {
        let text = Self.plain(marked)
        #expect(Self.marked(text, ReferenceScanner.references(inScript: Data(text.utf8))) == marked)
    }

    @Test(
        "The cost of a text is linear",
        arguments: [
            "image-set(", "new URL('a'", "new URL('a',", "url(", "import(", "`${`", "`${{", "\u{301}\u{316}",
        ]
    )
    func hostile(part: String) {
        let growth = Growth.whenEightfold(4000) { count in
            let text = Data(String(repeating: part, count: count).utf8)
            _ = ReferenceScanner.references(inStylesheet: text)
            _ = ReferenceScanner.references(inScript: text)
        }
        #expect(growth < Growth.limit)
    }
}
