import Foundation
import LocalSubstitutionDevelopment
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

@Suite("Rules for web extensions")
struct RulesetTests {
    private let folder: TemporaryFolder

    /// Names that a folder's files may have.
    private static let names = [
        "a.css", "b.svg", "a@2x.png", "x(1),y.png", "deep/a.css", "deep/index.html", "[1].png", "ü.css", "it's+.svg",
        "st*r.js",
    ]

    init() throws {
        folder = try TemporaryFolder()
        for name in Self.names { try folder.write(name, to: "f/\(name)") }
        for name in ["a.css", "b.svg", "c.json", "d.woff2"] { try folder.write(name, to: name) }
    }

    private func ruleset(_ manifest: String) throws -> Ruleset {
        try ruleset(SubstitutionManifest(Data(manifest.utf8), name: "manifest.json"))
    }

    private func ruleset(_ manifest: SubstitutionManifest) throws -> Ruleset {
        Ruleset(try manifest.resolved(in: folder.url).substitutions) { substitution in
            substitution.entry.headers.isEmpty ? nil : "its headers"
        }
    }

    @Test("A long list of ignored parameters is counted, but makes no more rules than an engine may accept")
    func most() throws {
        let names = (0..<50).map { "\"p\($0)\"" }.joined(separator: ", ")
        let manifest = #"{ "https://h/f/": { "file": "f/", "ignoreQuery": [\#(names)] } }"#
        let substitutions = try SubstitutionManifest(Data(manifest.utf8), name: "manifest.json")
            .resolved(in: folder.url).substitutions
        let whole = Ruleset(substitutions) { _ in nil }
        #expect(whole.count == whole.rules.count && whole.count > 200)
        let ruleset = Ruleset(substitutions, atMost: 60) { _ in nil }
        #expect(ruleset.rules.count == 60 && ruleset.count == whole.count)
    }

