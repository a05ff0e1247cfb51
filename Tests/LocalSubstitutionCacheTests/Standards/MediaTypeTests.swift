import Testing

@testable import LocalSubstitutionCache

@Suite("Media types")
struct MediaTypeTests {
    @Test(
        "Types are read as RFC 9110 §8.3.1 writes them, and written back in normal form",
        arguments: [
            ("text/css", "text/css"), ("TEXT/HTML", "text/html"),
            ("text/html;charset=utf-8", "text/html; charset=utf-8"),
            ("text/html ; charset=\"UTF-8\"", "text/html; charset=UTF-8"), ("text/html;", "text/html"),
            ("image/svg+xml;a=b;;C=d", "image/svg+xml; a=b; c=d"), (#"a/b;x="q\"\\""#, #"a/b; x="q\"\\""#),
            (#"a/b;x="""#, #"a/b; x="""#), ("a/b;x=\"\\\"\u{301}\"", "a/b; x=\"\\\"\u{301}\""),
            ("application/vnd.ms-excel", "application/vnd.ms-excel"),
        ]
    )
    func read(text: String, expected: String) throws {
        let type = try #require(MediaType(text))
        #expect(type.description == expected)
        #expect(MediaType(type.description) == type)
    }

    @Test(
        "What is no media type is refused",
        arguments: [
            "", "text", "text/", "/css", "text/css/x", "te xt/css", "text/css charset=x", "text/css; charset",
            "text/css; charset=", "text/css; =x", "text/css; a =b", "text/css; a=\"b", "text/css; a=\"\u{1}\"",
            "text/css\r\n", "text/css\0", "tëxt/css", " text/css",
        ]
    )
    func refused(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(
        "A file's type follows from its last extension",
        arguments: [
            ("site.css", "text/css"), ("SITE.CSS", "text/css"), ("a.min.js", "text/javascript"),
            ("m.mjs", "text/javascript"),
            ("a/b.c/x.html", "text/html"), ("logo.PNG", "image/png"), ("a.wasm", "application/wasm"),
            ("app.webmanifest", "application/manifest+json"), ("a.js.map", "application/json"),
            ("a.avif", "image/avif"),
            ("a.webp", "image/webp"), ("a.heic", "image/heic"), ("a.jxl", "image/jxl"), ("a.woff", "font/woff"),
            ("a.woff2", "font/woff2"), ("a.ttf", "font/ttf"), ("a.otf", "font/otf"), ("a.md", "text/markdown"),
            ("a.csv", "text/csv"), ("a.vtt", "text/vtt"), ("a.m4a", "audio/mp4"), ("a.opus", "audio/ogg"),
            ("a.flac", "audio/flac"), ("a.wav", "audio/wav"), ("a.webm", "video/webm"), ("a.m4v", "video/x-m4v"),
            ("a.usdz", "model/vnd.usdz+zip"), ("a.glb", "model/gltf-binary"), ("a.gltf", "model/gltf+json"),
            ("a.yaml", "application/yaml"), ("a.toml", "application/toml"), ("a.ics", "text/calendar"),
            ("a.svg", "image/svg+xml"), ("a.json", "application/json"), ("a.xml", "application/xml"),
            ("a.srt", "application/x-subrip"), ("a.ttml", "application/ttml+xml"), ("a.m4s", "video/iso.segment"),
            ("a.mts", "video/mp2t"), ("a.3gpp", "video/3gpp"), ("a.m4b", "audio/mp4"), ("a.jfif", "image/jpeg"),
            ("a.cur", "image/x-icon"), ("a.avifs", "image/avif"), ("a.psd", "image/vnd.adobe.photoshop"),
            ("a.ktx2", "image/ktx2"), ("a.usda", "model/vnd.usda"), ("a.dae", "model/vnd.collada+xml"),
            ("a.pages", "application/vnd.apple.pages"), ("a.numbers", "application/vnd.apple.numbers"),
            ("a.key", "application/vnd.apple.keynote"), ("a.json5", "application/json5"),
            ("a.topojson", "application/json"), ("a.plist", "application/x-plist"), ("a.opml", "text/x-opml"),
        ]
    )
    func inferred(name: String, expected: String) {
        #expect(MediaType(fileName: name)?.description == expected)
    }

    @Test(
        "Without a known extension there is no type",
        arguments: ["README", "a.xyzzy", "a.svgz", "a.", ".", "", "a.css/b", "css"]
    )
    func unknown(name: String) {
        #expect(MediaType(fileName: name) == nil)
    }

    @Test("The table gives no extension two types, and only well-formed ones")
    func table() throws {
        var seen: Set<Substring> = []
        for line in MediaType.table.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            #expect(MediaType(String(try #require(words.first)))?.parameters == [])
            for word in words.dropFirst() { #expect(seen.insert(word).inserted, "\(word) stands twice") }
        }
        #expect(seen.count > 120)
    }

    @Test(
        "Text and JavaScript take a charset, JSON and XML do not",
        arguments: [
            ("text/css", "text/css; charset=utf-8"), ("text/javascript", "text/javascript; charset=utf-8"),
            ("application/javascript", "application/javascript; charset=utf-8"),
            ("text/html; charset=iso-8859-1", "text/html; charset=iso-8859-1"),
            ("text/html; CHARSET=latin1", "text/html; charset=latin1"),
            ("application/json", "application/json"), ("image/svg+xml", "image/svg+xml"),
        ]
    )
    func charset(text: String, expected: String) {
        #expect(MediaType(text)?.withCharset.description == expected)
    }
}
