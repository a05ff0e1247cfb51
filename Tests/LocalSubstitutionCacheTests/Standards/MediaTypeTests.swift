import SubstitutionRules
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
        "Text that is not a media type is refused",
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
        "A file's type follows from its last extension, if it is known",
        arguments: [
            ("SITE.CSS", "text/css"), ("a.min.js", "text/javascript"), ("a/b.c/x.html", "text/html"),
            ("a.js.map", "application/json"), ("a.svg", "image/svg+xml"), ("a.md", "text/markdown"), ("README", nil),
            ("a.xyzzy", nil), ("a.svgz", nil), ("a.", nil), (".", nil), ("", nil), ("a.css/b", nil), ("css", nil),
        ] as [(String, String?)]
    )
    func inferred(name: String, expected: String?) {
        #expect(MediaType(fileName: name)?.description == expected)
    }

    @Test(
        "Every alias of a type leads to the type's extension",
        arguments: [
            // WHATWG MIME Sniffing §4.6.
            ("js", "application/ecmascript application/javascript application/x-javascript text/javascript1.5"),
            ("json", "application/json text/json"), ("xml", "application/xml text/xml"),
            ("ttf", "font/ttf application/x-font-truetype application/font-sfnt font/sfnt"),
            // Types that servers send.
            ("eot", "application/vnd.ms-fontobject"), ("ico", "image/x-icon image/vnd.microsoft.icon"),
            ("jpeg", "image/jpeg image/jpg image/pjpeg"), ("m4v", "video/x-m4v"), ("mp4", "video/mp4 application/mp4"),
            ("ogx", "application/ogg"), ("bin", "application/octet-stream binary/octet-stream"),
        ]
    )
    func aliases(expected: String, essences: String) throws {
        for essence in essences.split(separator: " ") {
            let type = try #require(MediaType(String(essence)))
            #expect(type.fileExtension == expected, "\(essence)")
            #expect(MediaType(fileName: "a.\(expected)")?.isSame(as: type) == true, "\(essence)")
        }
    }

    @Test(
        "An alias equals the type of each of its extensions, and no other type",
        arguments: [
            ("a.mjs", "application/javascript", true), ("a.cur", "image/vnd.microsoft.icon", true),
            ("a.otf", "font/sfnt", true), ("a.ttc", "application/x-font-ttf", true), ("a.ogv", "application/ogg", true),
            ("a.m4v", "video/mp4", true), ("a.mp4", "video/x-m4v", true),
            ("a.js", "text/javascript; charset=utf-8", true), ("a.otf", "font/ttf", false),
            ("a.xhtml", "text/xml", false), ("a.svg", "text/xml", false), ("a.oga", "video/ogg", false),
            ("a.js", "application/x-own", false), ("a.js", "application/json", false),
        ]
    )
    func sameness(name: String, type: String, isSame: Bool) throws {
        let (named, type) = (try #require(MediaType(fileName: name)), try #require(MediaType(type)))
        #expect(named.isSame(as: type) == isSame)
        #expect(type.isSame(as: named) == isSame)
    }

    @Test("An alias keeps its name and parameters, and its canonical type keeps the parameters")
    func canonical() throws {
        let type = try #require(MediaType("application/x-javascript; charset=koi8-r"))
        #expect(type.description == "application/x-javascript; charset=koi8-r")
        #expect(type.canonical.description == "text/javascript; charset=koi8-r")
        #expect(type.withCharset == type && MediaType("application/x-javascript")?.withCharset.parameters == [])
        #expect(MediaType("application/x-own")?.canonical.description == "application/x-own")
    }

    @Test("The table gives no extension two types; aliases name types of the table, and only two are in it themselves")
    func tables() throws {
        var seen: Set<String> = []
        for words in MediaType.rows(of: MediaType.table) {
            #expect(MediaType(try #require(words.first))?.parameters == [])
            for word in words.dropFirst() { #expect(seen.insert(word).inserted, "\(word) stands twice") }
        }
        #expect(seen.count > 120)
        var (aliases, both): (Set<String>, Set<String>) = ([], [])
        for words in MediaType.rows(of: MediaType.aliases) {
            #expect(MediaType.isKnown(words[0]), "\(words[0])")
            for alias in words.dropFirst() {
                #expect(MediaType(alias)?.description.hasPrefix(alias) == true, "\(alias)")
                #expect(aliases.insert("\(words[0]) \(alias)").inserted, "\(alias) stands twice")
                if MediaType.isKnown(alias) { both.insert(alias) }
            }
        }
        #expect(both == ["application/ogg", "video/x-m4v"] && aliases.count > 100)
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
