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
        let resolved = try SubstitutionManifest(Data(text.utf8), name: "m").resolved(in: folder.url)
        let order = SubstitutionTable(resolved, try resolved.contents(.copied)).order
        let known = order.candidates.map { Known($0, resolved.substitutions) }
        for _ in 0..<Self.requests {
            let path = (roots.randomElement(using: &numbers) ?? "") + (names.randomElement(using: &numbers) ?? "")
            let query = ["", "", "?v=1", "?w1=2", "?z", "?z&v=1"].randomElement(using: &numbers) ?? ""
            let scheme = ["https", "http"].randomElement(using: &numbers) ?? ""
            let port = scheme == "https" ? 443 : 80
            let start = ["h/", "h/", "H/", "h:\(port)/", "h/x/../", "h/./"].randomElement(using: &numbers) ?? ""
            let spelling = "\(scheme)://\(start)\(Self.spelled(path, &numbers))\(query)"
            let (identity, url) = (try URLIdentity(spelling), try #require(URL(string: spelling)))
            let expected = Self.model(known, identity)
            #expect(order.first(matching: identity) == expected, "\(identity) in \(text)")
            #expect(order.first(matching: url.absoluteString)?.index == expected, "\(url) in \(text)")
        }
    }
}
