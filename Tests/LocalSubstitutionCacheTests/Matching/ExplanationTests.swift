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

    struct Row: Sendable, CustomTestStringConvertible {
        let url: String
        var method = "GET"
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        var isAuthorized = false
        let sentence: String
        var testDescription: String { "\(method) \(url)" }
    }

    private static let noEntry = "is not substituted, because no entry names it."

    static let rows = [
        Row(
            url: "https://example.com/site.css",
            sentence: "https://example.com/site.css is answered with \"a.css\" (manifest.json:2)."
        ),
        Row(
            url: "https://example.com/site.css",
            method: "HEAD",
            sentence: "https://example.com/site.css is answered with \"a.css\" (manifest.json:2)."
        ),
        Row(
            url: "https://example.com/site.css",
            policy: .reloadIgnoringLocalCacheData,
            sentence: "https://example.com/site.css is answered with \"a.css\" (manifest.json:2), but only in "
                + "sessions to which the app has added substitutions, because the request bypasses every cache."
        ),
        Row(
            url: "https://example.com/site.css",
            isAuthorized: true,
            sentence: "https://example.com/site.css is answered with \"a.css\" (manifest.json:2), but only in "
                + "sessions to which the app has added substitutions, because the cache answers no request with Authorization from a file."
        ),
        Row(
            url: "https://example.com/site.css",
            policy: .reloadIgnoringLocalAndRemoteCacheData,
            sentence: "https://example.com/site.css is not substituted, because the app switched "
                + "substitution off for this request (reloadIgnoringLocalAndRemoteCacheData)."
        ),
        Row(
            url: "https://example.com/news",
            sentence: "https://example.com/news is loaded from the network; \"a.css\" (manifest.json:4) answers "
                + "instead when there is no connection, or the server says 503."
        ),
        Row(
            url: "https://example.com/site.css",
            method: "POST",
            sentence:
                "https://example.com/site.css is not substituted, because its method is \"POST\"; only GET and HEAD "
                + "are substituted."
        ),
        Row(
            url: "ftp://example.com/site.css",
            sentence:
                "ftp://example.com/site.css is not substituted, because its scheme is \"ftp\"; only http and https "
                + "are substituted."
        ),
        Row(
            url: "https://me@example.com/site.css",
            sentence: "https://…@example.com/site.css is not substituted, because it holds a user name; remove "
                + "everything up to the \"@\"."
        ),
        Row(
            url: "https://example.com/config?",
            sentence: "https://example.com/config? \(noEntry) The nearest is "
                + "\"https://example.com/config?lang=en\" (manifest.json:3), which differs in the query."
        ),
        Row(
            url: "https://example.com/config?lang=en&lang=en",
            sentence: "https://example.com/config?lang&lang \(noEntry) The nearest is "
                + "\"https://example.com/config?lang=en\" (manifest.json:3), which differs in the query."
        ),
        Row(
            url: "https://other.example/",
            method: "POST",
            policy: .reloadIgnoringLocalAndRemoteCacheData,
            sentence: "https://other.example/ \(noEntry)"
        ),
        Row(
            url: "mailto:someone@example.com",
            sentence: "mailto:someone@example.com is not substituted, because its scheme is \"mailto\"; only http and "
                + "https are substituted."
        ),
        Row(
            url: "https://example.com/old",
            sentence:
                "https://example.com/old is not substituted, because the entry that names it (manifest.json:6) has "
                + "expired: its last day was 2020-01-01."
        ),
        Row(
            url: "https://example.com/list.css?w=1&v=2",
            sentence: "https://example.com/list.css?w&v \(noEntry) The nearest is "
                + "\"https://example.com/list.css\" (manifest.json:7), which differs in the query. To let it answer "
                + "this URL too, write \"ignoreQuery\": [\"u*\", \"v\", \"w\"] in its entry."
        ),
        Row(
            url: "https://example.com:99999/",
            sentence:
                "https://example.com:99999/ is not substituted, because it is not a URL that a manifest can name: "
                + "\"https://example.com:99999/\" has a port that is not a number up to 65535; write the whole URL that "
                + "the app loads, such as \"https://example.com/img/logo.png\"."
        ),
        Row(url: "https://other.example/", sentence: "https://other.example/ \(noEntry)"),
        Row(
            url: "http://example.com/site.css",
            sentence: "http://example.com/site.css \(noEntry) The nearest is \"https://example.com/site.css\" "
                + "(manifest.json:2), which differs in the scheme. To let it answer this URL too, write its URL as "
                + "\"//example.com/site.css\"."
        ),
        Row(
            url: "https://example.com/site.css?v=2&_=w",
            sentence: "https://example.com/site.css?v&_ \(noEntry) The nearest is "
                + "\"https://example.com/site.css\" (manifest.json:2), which differs in the query. To let "
                + "it answer this URL too, write { \"file\": \"a.css\", \"ignoreQuery\": [\"_\", \"v\"] }."
        ),
        Row(
            url: "https://example.com/site.css?2022.1",
            sentence: "https://example.com/site.css?2022.1 \(noEntry) The nearest is "
                + "\"https://example.com/site.css\" (manifest.json:2), which differs in the query. To let "
                + "it answer this URL too, write { \"file\": \"a.css\", \"ignoreQuery\": true }."
        ),
        Row(
            url: "https://exmaple.com/site.css",
            sentence: "https://exmaple.com/site.css \(noEntry) The nearest is \"https://example.com/site.css\" "
                + "(manifest.json:2), which differs in the host."
        ),
        Row(url: "https://example.com/sites.css", sentence: "https://example.com/sites.css \(noEntry)"),
        Row(
            url: "https://example.com/stie.css",
            sentence: "https://example.com/stie.css \(noEntry) The nearest is \"https://example.com/site.css\" "
                + "(manifest.json:2), which differs in the name of the file."
        ),
        Row(url: "https://example.com/logo@2x.png", sentence: "https://example.com/logo@2x.png \(noEntry)"),
        Row(
            url: "https://example.com/hero%402x.png",
            sentence: "https://example.com/hero%402x.png \(noEntry) The nearest is "
                + "\"https://example.com/hero@2x.png\" (manifest.json:9), which differs in a character that is "
                + "percent-encoded in one of the two."
        ),
        Row(
            url: "https://example.com/icons/new/tide.svg",
            sentence: "https://example.com/icons/new/tide.svg is not substituted, because "
                + "\"https://example.com/icons/\" (manifest.json:10) maps the folder \"icons/\", which holds "
                + "no \"new/tide.svg\"."
        ),
        Row(
            url: "https://example.com/icons/sun.svgg",
            sentence: "https://example.com/icons/sun.svgg is not substituted, because "
                + "\"https://example.com/icons/\" (manifest.json:10) maps the folder \"icons/\", which holds "
                + "no \"sun.svgg\". The nearest is \"https://example.com/icons/sun.svg\" (manifest.json:10), "
                + "which differs in the name of the file."
        ),
        Row(
            url: "https://example.com/icons/",
            sentence: "https://example.com/icons/ is not substituted, because \"https://example.com/icons/\" "
                + "(manifest.json:10) maps the folder \"icons/\", which holds no \"index.html\"."
        ),
        Row(url: "https://example.com/config?lang=de", sentence: "https://example.com/config?lang \(noEntry)"),
        Row(
            url: "https://example.com/Site.css/",
            sentence: "https://example.com/Site.css/ \(noEntry) The nearest is \"https://example.com/site.css\" "
                + "(manifest.json:2), which differs in upper and lower case of the path and in the \"/\" at the end."
        ),
        Row(
            url: "https://example.org:8443/dir/page",
            sentence: "https://example.org:8443/dir/page \(noEntry) The nearest is \"//www.example.org/Dir/page\" "
                + "(manifest.json:5), which differs in \"www.\" and in the port and in upper and lower case of the "
                + "path."
        ),
    ]

    @Test("Each request is explained by the expected sentence", arguments: rows)
    func sentence(row: Row) throws {
        let folder = try TemporaryFolder()
        for name in ["a.css", "a.json", "icons/sun.svg"] { try folder.write("a", to: name) }
        var request = URLRequest(url: try #require(URL(string: row.url)), cachePolicy: row.policy)
        request.httpMethod = row.method
        if row.isAuthorized { request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization") }
        #expect(try folder.cache(Self.manifest).explain(request).description == row.sentence)
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
        let folder = try TemporaryFolder()
        try folder.write("a", to: "icons/a,b.svg")
        // Each of the two entries differs from the request's URL in one way. This entry has another scheme, and the
        // folder's entry has no query.
        let other = "\"http://h/icons/a%2Cb.svg?v=1\": \"icons/a,b.svg\""
        let cache = try folder.cache("{ \"https://h/icons/\": \"icons/\", \(other) }")
        let url = try #require(URL(string: "https://h/icons/a%2Cb.svg?v=1"))
        let explanation = cache.explain(URLRequest(url: url))
        #expect(explanation.nearest?.differences == [.query(ignoring: ["v"])])
        #expect(!explanation.description.contains("holds no"), "\(explanation)")
    }

    @Test("Of several similar URLs, the nearest differs in the fewest ways, the query included")
    func fewestDifferences() throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: "a.css")
        let cache = try folder.cache("{ \"http://h/a?v=1\": \"a.css\", \"http://h/a?v=2\": \"a.css\" }")
        let nearest = cache.explain(URLRequest(url: try #require(URL(string: "https://h/a?v=2")))).nearest
        #expect(nearest?.substitution.namedURL == "http://h/a?v=2" && nearest?.differences == [.scheme])
    }

    /// Pairs of an entry and a request for another resource: its file must not be proposed for the request.
    static let distinct = [
        // Sizes, versions, indices and languages are not typos, and short words have none.
        ("https://h/img/hero-1600.png", "hero.png", "https://h/img/hero-800.png"),
        ("https://h/sq.html", "a.html", "https://h/sri.html"), ("https://h/a.js", "a.js", "https://h/b.js"),
        ("https://h/logo.png", "hero.png", "https://h/logo@2x.png"),
        ("https://h/p1.html", "a.html", "https://h/p2.html"),
        ("https://h/main.3f2a1.js", "a.js", "https://h/main.3f2a9.js"),
        ("https://h/messages-en.json", "a.json", "https://h/messages-es.json"),
        ("https://h/lib-1.2.3.js", "a.js", "https://h/lib-1.2.4.js"),
        ("https://h/left.png", "hero.png", "https://h/lift.png"),
        ("https://h/light.svg", "a.svg", "https://h/right.svg"),
        ("https://h/product.html", "a.html", "https://h/products.html"),
        ("https://h/photo-left.png", "hero.png", "https://h/photo-lift.png"),
        ("https://h/picture.png", "hero.png", "https://h/picture.jpg"),
        ("https://cdn1.example.com/a.js", "a.js", "https://cdn2.example.com/a.js"),
        ("https://de.example.com/", "a.html", "https://fr.example.com/"),
        ("https://example.com/", "a.html", "https://example.org/"),
        // The query selects the content.
        ("https://h/??a.css,b.css", "a.css", "https://h/#!/x"), ("https://h/??a.css,b.css", "a.css", "https://h/"),
        ("https://h/??a.css,b.css", "a.css", "https://h/??a.css,c.css"),
        ("https://h/_next/image?url=%2Fa.png&w=640", "hero.png", "https://h/_next/image?url=%2Fa.png&w=750"),
        ("https://h/_next/image?url=%2Fa.png&w=640", "hero.png", "https://h/_next/image"),
        ("https://h/load-scripts.php?load%5B%5D=a", "a.js", "https://h/load-scripts.php?load%5B%5D=b"),
        ("https://h/load-scripts.php?load%5B%5D=a", "a.js", "https://h/load-scripts.php"),
        ("https://h/css?family=Lato", "a.css", "https://h/css?family=Inter"),
        ("https://h/api?x=1", "a.json", "https://h/api?x=2"),
        ("https://h/watch?v=a1", "a.html", "https://h/watch?v=b2"),
        ("https://h/hero.png?w=400", "hero.png", "https://h/hero.png?w=800"),
        ("https://h/hero.png?w=400", "hero.png", "https://h/hero.png?w=800&v=2"),
        ("https://h/hero.png?400", "hero.png", "https://h/hero.png?800"),
    ]

    @Test("Another resource is no neighbour", arguments: Self.distinct)
    func anotherResource(key: String, file: String, url: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: file)
        let cache = try folder.cache("{ \"\(key)\": \"\(file)\" }")
        let explanation = cache.explain(URLRequest(url: try #require(URL(string: url))))
        #expect(explanation.nearest == nil, "\(explanation)")
    }

    @Test(
        "A mistake of a person is named, and a rule is proposed only if no wrong file can answer then",
        arguments: [
            ("https://h/styles.css", "a.css", "https://h/stlyes.css", nil),
            ("https://h/header.svg", "a.svg", "https://h/heder.svg", nil),
            ("https://h/background.png", "hero.png", "https://h/backgroumd.png", nil),
            ("https://h/picture.jpeg", "a.jpeg", "https://h/picture.jpg", nil),
            ("https://h/site.css", "a.css", "https://h/site.ccs", nil),
            ("https://h/page?id=3", "a.html", "https://h/page", nil),
            ("https://h/api", "a.json", "https://h/api?x=1", nil),
            ("https://h/hero.png", "hero.png", "https://h/hero.png?w=800", nil),
            ("https://h/a.js?b=1&c=2", "a.js", "https://h/a.js?c=2&b=1", nil),
            ("https://h/site.css", "a.css", "https://h/site.css?v=17", "\"ignoreQuery\": [\"v\"]"),
            ("https://h/site.css", "a.css", "https://h/site.css?2022.1", "\"ignoreQuery\": true"),
            ("https://h/hero.png", "hero.png", "https://h/hero.png?1650000000", "\"ignoreQuery\": true"),
            ("https://h/hero.png?w=4", "hero.png", "https://h/hero.png?w=4&ver=2", "\"ignoreQuery\": [\"ver\"]"),
            ("https://h/page", "a.html", "https://h/page?utm_source=x&fbclid=y", "[\"fbclid\", \"utm_*\"]"),
            ("https://h/api?x=1", "a.json", "https://h/api?x=1&_=17", "\"ignoreQuery\": [\"_\"]"),
            ("http://h/icons/", "icons/", "https://h/icons/a.svg", "write its URL as \"//h/icons/\""),
        ] as [(String, String, String, String?)]
    )
    func mistake(key: String, file: String, url: String, advice: String?) throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: file.hasSuffix("/") ? file + "a.svg" : file)
        let cache = try folder.cache("{ \"\(key)\": \"\(file)\" }")
        let text = cache.explain(URLRequest(url: try #require(URL(string: url)))).description
        #expect(text.contains("The nearest is "), "\(text)")
        #expect(text.contains(advice ?? "which differs in") && text.contains("To let it") == (advice != nil), "\(text)")
    }

    @Test("A version that selects a file of the manifest is not ignored")
    func versions() throws {
        let folder = try TemporaryFolder()
        for name in ["1.css", "2.css"] { try folder.write("a", to: name) }
        let cache = try folder.cache("{ \"https://h/a.css?v=1\": \"1.css\", \"https://h/a.css?v=2\": \"2.css\" }")
        let explanation = cache.explain(URLRequest(url: try #require(URL(string: "https://h/a.css?v=3"))))
        #expect(explanation.nearest == nil, "\(explanation)")
    }

    @Test("Thousands of misses beside thousands of entries are explained in time")
    func scale() throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: "a.css")
        let count = Program.isLongRun ? 20_000 : 2000
        let entries = (0..<count).map { "\"https://example.com/File\($0)\": \"a.css\"" }
        let cache = try folder.cache("{" + entries.joined(separator: ",") + "}")
        for number in 0..<count {
            let url = try #require(URL(string: "https://example.com/file\(number)"))
            guard cache.explain(URLRequest(url: url)).nearest?.differences == [.letterCase] else {
                Issue.record("\(url) has no neighbour")
                return
            }
        }
    }
}
