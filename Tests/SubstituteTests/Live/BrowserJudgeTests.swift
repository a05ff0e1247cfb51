// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Files that a browser judges", .serialized)
struct BrowserJudgeTests {
    /// The extensions of the pictures of 24 × 24 pixels in `Fixtures/Pictures`.
    private static let pictures = ["png", "jpg", "webp", "gif"]

    /// Files that browsers read, keyed by their path.
    private static let good: [String: String] = [
        "a.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'><path d='M0 0h4'/></svg>",
        "a.xml": "<?xml version='1.0'?><feed><title>Fish &amp; chips</title></feed>",
        "a.json": "{ \"a\": [1, 2] }",
        "a.js": "function open() { throw 1 }\nvar a = `x${1}`;\nwindow.ran = fetch('/ran');",
        "module.js": "import { a } from './a.js';\nexport const b = await a;\nfetch('/ran');\n// the end",
        "a.css": """
        @charset "utf-8"; @import url("b.css"); @import url(data:text/css;a);
        :root { --a: { b }; --c: 1px }
        a:hover::before, [href="{;"] > .md\\:b { content: "} “x” ; //"; background: url(//h/a.png) no-repeat, red }
        @media (min-width: 40em) and (not print) { .a { color: red !important; &:hover { color: blue } } }
        @font-face { font-family: "A"; src: url(a.woff2) format("woff2"); font-weight: 100 900; font-display: swap }
        @keyframes k { from { opacity: 0 } 50.5% { opacity: .5 } to { opacity: 1 } }
        @supports (display: grid) { @layer x { .b { display: -ms-grid; display: grid; inset: 0 auto auto 0 } } }
        .c { *zoom: 1; filter: progid:DXImageTransform.Microsoft.gradient(startColorstr='#1', endColorstr='#2') }
        input::-moz-placeholder { color: red } .d { width: -moz-available; width: calc(1px * 2 + var(--c)) }
        @page :first { margin: 1cm; @top-left { content: "a" } }
        @container (width > 10px) { .e { color: color-mix(in srgb, red, blue) } } /* url( " */
        """,
        "a.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n\n2\n01:00:01.000 --> 01:00:02.000\nBye\n",
    ]

    /// Files that browsers do not read, each with the code of its warning.
    private static let bad: [String: (text: String, code: String)] = [
        "page.png": ("<!doctype html><title>a</title>", "wrong-format"),
        "cut.svg": ("<svg xmlns='http://www.w3.org/2000/svg'>\n<g><path d='M0 0", "browser-xml"),
        "bare.svg": ("<svg><path d='M0 0h4'/></svg>", "browser-svg"),
        "bad.xml": ("<feed>\n<title>Fish & chips</title>\n</feed>", "browser-xml"),
        "comma.json": ("{ \"a\": 1, }", "broken-json"),
        "cut.js": ("function a() {\n  if (b) {\n", "browser-script"),
        "type.js": ("interface A { b: string }\nexport const a: A = { b: '' };", "browser-script"),
        "merge.js": ("<<<<<<< a\nf()\n=======\ng()\n>>>>>>> b\n", "merge-conflict"),
        "open.css": ("a { color: red }\n@media print { b { color: blue }\n", "browser-style-end"),
        "variable.css": ("$c: red;\na { color: $c }\n", "browser-style"),
        "mixin.css": ("a {\n  @include b;\n}\n", "browser-style"),
        "slashes.css": ("// a colour\na { color: red }\n", "browser-style"),
        "semicolon.css": ("a {\n  color: red\n  margin: 0;\n}\n", "browser-style"),
        "commas.vtt": ("WEBVTT\n\n00:00:01,000 --> 00:00:02,000\nHello\n", "browser-track"),
        "wrong.woff2": ("wOF2\u{0}\u{1}\u{0}\u{0}" + String(repeating: "a", count: 50), "browser-font"),
        "cut.wasm": ("\u{0}asm\u{1}\u{0}\u{0}\u{0}\u{1}\u{7}\u{1}", "browser-program"),
    ]

    @Test("Broken files of each kind are found, good ones are not, and no script runs", .startsChromium)
    func kinds() async throws {
        let folder = try TemporaryFolder()
        let pictures = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/Pictures")
        for ending in Self.pictures {
            let picture = try Data(contentsOf: pictures.appendingPathComponent("a.\(ending)"))
            try folder.write(picture, to: "good/a.\(ending)")
            try folder.write(picture.prefix(picture.count * 2 / 3), to: "bad/cut.\(ending)")
            // Browsers show a PNG and a GIF without their last bytes, which hold no pixels.
            let end = ["png": 12, "gif": 1][ending]
            if let end { try folder.write(picture.dropLast(end), to: "good/endless.\(ending)") }
        }
        try folder.write(Data([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0]), to: "good/a.wasm")
        for (name, text) in Self.good { try folder.write(text, to: "good/\(name)") }
        for (name, file) in Self.bad { try folder.write(file.text, to: "bad/\(name)") }
        try folder.write("{ \"https://h/bad/\": \"bad/\", \"https://h/good/\": \"good/\" }", to: "manifest.json")
        let result = try await Tool.start(["check", "--format", "json", "--in-browser"], in: folder.url)
        #expect(result.status == 0, "\(result)")
        let lines = result.output.split(separator: "\n")
        #expect(!lines.contains { $0.contains("good/") && !$0.contains("missing-reference") }, "\(result.output)")
        let cut = Self.pictures.map { ("cut.\($0)", "browser-picture") }
        for (name, code) in Self.bad.map({ ($0.key, $0.value.code) }) + cut {
            let found = lines.filter { $0.contains("\"bad/\(name)\\\"") || $0.contains("bad/\(name)") }
            #expect(found.contains { $0.contains("\"code\":\"\(code)\"") }, "\(name): \(found)")
        }
    }
}
#endif
