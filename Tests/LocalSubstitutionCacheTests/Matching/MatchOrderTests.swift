import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Each file holds its own name, so the bytes show the entry that answered.
@Suite("The order in which entries answer")
struct MatchOrderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for file in ["a", "b", "c", "outer/inner/x.css", "outer/inner/index.html", "inner/x.css", "other/x.css"] {
            try folder.write(file, to: file)
        }
    }

    private func answer(_ manifest: String, _ url: String) throws -> String? {
        let url = try #require(URL(string: url))
        let response = try folder.cache(manifest).cachedResponse(for: URLRequest(url: url))
        return response.map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test("The longer folder URL answers first, whatever the order in the file")
    func longerFolderFirst() throws {
        for manifest in [
            #"{ "https://h/": "outer/", "https://h/inner/": "other/" }"#,
            #"{ "https://h/inner/": "other/", "https://h/": "outer/" }"#,
        ] {
            #expect(try answer(manifest, "https://h/inner/x.css") == "other/x.css")
        }
    }

    @Test("A named scheme answers before //")
    func namedSchemeFirst() throws {
        let manifest = #"{ "//h/x": "a", "https://h/x": "b" }"#
        #expect(try answer(manifest, "https://h/x") == "b")
        #expect(try answer(manifest, "http://h/x") == "a")
    }

    @Test("An exact query answers before a list, and a list before any")
    func exactQueryFirst() throws {
        let manifest = """
            { "https://h/x?a=1": { "file": "c", "ignoreQuery": true },
              "https://h/x?v=0": { "file": "b", "ignoreQuery": ["v"] },
              "https://h/x": "a" }
            """
        #expect(try answer(manifest, "https://h/x") == "a")
        #expect(try answer(manifest, "https://h/x?v=1") == "b")
        #expect(try answer(manifest, "https://h/x?w=1") == "c")
    }

    @Test("A scheme weighs more than a query rule, and an explicit entry more than both")
    func precedence() throws {
        let manifest = """
            { "//h/inner/x.css": { "file": "c", "ignoreQuery": true }, "https://h/inner/": "inner/",
              "https://h/y": { "file": "a", "ignoreQuery": true }, "//h/y": "b" }
            """
        #expect(try answer(manifest, "https://h/inner/x.css") == "c")
        #expect(try answer(manifest, "https://h/y") == "a")
    }

    @Test("Between two entries of equal rank the order in the file does not decide")
    func tie() throws {
        for entries in [
            [
                #""https://h/x?a=1": { "file": "a", "ignoreQuery": true }"#,
                #""https://h/x?b=1": { "file": "b", "ignoreQuery": true }"#,
            ],
            [#""//h/x": "a""#, #""//h:443/x": "b""#],
        ] {
            let manifests = [entries, entries.reversed()].map { "{" + $0.joined(separator: ",") + "}" }
            #expect(try Set(manifests.map { try answer($0, "https://h/x") }).count == 1)
        }
    }

    @Test("// means both schemes, with the default port of each")
    func bothSchemes() throws {
        let manifest = #"{ "//h:80/x": "a" }"#
        #expect(try answer(manifest, "http://h/x") == "a")
        #expect(try answer(manifest, "https://h:80/x") == "a")
        #expect(try answer(manifest, "https://h/x") == nil)
        #expect(try answer(manifest, "http://h:443/x") == nil)
    }

    @Test("A folder answers for each file below it, and at its own URL with its index.html")
    func folders() throws {
        let manifest = #"{ "https://h/f/": { "file": "outer/", "ignoreQuery": ["v"] } }"#
        #expect(try answer(manifest, "https://h/f/inner/x.css") == "outer/inner/x.css")
        #expect(try answer(manifest, "https://h/f/inner/x.css?v=1") == "outer/inner/x.css")
        #expect(try answer(manifest, "https://h/f/inner/") == "outer/inner/index.html")
        #expect(try answer(manifest, "https://h/f/inner/index.html") == "outer/inner/index.html")
        #expect(try answer(manifest, "https://h/f/inner") == nil)
        #expect(try answer(manifest, "https://h/f/") == nil)
        #expect(try answer(manifest, "https://h/f/inner/../../f/inner/x.css") == "outer/inner/x.css")
    }

    @Test(
        "In a folder's file names, a character that a path may hold equals its percent-encoding",
        arguments: [
            ("logo@2x.png", "logo%402x.png"), ("image (1).png", "image%20%281%29.png"), ("a,b.woff", "a%2cb.woff"),
            ("!$&'()*+,;=:@", "%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40"), ("d@x/e@y", "d%40x/e@y"),
            ("a@b%40c", "a%40b%2540c"),
        ]
    )
    func encodedNames(name: String, encoded: String) throws {
        try folder.write(name, to: "special/\(name)")
        let manifest = #"{ "https://h/s/": "special/", "https://h/v/": { "file": "special/", "ignoreQuery": ["v"] } }"#
        #expect(try answer(manifest, "https://h/s/\(encoded)") == name)
        #expect(try answer(manifest, "https://h/s/\(encoded)?v=1") == nil)
        #expect(try answer(manifest, "https://h/v/\(encoded)?v=1") == name)
        #expect(try answer(manifest, "https://h/v/\(encoded)?w=1") == nil)
    }

    @Test("Nothing else is decoded: the folder's own URL and explicit entries match exactly, in their order")
    func encodedNamesElsewhere() throws {
        for name in ["a#b", "a?b", "a[b]", "a%b", "x@y"] { try folder.write(name, to: "special/\(name)") }
        try folder.write("deep", to: "deep/x@y")
        let manifest = """
            { "https://h/s@t/": "special/", "https://h/s%40u/": "special/", "https://h/e@f": "a",
              "https://h/two/": "special/", "https://h/": "deep/", "https://h/x%40y": "b" }
            """
        // The lookup does not decode twice, and does not decode `%2F`. The lookup decodes only the path below a
        // folder's URL. For an entry of a single URL, the lookup decodes nothing.
        for path in ["s@t/a%2523b", "s@t/a%253Fb", "s@t/x%2540y", "s@t%2Fx@y", "s%40t/x@y", "s@u/x@y", "e%40f"] {
            #expect(try answer(manifest, "https://h/\(path)") == nil, "\(path)")
        }
        #expect(try answer(manifest, "https://h/s@t/x%40y") == "x@y")
        #expect(try answer(manifest, "https://h/s%40u/x%40y") == "x@y")
        // A match without decoding wins: a request for `x%40y` gets the explicit entry, and a request for `x@y` gets
        // the folder's file. Of two folders that match only after decoding, the deeper folder wins.
        #expect(try answer(manifest, "https://h/x%40y") == "b")
        #expect(try answer(manifest, "https://h/x@y") == "deep")
        let folders = #"{ "https://h/": "special/", "https://h/in/": "other/" }"#
        try folder.write("long", to: "other/a@b")
        try folder.write("short", to: "special/in/a@b")
        #expect(try answer(folders, "https://h/in/a%40b") == "long")
    }

    @Test("./ is the manifest's own folder, without the manifest and dot files")
    func ownFolder() throws {
        try folder.write(#"{ "https://h/": "./" }"#, to: "manifest.json")
        try folder.write("secret", to: ".env")
        try folder.write("secret", to: ".git/config")
        let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        let files = cache.substitutions.map(\.path)
        #expect(
            files == [
                "a", "b", "c", "inner/x.css", "other/x.css", "outer/inner/index.html", "outer/inner/index.html",
                "outer/inner/x.css",
            ]
        )
    }

    @Test("A network-first entry hides the entries after it from the cache")
    func networkFirst() throws {
        let manifest = #"{ "https://h/": "inner/", "https://h/x.css": { "file": "a", "when": "offline" } }"#
        #expect(try answer(manifest, "https://h/x.css") == nil)
    }

    @Test(
        "An entry answers until the end of its day in UTC, and then the next one does",
        arguments: [
            ("2027-03-31T23:59:59Z", "a"), ("2027-04-01T00:00:00Z", "inner/x.css"),
        ]
    )
    func until(moment: String, expected: String) throws {
        let text = #"{ "https://h/": "inner/", "https://h/x.css": { "file": "a", "until": "2027-03-31" } }"#
        let date = try #require(ISO8601DateFormatter().date(from: moment))
        let table = try SubstitutionTable(
            SubstitutionManifest(Data(text.utf8), name: "manifest.json"),
            folder: folder.url,
            reading: .mapped,
            on: date
        )
        let url = try #require(URL(string: "https://h/x.css"))
        let match = try #require(table.match(url))
        #expect(match.row.prepare()?.data == Data(expected.utf8))
    }
}
