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
        let deep = ["outer/inner/x.css", "outer/inner/index.html", "outer/reindex.html", "inner/x.css", "other/x.css"]
        for file in ["a", "b", "c"] + deep { try folder.write(file, to: file) }
    }

    /// Returns the answers to URLs with the scheme https, unless they begin with "http:".
    private func answers(_ manifest: String, _ urls: [String]) throws -> [String?] {
        let cache = try folder.cache(manifest)
        return try urls.map { url in
            let url = try #require(URL(string: url.hasPrefix("http:") ? url : "https://h/" + url))
            return cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) }
        }
    }

    /// Returns two manifests with the same two entries, in either order.
    private func manifests(_ first: String, _ second: String) -> [String] {
        ["{ \(first), \(second) }", "{ \(second), \(first) }"]
    }

    @Test("The longer folder URL answers first, whatever the order in the file")
    func longerFolderFirst() throws {
        for manifest in manifests(#""https://h/": "outer/""#, #""https://h/inner/": "other/""#) {
            #expect(try answers(manifest, ["inner/x.css"]) == ["other/x.css"])
        }
    }

    @Test("A scheme weighs more than a query rule, and an explicit entry more than both")
    func precedence() throws {
        let manifest = """
            { "//h/inner/x.css": { "file": "c", "ignoreQuery": true }, "https://h/inner/": "inner/",
              "https://h/y": { "file": "a", "ignoreQuery": true }, "//h/y": "b" }
            """
        #expect(try answers(manifest, ["inner/x.css", "y", "http://h/y"]) == ["c", "a", "b"])
    }

    @Test("An exact query answers before a list, and a list before any")
    func exactQueryFirst() throws {
        let manifest = """
            { "https://h/x?a=1": { "file": "c", "ignoreQuery": true },
              "https://h/x?v=0": { "file": "b", "ignoreQuery": ["v"] },
              "https://h/x": "a" }
            """
        #expect(try answers(manifest, ["x", "x?v=1", "x?w=1"]) == ["a", "b", "c"])
    }

    @Test("Between two entries of equal rank the order in the file does not decide")
    func tie() throws {
        let a = #""https://h/x?a=1": { "file": "a", "ignoreQuery": true }"#
        let b = #""https://h/x?b=1": { "file": "b", "ignoreQuery": true }"#
        for manifests in [manifests(a, b), manifests(#""//h/x": "a""#, #""//h:443/x": "b""#)] {
            #expect(try Set(manifests.map { try answers($0, ["x"]) }).count == 1)
        }
    }

    @Test("// means both schemes, with the default port of each")
    func bothSchemes() throws {
        let urls = ["http://h/x", "http://h:443/x", "x"]
        #expect(try answers(#"{ "//h:80/x": "a" }"#, urls) == ["a", nil, nil])
        #expect(try answers(#"{ "//h:443/x": "a" }"#, urls) == [nil, "a", "a"])
    }

    @Test("A folder answers for each file below it, and at its own URL with its index.html")
    func folders() throws {
        let manifest = #"{ "https://h/f/": { "file": "outer/", "ignoreQuery": ["v"] } }"#
        for path in ["inner/x.css", "inner/x.css?v=1", "inner/../../f/inner/x.css"] {
            #expect(try answers(manifest, ["f/" + path]) == ["outer/inner/x.css"])
        }
        let index = "outer/inner/index.html"
        let urls = ["f/inner/", "f/inner/index.html", "f/inner", "f/", "f/re"]
        #expect(try answers(manifest, urls) == [index, index, nil, nil, nil])
    }

    @Test(
        "In a folder's file names, a character that a path may hold equals its percent-encoding",
        arguments: [
            ("image (1).png", "image%20%281%29.png"), ("a,b.woff", "a%2cb.woff"), ("d@x/e@y", "d%40x/e@y"),
            ("!$&'()*+,;=:@", "%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40"), ("a@b%40c", "a%40b%2540c"),
        ]
    )
    func encodedNames(name: String, encoded: String) throws {
        try folder.write(name, to: "special/\(name)")
        let manifest = #"{ "https://h/s/": "special/", "https://h/v/": { "file": "special/", "ignoreQuery": ["v"] } }"#
        let urls = ["s/\(encoded)", "s/\(encoded)?v=1", "v/\(encoded)?v=1", "v/\(encoded)?w=1"]
        #expect(try answers(manifest, urls) == [name, nil, name, nil])
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
            #expect(try answers(manifest, [path]) == [nil], "\(path)")
        }
        // A match without decoding wins: a request for `x%40y` gets the explicit entry, and a request for `x@y` gets
        // the folder's file. Of two folders that match only after decoding, the deeper folder wins.
        let urls = ["s@t/x%40y", "s%40u/x%40y", "x%40y", "x@y"]
        #expect(try answers(manifest, urls) == ["x@y", "x@y", "b", "deep"])
        for (path, text) in [("other/a@b", "long"), ("special/in/a@b", "short")] { try folder.write(text, to: path) }
        let folders = #"{ "https://h/": "special/", "https://h/in/": "other/" }"#
        #expect(try answers(folders, ["in/a%40b"]) == ["long"])
    }

    @Test("./ is the manifest's own folder, without the manifest and dot files")
    func ownFolder() throws {
        try folder.write(#"{ "https://h/": "./" }"#, to: "manifest.json")
        for path in [".env", ".git/config"] { try folder.write("secret", to: path) }
        let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
        let index = "outer/inner/index.html"
        let paths = ["a", "b", "c", "inner/x.css", "other/x.css", index, index, "outer/inner/x.css"]
        #expect(cache.substitutions.map(\.path) == paths + ["outer/reindex.html"])
    }

    @Test("A network-first entry hides the entries after it from the cache")
    func networkFirst() throws {
        let manifest = #"{ "https://h/": "inner/", "https://h/x.css": { "file": "a", "when": "offline" } }"#
        #expect(try answers(manifest, ["x.css"]) == [nil])
    }

    @Test("An entry answers until the end of its day in UTC, and then the next one does")
    func until() throws {
        let text = #"{ "https://h/": "inner/", "https://h/x.css": { "file": "a", "until": "2027-03-31" } }"#
        let manifest = SubstitutionManifest(Data(text.utf8), name: "manifest.json")
        let url = try #require(URL(string: "https://h/x.css"))
        for (moment, expected) in [("2027-03-31T23:59:59Z", "a"), ("2027-04-01T00:00:00Z", "inner/x.css")] {
            let date = try #require(ISO8601DateFormatter().date(from: moment))
            let table = try SubstitutionTable(manifest, folder: folder.url, reading: .mapped, on: date)
            #expect(table.match(url)?.row.prepare()?.data == Data(expected.utf8))
        }
    }
}
