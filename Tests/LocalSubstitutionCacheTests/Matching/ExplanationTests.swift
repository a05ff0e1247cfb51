import Foundation
import LocalSubstitutionDevelopment
import SubstitutionRules
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

@Suite("Explanations")
struct ExplanationTests {
    static let manifest = """
        {
          "https://example.com/site.css": "a.css",
          "https://example.com/config?lang=en": "a.json",
          "https://example.com/news": { "file": "a.css", "when": ["offline", 503] },
          "//www.example.org/Dir/page": "a.css",
          "https://example.com/old": { "file": "a.css", "until": "2020-01-01" },
          "https://example.com/list.css": { "file": "a.css", "ignoreQuery": ["w", "u*"] },
          "https://example.com/logo.png": "a.css",
          "https://example.com/hero@2x.png": "a.css",
          "https://example.com/icons/": "icons/"
        }
        """

    /// The explanation of each GET request; it begins with the request's URL.
    static let explanations = """
        https://example.com/site.css is answered with "a.css" (manifest.json:2).
        https://example.com/news is loaded from the network; "a.css" (manifest.json:4) answers instead when there is \
        no connection, or the server says 503.
        ftp://example.com/site.css is not substituted, because its scheme is "ftp"; only http and https are \
        substituted.
        https://example.com/old is not substituted, because the entry that names it (manifest.json:6) has expired: \
        its last day was 2020-01-01.
        https://example.com/list.css?w&cb is not substituted, because no entry names it. The nearest is \
        "https://example.com/list.css" (manifest.json:7), which differs in the query. To let it answer this URL too, \
        write "ignoreQuery": ["cb", "u*", "w"] in its entry.
        http://example.com/site.css is not substituted, because no entry names it. The nearest is \
        "https://example.com/site.css" (manifest.json:2), which differs in the scheme. To let it answer this URL too, \
        write its URL as "//example.com/site.css".
        https://example.com/site.css?_&cb is not substituted, because no entry names it. The nearest is \
        "https://example.com/site.css" (manifest.json:2), which differs in the query. To let it answer this URL too, \
        write { "file": "a.css", "ignoreQuery": ["_", "cb"] }.
        https://exmaple.com/site.css is not substituted, because no entry names it. The nearest is \
        "https://example.com/site.css" (manifest.json:2), which differs in the host.
        https://example.com/stie.css is not substituted, because no entry names it. The nearest is \
        "https://example.com/site.css" (manifest.json:2), which differs in the name of the file.
        https://example.com/hero%402x.png is not substituted, because no entry names it. The nearest is \
        "https://example.com/hero@2x.png" (manifest.json:9), which differs in a character that is percent-encoded in \
        one of the two.
        https://example.com/icons/sun.svgg is not substituted, because "https://example.com/icons/" \
        (manifest.json:10) maps the folder "icons/", which holds no "sun.svgg". The nearest is \
        "https://example.com/icons/sun.svg" (manifest.json:10), which differs in the name of the file.
        https://example.com/icons/ is not substituted, because "https://example.com/icons/" (manifest.json:10) maps \
        the folder "icons/", which holds no "index.html".
        https://example.com/Site.css/ is not substituted, because no entry names it. The nearest is \
        "https://example.com/site.css" (manifest.json:2), which differs in upper and lower case of the path and in \
        the "/" at the end.
        https://example.org:8443/dir/page is not substituted, because no entry names it. The nearest is \
        "//www.example.org/Dir/page" (manifest.json:5), which differs in "www." and in the port and in upper and \
        lower case of the path.
        """.split(separator: "\n").map(String.init)

    /// Explains a request with the suite's manifest.
    private func explanation(_ request: URLRequest) throws -> String {
        let folder = try TemporaryFolder()
        for name in ["a.css", "a.json", "icons/sun.svg"] { try folder.write("a", to: name) }
        return try folder.cache(Self.manifest).explain(request).description
    }

    @Test("Each request is explained by the expected sentence", arguments: explanations)
    func sentence(expected: String) throws {
        let url = try #require(URL(string: String(expected.prefix { $0 != " " })))
        #expect(try explanation(URLRequest(url: url)) == expected)
    }

