import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

/// Compares matching by decoded file names with a model that scans every entry.
@Suite("Spellings of files in folders")
struct DecodedOrderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A candidate, and the values that a request must match.
    private struct Known {
        let base: String
        let candidate: MatchOrder.Candidate
        /// The URL of the folder, and the decoded URL of the file; nil for an explicit entry.
        let decoded: (folder: String, whole: String)?

        init(_ candidate: MatchOrder.Candidate, _ substitutions: [Substitution]) {
            let identity = candidate.target.identity
            (base, self.candidate) = (identity.base, candidate)
            decoded = substitutions[candidate.substitution].folderLength.map { length in
                let end = identity.base.utf8.count - identity.path.utf8.count + length
                return (String(decoding: identity.base.utf8.prefix(end), as: UTF8.self), identity.decodedBase)
            }
        }

        func matches(query: String?) -> Bool {
            candidate.rule.matches(query, key: candidate.target.identity.query)
        }
    }

    /// Returns the first candidate that answers by the documented rules.
    ///
    /// An exact spelling wins. Otherwise a folder's file answers if two conditions hold: the request spells the
    /// folder's URL exactly, and the rest of the URL is equal after decoding.
    private static func model(_ known: [Known], _ identity: URLIdentity) -> Int? {
        if let index = known.firstIndex(where: { $0.base == identity.base && $0.matches(query: identity.query) }) {
            return index
        }
        let decodedBase = identity.decodedBase
        return known.firstIndex { known in
            guard let (folder, whole) = known.decoded else { return false }
            return identity.base.hasPrefix(folder) && whole == decodedBase && known.matches(query: identity.query)
        }
    }

    /// Percent-encodes a random selection of the text's `isOftenEncoded` characters.
    ///
    /// Characters outside ASCII are percent-encoded in NFC or in NFD.
    private static func spelled(_ text: String, _ numbers: inout Numbers) -> String {
        text.map { character in
            if !character.isASCII {
                let text = String(character)
                let form =
                    Bool.random(using: &numbers)
                    ? text.precomposedStringWithCanonicalMapping : text.decomposedStringWithCanonicalMapping
                return form.utf8.map { String(format: "%%%02X", $0) }.joined()
            }
            guard let byte = character.asciiValue, byte.isOftenEncoded, Bool.random(using: &numbers) else {
                return String(character)
            }
            return "%" + String(byte, radix: 16, uppercase: Bool.random(using: &numbers))
        }.joined()
    }

    private static let requests = Program.isLongRun ? 10_000 : 200

    @Test(
        "Matching in random tables finds the same candidate as a scan of all candidates",
        arguments: 0..<(Program.isLongRun ? 40 : 15)
    )
    func random(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        let names = ["x@y", "a!b", "plain", "index.html", "d!d/x@y", "d!d/e@e/a!b", "d@d/index.html", "é/ê!n"]
        for name in names { try folder.write(name, to: "f/\(name)") }
        for name in ["x@y", "e@e/a!b", "index.html", "e\u{301}"] { try folder.write(name, to: "g/\(name)") }
        let roots = ["", "s!s/", "s!s/d!d/", "s!s/d!d/e@e/", "s@s/", "d!d/", "é/", "é/é/"]
        let queries = ["false", "true", #"["v"]"#, #"["v", "w*"]"#]
        let schemes = ["https:", "http:", ""]
        var entries: [String: String] = [:]
        for _ in 0..<Int.random(in: 1...30, using: &numbers) {
            let root = Self.spelled(roots.randomElement(using: &numbers) ?? "", &numbers)
            let port = ["", ":443", ":80"].randomElement(using: &numbers) ?? ""
            let url = "\(schemes.randomElement(using: &numbers) ?? "")//h\(port)/\(root)"
            let rule = "\"ignoreQuery\": \(queries.randomElement(using: &numbers) ?? "")"
            if Int.random(in: 0..<4, using: &numbers) > 0 {
                let file = ["f/", "g/", "f/d!d/"].randomElement(using: &numbers) ?? ""
                entries[url] = "{ \"file\": \"\(file)\", \(rule) }"
            } else {
                let name = Self.spelled(names.randomElement(using: &numbers) ?? "", &numbers)
                entries[url + name] = "{ \"file\": \"f/plain\", \(rule) }"
            }
        }
        // Two keys may be the same URL. Keep the first key.
        var keys: Set<String> = []
        let manifest = entries.sorted { $0.key < $1.key }.filter { key, _ in
            keys.insert((try? URLPattern(key).identityKey) ?? "").inserted
        }.map { "\"\($0)\": \($1)" }
        let text = "{" + manifest.joined(separator: ", ") + "}"
        let substitutions = try SubstitutionManifest(Data(text.utf8), name: "m").resolved(in: folder.url).substitutions
        let order = MatchOrder(substitutions)
        let known = order.candidates.map { Known($0, substitutions) }
        for _ in 0..<Self.requests {
            let path = (roots.randomElement(using: &numbers) ?? "") + (names.randomElement(using: &numbers) ?? "")
            let query = ["", "", "?v=1", "?w1=2", "?z", "?z&v=1"].randomElement(using: &numbers) ?? ""
            let scheme = ["https", "http"].randomElement(using: &numbers) ?? ""
            let identity = try URLIdentity("\(scheme)://h/\(Self.spelled(path, &numbers))\(query)")
            let expected = Self.model(known, identity)
            #expect(order.first(matching: identity) == expected, "\(identity) in \(text)")
        }
    }

    @Test(
        "A file's name outside ASCII is found in NFC and in NFD, whatever the disk has",
        arguments: ["é.css", "e\u{301}.css", "か\u{3099}/각.css", "a!\u{F1}.css"],
        ["NFC", "NFD"]
    )
    func composition(name: String, form: String) throws {
        try folder.write("x", to: "f/\(name)")
        let manifest = SubstitutionManifest(
            Data(#"{ "https://h/é/": "f/", "https://h/é": "f/\#(name)" }"#.utf8),
            name: "m"
        )
        let substitutions = try manifest.resolved(in: folder.url).substitutions
        let order = MatchOrder(substitutions)
        func escaped(_ text: String) -> String {
            let text =
                form == "NFC" ? text.precomposedStringWithCanonicalMapping : text.decomposedStringWithCanonicalMapping
            return text.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : String(format: "%%%02x", $0) }.joined()
        }
        let index = order.first(matching: try URLIdentity("https://h/%C3%A9/\(escaped(name))"))
        #expect(index.map { substitutions[order.candidates[$0].substitution].path } == "f/\(name)")
        // Explicit entries and the folder's own URL are compared as RFC 3986 defines.
        #expect((order.first(matching: try URLIdentity("https://h/\(escaped("é"))")) != nil) == (form == "NFC"))
        #expect(
            (order.first(matching: try URLIdentity("https://h/\(escaped("é"))/\(escaped(name))")) != nil)
                == (form == "NFC")
        )
        #expect(order.first(matching: try URLIdentity("https://h/%C3%A9/\(escaped(name))%CC%81")) == nil)
    }

    @Test("Thousands of folders whose URLs are equal once decoded each answer under their own URL only")
    func oneDecodedForm() throws {
        try folder.write("text", to: "d/a!b.txt")
        let characters = Array("!$&'()*+,;=:@".suffix(Program.isLongRun ? 13 : 11))
        let count = 1 << characters.count
        func root(_ number: Int) -> String {
            characters.enumerated().map { index, character in
                let code = String(character.asciiValue ?? 0, radix: 16, uppercase: true)
                return number >> index & 1 == 1 ? "%\(code)" : String(character)
            }.joined()
        }
        let keys = (0..<count).map { "\"https://h/\(root($0))/\": \"d/\"" }
        let manifest = SubstitutionManifest(Data("{\(keys.joined(separator: ","))}".utf8), name: "m")
        let substitutions = try manifest.resolved(in: folder.url).substitutions
        let order = MatchOrder(substitutions)
        // If each lookup were linear in the number of folders, this would take minutes.
        for number in 0..<count {
            let url = "https://h/\(root(number))/a%21b.txt"
            let index = try #require(order.first(matching: URLIdentity(url)))
            #expect(substitutions[order.candidates[index].substitution].url == "https://h/\(root(number))/a!b.txt")
        }
        #expect(try order.first(matching: URLIdentity("https://h/\(root(0)).x/a%21b.txt")) == nil)
        #expect(try order.first(matching: URLIdentity("https://h/\(root(0))/a%21b.txt?x")) == nil)
    }
}
