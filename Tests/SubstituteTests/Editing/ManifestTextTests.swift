// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("A new entry has the style of its neighbours, and does not change them")
struct ManifestTextTests {
    private static let a = #""https://h/a.css": "h/a.css""#
    private static let b = #""https://h/b.txt": { "file": "h/b.txt", "type": "text/css" }"#
    private static let (x, y) = (#""https://x/a": "x.txt""#, #""https://x/b": "y.txt""#)

    /// Manifests with "¦" where entries are inserted, and the texts inserted for one entry, and for a second one.
    private static let layouts: [(manifest: String, one: String, other: String)] = [
        ("{\n  \(x)¦\n}\n", ",\n  \(a)", ",\n  \(b)"), ("{\n\t\(x)¦\n}\n", ",\n\t\(a)", ",\n\t\(b)"),
        ("{\n\(x)¦\n}\n", ",\n\(a)", ",\n\(b)"), ("{\r\n  \(x)¦\r\n}\r\n", ",\r\n  \(a)", ",\r\n  \(b)"),
        ("{\r  \(x)¦\r}\r", ",\r  \(a)", ",\r  \(b)"), ("{ \(x)¦ }\n", ", \(a)", ", \(b)"),
        (
            #"{"https://x/a":"x.txt"¦}"#,
            #","https://h/a.css":"h/a.css""#,
            #","https://h/b.txt":{"file":"h/b.txt","type":"text/css"}"#
        ),
        ("{\n  \(x), \(y)¦\n}\n", ", \(a)", ", \(b)"), ("{ \(x)\n, \(y)¦\n}\n", "\n, \(a)", "\n, \(b)"),
        // Nothing, or space, which the first entry replaces.
        ("{¦\t¦}\n", "\n  \(a)¦\n", ",\n  \(b)¦\n"), ("\n{¦   ¦}", "\n  \(a)¦\n", ",\n  \(b)¦\n"),
        ("{¦}", "\n  \(a)¦\n", ",\n  \(b)¦\n"), ("\u{FEFF}{¦}", "\n  \(a)¦\n", ",\n  \(b)¦\n"),
        ("{¦\r\n}\r\n", "\r\n  \(a)", ",\r\n  \(b)"),
        ("\u{FEFF}{\n  \(x)¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        // Empty lines between groups, with CRLF and tabs.
        ("{\r\n\t\(x),\r\n\t\r\n\t\(y)¦\r\n}\r\n", ",\r\n\t\(a)", ",\r\n\t\(b)"),
        (
            "{\n  \"https://x/a\" : \"x.txt\" ,\n  \"https://x/b\" : \"y.txt\"¦ \n}\n",
            " ,\n  \"https://h/a.css\" : \"h/a.css\"",
            " ,\n  \"https://h/b.txt\" : { \"file\": \"h/b.txt\", \"type\": \"text/css\" }"
        ),
        ("{\n  \(x),\n      \(y)¦\n  }\n", ",\n      \(a)", ",\n      \(b)"),
        ("{\n  \"$schema\": \"./manifest.schema.json\"¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        // An object over several lines.
        ("{\n  \"https://x/a\": {\n    \"file\": \"x.txt\"\n  }¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        (#"{ "https:\/\/x\/\u0041{\"": "\u0078.txt", "https://x/}{": "q\"},{.txt"¦ }"#, ", \(a)", ", \(b)"),
    ]

    private static let recordings = [
        HAR.text(HAREntry(url: "https://h/a.css")),
        HAR.text(HAREntry(url: "https://h/a.css"), HAREntry(url: "https://h/b.txt")),
    ]

    private static func site(_ manifest: String) throws -> SiteFolder {
        let site = try SiteFolder(manifest)
        for file in ["x.txt", "y.txt", #"q"},{.txt"#] { try site.folder.write("x\n", to: file) }
        return site
    }

    @Test("One or two entries are inserted in every layout", arguments: layouts)
    func inserted(manifest: String, one: String, other: String) async throws {
        let parts = manifest.components(separatedBy: "¦")
        var single: SiteFolder?
        for (recording, texts) in zip(Self.recordings, [[one], [one, other]]) {
            let site = try Self.site(parts.joined())
            let result = try await site.take(recording)
            #expect(result.status == 0, "\(result.errors)")
            // Each of `texts` may have an ending, which begins after a "¦". The ending is expected only after the last
            // entry.
            let halves = texts.map { $0.components(separatedBy: "¦") }
            let inserted = halves.map { $0[0] }.joined() + (halves.last?.dropFirst().first ?? "")
            let expected = Data((parts[0] + inserted + parts[parts.count - 1]).utf8)
            #expect(site.bytes("manifest.json") == expected, "\(site.manifest)")
            #expect(try await site.check().status == 0)
            // Entries that are added one by one look like entries that are added together.
            if let single {
                _ = try await single.take(recording)
                #expect(single.bytes("manifest.json") == expected, "\(single.manifest)")
            }
            single = site
        }
    }

    @Test("A run that has nothing to add does not write the manifest")
    func untouched() async throws {
        let site = try Self.site("{ }")
        let manifest = site.url.appendingPathComponent("manifest.json").path
        let before = try FileManager.default.attributesOfItem(atPath: manifest)[.systemFileNumber] as? Int
        let result = try await site.take([HAREntry(status: "404")])
        #expect(result.output.hasSuffix("0 entries with 0 bytes, 1 left out\n"))
        #expect(try FileManager.default.attributesOfItem(atPath: manifest)[.systemFileNumber] as? Int == before)
        #expect(site.manifest == "{ }")
    }

    @Test("A manifest keeps its permissions, and stays a symbolic link if it is one")
    func kept() async throws {
        let site = try Self.site("{}")
        let manifest = site.url.appendingPathComponent("manifest.json")
        #expect(chmod(manifest.path, 0o640) == 0)
        _ = try await site.take(Self.recordings[0])
        #expect(try FileManager.default.attributesOfItem(atPath: manifest.path)[.posixPermissions] as? Int == 0o640)
        try FileManager.default.moveItem(at: manifest, to: site.url.appendingPathComponent("real.json"))
        try FileManager.default.createSymbolicLink(atPath: manifest.path, withDestinationPath: "real.json")
        _ = try await site.take(Self.recordings[1])
        #expect(try site.listing["manifest.json@"] == Data("real.json".utf8))
        #expect(site.manifest == "{\n  \(Self.a),\n  \(Self.b)\n}")
    }
}
#endif