    private static let onlyInSessions = """
        is answered with "a.css" (manifest.json:2), but only in sessions to which the app has added substitutions, because
        """

    @Test("A request's method, policy and fields are explained, but not if no entry names its URL")
    func requests() throws {
        func expect(
            _ sentence: String,
            _ url: String = "https://example.com/site.css",
            sourceLocation: SourceLocation = #_sourceLocation,
            _ change: (inout URLRequest) -> Void
        ) throws {
            var request = URLRequest(url: try #require(URL(string: url)))
            change(&request)
            let start = RequestedURL(try #require(request.url))
            #expect(try explanation(request) == "\(start) \(sentence)", sourceLocation: sourceLocation)
        }
        let start = Self.onlyInSessions
        try expect("\(start) the request bypasses every cache.") { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        try expect("\(start) the cache answers no request with Authorization from a file.") {
            $0.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
        }
        let switchedOff = """
            is not substituted, because the app switched substitution off for this request \
            (reloadIgnoringLocalAndRemoteCacheData).
            """
        try expect(switchedOff) { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
        let onlyRead = #"is not substituted, because its method is "POST"; only GET and HEAD are substituted."#
        try expect(onlyRead) { $0.httpMethod = "POST" }
        try expect("is not substituted, because no entry names it.", "https://other.example/") {
            $0.httpMethod = "POST"
            $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        }
        let userName = #"is not substituted, because it holds a user name; remove everything up to the "@"."#
        try expect(userName, "https://me@example.com/site.css") { _ in }
    }

    /// Explains a GET request to `url` with the manifest in `text`, all of whose files exist.
    private func explanation(_ text: String, _ files: [String], _ url: String) throws -> Explanation {
        let folder = try TemporaryFolder()
        for file in files { try folder.write("a", to: file) }
        return try folder.cache(text).explain(URLRequest(url: try #require(URL(string: url))))
    }

    @Test(
        "Files that an entry for a folder leaves out are not called missing",
        arguments: [
            (".well-known/x.json", "but no names that begin with \".\"."),
            ("a/.hidden", "but no names that begin with \".\"."),
            ("b.css", "which holds no \"b.css\"."), ("my%20subs.json", "but not the manifest itself."),
        ]
    )
    func leftOut(path: String, end: String) throws {
        let folder = try TemporaryFolder()
        for name in ["a.css", "a/.hidden", ".well-known/x.json"] { try folder.write("a", to: name) }
        try folder.write("{ \"https://h/\": \"./\" }", to: "my subs.json")
        let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("my subs.json"))
        let explanation = cache.explain(URLRequest(url: try #require(URL(string: "https://h/\(path)"))))
        #expect(explanation.description.contains("maps the folder \"./\", \(end)"), "\(explanation)")
    }

    @Test("Below a folder, an encoded character is no difference, and only the query keeps the file from answering")
    func encodedBelowFolder() throws {
        // Each of the two entries differs from the request's URL in one way. This entry has another scheme, and the
        // folder's entry has no query.
        let other = "\"http://h/icons/a%2Cb.svg?v=1\": \"icons/a,b.svg\""
        let text = "{ \"https://h/icons/\": \"icons/\", \(other) }"
        let explanation = try explanation(text, ["icons/a,b.svg"], "https://h/icons/a%2Cb.svg?v=1")
        #expect(explanation.nearest?.differences == [.query(ignoring: ["v"])])
        #expect(!explanation.description.contains("holds no"), "\(explanation)")
    }

    @Test("Of several similar URLs, the nearest differs in the fewest ways, the query included")
    func fewestDifferences() throws {
        let text = "{ \"http://h/a?v=1\": \"a.css\", \"http://h/a?v=2\": \"a.css\" }"
        let nearest = try explanation(text, ["a.css"], "https://h/a?v=2").nearest
        #expect(nearest?.substitution.namedURL == "http://h/a?v=2" && nearest?.differences == [.scheme])
    }

    /// Pairs of an entry and a request for another resource: its file must not be proposed for the request.
    static let distinct = [
        // Sizes, versions, indices and languages are not typos, and short words have none.
        ("https://h/img/hero-1600.png", "hero.png", "https://h/img/hero-800.png"),
        ("https://h/logo.png", "hero.png", "https://h/logo@2x.png"),
        ("https://h/main.3f2a1.js", "a.js", "https://h/main.3f2a9.js"),
        ("https://h/left.png", "hero.png", "https://h/lift.png"), ("https://h/a.js", "a.js", "https://h/b.js"),
        ("https://h/product.html", "a.html", "https://h/products.html"),
        ("https://h/picture.png", "hero.png", "https://h/picture.jpg"),
        ("https://cdn1.example.com/a.js", "a.js", "https://cdn2.example.com/a.js"),
        ("https://example.com/", "a.html", "https://example.org/"),
        // The query selects the content.
        ("https://h/??a.css,b.css", "a.css", "https://h/#!/x"), ("https://h/??a.css,b.css", "a.css", "https://h/"),
        ("https://h/_next/image?url=%2Fa.png&w=640", "hero.png", "https://h/_next/image?url=%2Fa.png&w=750"),
        ("https://h/css?family=Lato", "a.css", "https://h/css?family=Inter"),
        ("https://h/hero.png?w=400", "hero.png", "https://h/hero.png?w=800&v=2"),
    ]

    @Test("Another resource is no neighbour", arguments: Self.distinct)
    func anotherResource(key: String, file: String, url: String) throws {
        let explanation = try explanation("{ \"\(key)\": \"\(file)\" }", [file], url)
        #expect(explanation.nearest == nil, "\(explanation)")
    }

    @Test(
        "A mistake of a person is named, and a rule is proposed only if no wrong file can answer then",
        arguments: [
            ("https://h/styles.css", "a.css", "https://h/stlyes.css", nil),
            ("https://h/picture.jpeg", "a.jpeg", "https://h/picture.jpg", nil),
            ("https://h/site.css", "a.css", "https://h/site.ccs", nil),
            ("https://h/page?id=3", "a.html", "https://h/page", nil),
            ("https://h/hero.png", "hero.png", "https://h/hero.png?w=800", nil),
            ("https://h/a.js?b=1&c=2", "a.js", "https://h/a.js?c=2&b=1", nil),
            ("https://h/site.css", "a.css", "https://h/site.css?v=17", "\"ignoreQuery\": [\"v\"]"),
            ("https://h/site.css", "a.css", "https://h/site.css?2022.1", "\"ignoreQuery\": true"),
            ("https://h/hero.png?w=4", "hero.png", "https://h/hero.png?w=4&ver=2", "\"ignoreQuery\": [\"ver\"]"),
            ("https://h/page", "a.html", "https://h/page?utm_source=x&fbclid=y", "[\"fbclid\", \"utm_*\"]"),
            ("https://h/api?x=1", "a.json", "https://h/api?x=1&_=17", "\"ignoreQuery\": [\"_\"]"),
            ("http://h/icons/", "icons/", "https://h/icons/a.svg", "write its URL as \"//h/icons/\""),
        ] as [(String, String, String, String?)]
    )
    func mistake(key: String, file: String, url: String, advice: String?) throws {
        let files = [file.hasSuffix("/") ? file + "a.svg" : file]
        let text = try explanation("{ \"\(key)\": \"\(file)\" }", files, url).description
        #expect(text.contains("The nearest is "), "\(text)")
        #expect(text.contains(advice ?? "which differs in") && text.contains("To let it") == (advice != nil), "\(text)")
    }

    @Test("A version that selects a file of the manifest is not ignored")
    func versions() throws {
        let text = "{ \"https://h/a.css?v=1\": \"1.css\", \"https://h/a.css?v=2\": \"2.css\" }"
        let explanation = try explanation(text, ["1.css", "2.css"], "https://h/a.css?v=3")
        #expect(explanation.nearest == nil, "\(explanation)")
    }
}