    @Test(
        "Each entry has rules for its own URLs only",
        arguments: [
            (#""https://h/a": "a.css""#, ["|https://h/a| → a.css"]),
            (#""HTTPS://H:443/x/../a?Q=%7e": "a.css""#, ["|https://h/a?Q=%7e| → a.css", "|https://h/a?Q=~| → a.css"]),
            (#""https://h/a": "d.woff2""#, ["|https://h/a# → d.woff2", "|https://h/a| → d.woff2"]),
            (
                #""https://h/a": { "file": "a.css", "ignoreQuery": true }"#,
                ["|https://h/a? → a.css", "|https://h/a| → a.css"]
            ),
            (
                #""https://h/a": { "file": "a.css", "ignoreQuery": ["v", "utm_*"] }"#,
                [
                    #"^https://h/a\?utm_[!"$%'-~]*$ → a.css"#, #"^https://h/a\?v=[!"$%'-~]*$ → a.css"#,
                    "|https://h/a| → a.css",
                ]
            ),
            (
                #""https://h/a?k[]=1": { "file": "a.css", "ignoreQuery": ["f[]"] }"#,
                [
                    #"^https://h/a\?f%5B%5D=[!"$%'-~]*&k%5B%5D=1$ → a.css"#,
                    #"^https://h/a\?f\[\]=[!"$%'-~]*&k\[\]=1$ → a.css"#,
                    #"^https://h/a\?k%5B%5D=1&f%5B%5D=[!"$%'-~]*$ → a.css"#,
                    #"^https://h/a\?k\[\]=1&f\[\]=[!"$%'-~]*$ → a.css"#,
                    "|https://h/a?k%5B%5D=1| → a.css", "|https://h/a?k[]=1| → a.css",
                ]
            ),
            (#""https://h/*a|b^": "a.css""#, [#"^https://h/\*a%7Cb%5E$ → a.css"#, #"^https://h/\*a\|b%5E$ → a.css"#]),
            (
                #""https://h/": "f/", "https://h/a.css": { "file": "a.css", "when": 404 }, "https://h/x(1),y.png": "c.json""#,
                [
                    "|https://h/%5B1%5D.png| → f/[1].png", "|https://h/%C3%BC.css| → f/ü.css",
                    "|https://h/u%CC%88.css| → f/ü.css", "|https://h/[1].png| → f/[1].png",
                    "|https://h/a%402x.png| → f/a@2x.png", "|https://h/a@2x.png| → f/a@2x.png",
                    "|https://h/b.svg| → f/b.svg", "|https://h/deep/a.css| → f/deep/a.css",
                    "|https://h/deep/index.html| → f/deep/index.html", "|https://h/deep/| → f/deep/index.html",
                    "|https://h/it%27s%2B.svg| → f/it's+.svg", "|https://h/it's%2B.svg| → f/it's+.svg",
                    "|https://h/it's+.svg| → f/it's+.svg", "|https://h/st%2Ar.js| → f/st*r.js",
                    #"^https://h/st\*r\.js$ → f/st*r.js"#,
                    "|https://h/x%281%29%2Cy.png| → f/x(1),y.png", "|https://h/x(1)%2Cy.png| → f/x(1),y.png",
                    "|https://h/x(1),y.png| → c.json",
                ]
            ),
        ]
    )
    func table(entries: String, expected: [String]) throws {
        let ruleset = try ruleset("{ \(entries) }")
        let rules = ruleset.rules.map { rule in
            "\(rule.filter.pattern ?? rule.filter.regularExpression) → \(ruleset.substitutions[rule.substitution].path)"
        }
        #expect(rules.sorted() == expected.sorted())
    }

    @Test("Entries that rules cannot express are reported with their line")
    func left() throws {
        let long = String(repeating: "x", count: URLFilter.longestRest + 1)
        let manifest = """
            {
              "https://h/a": { "file": "a.css", "when": "offline" },
              "https://h/b": { "file": "a.css", "headers": { "X-A": "b" } },
              "https://h/c?x": "a.css",
              "https://h/c": { "file": "b.svg", "ignoreQuery": true },
              "https://h/d": { "file": "a.css", "ignoreQuery": ["v", "w"] },
              "https://h/d?v&x": { "file": "b.svg", "ignoreQuery": ["x"] },
              "https://h/f/": { "file": "f/", "when": 404 },
              "https://h/[e]": { "file": "a.css", "ignoreQuery": ["v"] },
              "https://h/g?\(long)": { "file": "a.css", "ignoreQuery": ["v"] }
            }
            """
        let omissions = try ruleset(manifest).omissionCounts.map { "\($0.key.line): \($0.key.reason) (\($0.value))" }
        #expect(
            omissions.sorted() == [
                "10: its URL with \"v\" before a long query (1)",
                "10: only URLs such as \"?v=1&v=2\" and \"?v\" (1)",
                "2: the network is asked first, as its \"when\" says (1)", "3: its headers (1)",
                "5: its URL with a query, because line 4 answers it with some queries (1)",
                "6: only URLs such as \"?v=1&v=2\" and \"?v\" (1)",
                "7: its URL with a parameter, because line 6 answers it with some queries (1)",
                "8: the network is asked first, as its \"when\" says (\(Self.names.count + 1))",
                "9: only URLs such as \"?v=1&v=2\" and \"?v\" (1)",
            ]
        )
    }

    @Test("The cost of many entries for one URL, each with another query, is linear")
    func manyQueries() throws {
        let growth = try Growth.whenEightfold(1000) { count in
            let entries = (0..<count).map {
                #""https://h/a?b=\#($0)": { "file": "a.css", "ignoreQuery": ["v", "x"] }"#
            }
            let rules = try ruleset("{ \(entries.joined(separator: ", ")) }").rules
            #expect(rules.count >= count)
        }
        #expect(growth < Growth.limit)
    }

    private static func entry(_ numbers: inout Numbers) -> String {
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &numbers) ?? "" }
        let scheme = pick(["https:", "http:", "", ""])
        let host = pick(["h", "h", "H:443", "h:8080"])
        let isFolder = Int.random(in: 0..<4, using: &numbers) == 0
        let files = [
            "/", "/a.css", "/f/a.css", "/f/a@2x.png", "/f/a%402x.png", "/f/x(1),y.png", "/f/x(1)%2Cy.png", "/f/st*r.js",
            "/f/[1].png", "/f/deep/", "/f/it's%2B.svg", "/~b", "/%7eb", "/f/a|b^",
        ]
        let path = pick(isFolder ? ["/", "/f/", "/f/deep/", "/F/", "/a%402x.png/"] : files)
        let query = pick(isFolder ? [""] : ["", "", "", "?", "?v=1", "?x=1&v=2", "?x=[1]", "?utm_a&x=1"])
        let file = pick(isFolder ? ["f/"] : ["a.css", "b.svg", "c.json", "d.woff2"])
        let rule = pick(["", "", "", "true", #"["v"]"#, #"["v", "utm_*"]"#, #"["x"]"#, #"["x", "v"]"#])
        let fields = [
            "\"file\": \"\(file)\"", rule.isEmpty ? "" : "\"ignoreQuery\": \(rule)",
            Int.random(in: 0..<8, using: &numbers) == 0 ? "\"when\": 404" : "",
            Int.random(in: 0..<8, using: &numbers) == 0 ? "\"headers\": { \"X-A\": \"b\" }" : "",
            Int.random(in: 0..<16, using: &numbers) == 0 ? "\"until\": \"2020-01-01\"" : "",
        ].filter { !$0.isEmpty }
        return "\"\(scheme)//\(host)\(path)\(query)\": { \(fields.joined(separator: ", ")) }"
    }

    /// Returns URLs that are similar to `url`, in the form that browsers send.
    private static func nearMisses(of url: String) -> [String] {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (base, query) = (parts[0], parts.count > 1 ? "?\(parts[1])" : "")
        var urls = [
            "", "?", "?v=1", "?v=2", "?v", "?v=1&v=2", "?x=1", "?x=1&v=7", "?v=7&x=1", "?utm_a=1", "?utm_", "?utm",
            "?vv=1", "?x=1&utm_b=%", "?v=100%", #"?v=a\b"#, "?v=1#f", "?x=[1]", "?x=%5b1%5D", "?v=1&w=1", "?w=1&v=1",
            "?&v=1", "?v=1&",
        ].map { base + $0 }
        urls += [url, url + "#f", url + "#", base + "/" + query, base + "x" + query, base.uppercased() + query]
        urls += [
            ("https:", "http:"), ("http:", "https:"), ("@", "%40"), ("%40", "@"), (",", "%2C"), ("[", "%5B"),
            ("*", "x"),
        ].map { url.replacingOccurrences(of: $0, with: $1) }
        return urls + [base.replacingOccurrences(of: "//h/", with: "//h:8080/"), base + "%7E", base + "~"]
    }

    /// Returns the URL that a browser sends (URL Standard §1.3 and §4.4; measured with Chromium 156).
    ///
    /// Older browsers leave "|" in a path.
    private static func sent(_ path: String, _ query: String, usesOldSet: Bool) -> String {
        func encoded(_ text: String, _ set: String) -> String {
            text.utf8.map { set.utf8.contains($0) ? String(format: "%%%02X", $0) : String(UnicodeScalar($0)) }.joined()
        }
        let inPath = encoded(path.replacingOccurrences(of: "\\", with: "/"), usesOldSet ? "\"<>`{}^" : "\"<>`{}^|")
        return "https://h/\(inPath)?\(encoded(query, "\"<>'"))"
    }

    @Test("Each character of a path or query has a rule that matches what browsers send, or is reported")
    func everyCharacter() throws {
        for byte in UInt8(0x21)...0x7E where !"#".utf8.contains(byte) {
            let raw = String(UnicodeScalar(byte))
            let escape = String(format: "%%%02X", byte)
            // The forms in which a page writes the character, in the path or in the query.
            for (path, query) in [("a\(raw)z", "q"), ("a\(escape)z", "q"), ("a", "q=\(raw)z"), ("a", "q=\(escape)z")]
            where !path.contains("?") {
                for key in ["https://h/\(path)?\(query)", "https://h/a\(escape)z?q", "https://h/a?q=\(escape)z"] {
                    let text = "{ \"\(key.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined())\": \"a.css\" }"
                    let manifest = SubstitutionManifest(Data(text.utf8), name: "manifest.json")
                    guard let table = try? SubstitutionTable(manifest, folder: folder.url, reading: .copied) else {
                        continue
                    }
                    let ruleset = try ruleset(manifest)
                    let matchers = try ruleset.rules.map { try RuleMatcher($0.filter) }
                    for usesOldSet in [false, true] {
                        let url = Self.sent(path, query, usesOldSet: usesOldSet)
                        // A page may escape a character that needs no escape. No rule can foresee that.
                        let isNeedless = byte.isUnreserved && key != "https://h/\(path)?\(query)"
                        let isAnswered = (try? explanation(of: url, table))?.substitution != nil
                        let isMatched = try matchers.contains { try $0.matches(url) }
                        #expect(isMatched == isAnswered || isNeedless && !isMatched, "\(url) for \(text)")
                        let isOwn = key == "https://h/\(path)?\(query)"
                        #expect(isMatched || !isOwn || !ruleset.omissions.isEmpty, "\(url) for \(text) is lost")
                    }
                }
            }
        }
    }

    @Test(
        "A percent sign that begins no escape is matched as browsers send it",
        arguments: [
            ("?q=%25z%25", "?q=%z%", true), ("?q=%2541", "?q=%41", false), ("?q=%25a", "?q=%a", true),
            ("?q=%5Ca%5B%25", #"?q=\a[%"#, true),
        ]
    )
    func percent(key: String, sent: String, isMatched: Bool) throws {
        for (rule, more) in [("", ""), (#", "ignoreQuery": ["v"]"#, "&v=1")] {
            let rules = try ruleset(#"{ "https://h/a\#(key)": { "file": "a.css"\#(rule) } }"#).rules
            let url = "https://h/a\(sent)\(more)"
            #expect(try rules.contains { try RuleMatcher($0.filter).matches(url) } == isMatched)
        }
    }

    @Test("Rules answer only what the manifest answers, no two the same URL, and each row has one")
    func likeTheTable() throws {
        var numbers = Numbers(state: 1)
        var (manifests, questions, answers) = (0, 0, 0)
        while manifests < (Program.isLongRun ? 10_000 : 80) {
            let entries = (0..<Int.random(in: 1...6, using: &numbers)).map { _ in Self.entry(&numbers) }
            let text = "{\n\(entries.joined(separator: ",\n"))\n}"
            let manifest = SubstitutionManifest(Data(text.utf8), name: "manifest.json")
            // Two entries for one URL are an error.
            guard let table = try? SubstitutionTable(manifest, folder: folder.url, reading: .copied) else { continue }
            manifests += 1
            let ruleset = try ruleset(manifest)
            var single: [String: [Ruleset.Rule]] = [:]
            var open: [(RuleMatcher, Ruleset.Rule)] = []
            for rule in ruleset.rules {
                if rule.filter.isOpen || rule.filter.rest != nil {
                    open.append((try RuleMatcher(rule.filter), rule))
                } else {
                    single[rule.filter.start, default: []].append(rule)
                }
            }
            var urls = Set(ruleset.rules.map { $0.filter.start })
            for target in ruleset.substitutions.flatMap(\.pattern.targets) { urls.insert(target.identity.description) }
            // Test a random share of the URLs for each manifest, because the manifests are alike.
            let share = Program.isLongRun ? 3 : 8
            for start in urls.sorted() where Int.random(in: 0..<share, using: &numbers) == 0 {
                for url in Set(Self.nearMisses(of: start)).sorted() {
                    questions += 1
                    let rules = single[url, default: []] + (try open.filter { try $0.0.matches(url) }.map(\.1))
                    guard let rule = rules.first else { continue }
                    answers += 1
                    try #require(rules.count == 1, "\(url) has rules \(rules) in \(text)")
                    try #require(try RuleMatcher(rule.filter).matches(url))
                    let explanation = try explanation(of: url, table)
                    let substitution = ruleset.substitutions[rule.substitution]
                    try #require(explanation.answer == .cacheAndProtocol, "\(url): \(explanation) in \(text)")
                    try #require(
                        explanation.substitution?.path == substitution.path
                            && explanation.substitution?.line == substitution.line,
                        "\(url): \(explanation), and not \(substitution) in \(text)"
                    )
                }
            }
            try expectNothingForgotten(ruleset, table, text) { url in
                try single[url] != nil || open.contains { try $0.0.matches(url) }
            }
        }
        #expect(questions > 10 * manifests && answers > 3 * manifests, "\(questions) questions, \(answers) answers")
    }

    /// Brings a URL into normal form, and returns the table's explanation of that URL.
    ///
    /// As soon as `URL(string:)` must encode any character, it also encodes existing percent signs. The normal form
    /// avoids that.
    private func explanation(of url: String, _ table: SubstitutionTable) throws -> Explanation {
        table.explain(URLRequest(url: try #require(URL(string: URLIdentity(url).description))))
    }

    /// Expects a rule, or a reported omission, for the manifest's URLs that the table answers.
    ///
    /// Some URLs are not checked, for example the URLs of folders and the URLs that entries with `headers` answer.
    private func expectNothingForgotten(
        _ ruleset: Ruleset,
        _ table: SubstitutionTable,
        _ text: String,
        hasRule: (String) throws -> Bool
    ) throws {
        let positions = Set(ruleset.omissionCounts.keys.map { "\($0.line):\($0.column)" })
        for substitution in ruleset.substitutions where substitution.folderLength == nil {
            for target in substitution.pattern.targets {
                let url = target.identity.description
                let explanation = try explanation(of: url, table)
                guard explanation.answer == .cacheAndProtocol, let answer = explanation.substitution,
                    answer.entry.headers.isEmpty, try !hasRule(url),
                    // If an entry ignores parameters, only its URLs without a query are checked. A query could contain
                    // an ignored parameter, and the check would cover only one of the parameter's values.
                    substitution.entry.query == .exact || target.identity.query == nil
                else { continue }
                try #require(positions.contains("\(answer.line):\(answer.column)"), "\(url) in \(text)")
            }
        }
    }
}

/// Matches filters as browser engines do, and refuses filters that two engines might interpret differently.
///
/// A `urlFilter` begins with `|`, may end with `|`, and contains no other special character. A `regexFilter` uses only
/// the syntax that ``URLFilter`` documents.
private struct RuleMatcher {
    private static let syntax = #"^\^(?:[!-#%-',\-/->@-Z_-z~]|\\[^A-Za-z0-9]|\[!"\$%'-~\]\*)*(?:\$|\.\*)$"#

    private let expression: NSRegularExpression
    private let literal: (text: String, isOpen: Bool)?

    init(_ filter: URLFilter) throws {
        let text = filter.regularExpression
        try #require(text.range(of: Self.syntax, options: .regularExpression) != nil, "\(text)")
        expression = try NSRegularExpression(pattern: text)
        literal = filter.pattern.map { (text: $0.trimmingCharacters(in: ["|"]), isOpen: !$0.hasSuffix("|")) }
        guard let literal else { return }
        try #require(filter.pattern == "|\(literal.text)\(literal.isOpen ? "" : "|")")
        try #require(literal.text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"|*^".utf8.contains($0) })
    }

    func matches(_ url: String) throws -> Bool {
        let result = expression.firstMatch(in: url, range: NSRange(url.startIndex..., in: url)) != nil
        if let literal { try #require(result == (literal.isOpen ? url.hasPrefix(literal.text) : url == literal.text)) }
        return result
    }
}
