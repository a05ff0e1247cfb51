// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("A new entry has the style of its neighbours, and does not change them")
struct ManifestTextTests {
    /// A manifest in some layout, and the texts that are inserted into the manifest for new entries.
    struct Layout: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The manifest, with "¦" where entries are inserted.
        let manifest: String
        /// The text that is inserted for one entry.
        let one: String
        /// The text that is inserted for a second entry, after the text of the first entry.
        ///
        /// The second entry's value is an object.
        let other: String

        init(_ name: String, _ manifest: String, _ one: String, _ other: String) {
            (testDescription, self.manifest, self.one, self.other) = (name, manifest, one, other)
        }
    }

    private static let a = #""https://h/a.css": "h/a.css""#
    private static let b = #""https://h/b.txt": { "file": "h/b.txt", "type": "text/css" }"#
    private static let tightA = #""https://h/a.css":"h/a.css""#
    private static let tightB = #""https://h/b.txt":{"file":"h/b.txt","type":"text/css"}"#

    private static let layouts: [Layout] = [
        Layout("two spaces", "{\n  \"https://x/a\": \"x.txt\"¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        Layout("tabs", "{\n\t\"https://x/a\": \"x.txt\"¦\n}\n", ",\n\t\(a)", ",\n\t\(b)"),
        Layout("no indentation", "{\n\"https://x/a\": \"x.txt\"¦\n}\n", ",\n\(a)", ",\n\(b)"),
        Layout("CRLF", "{\r\n  \"https://x/a\": \"x.txt\"¦\r\n}\r\n", ",\r\n  \(a)", ",\r\n  \(b)"),
        Layout("CR", "{\r  \"https://x/a\": \"x.txt\"¦\r}\r", ",\r  \(a)", ",\r  \(b)"),
        Layout("one line", "{\"https://x/a\":\"x.txt\"¦}", ",\(tightA)", ",\(tightB)"),
        Layout("one line with spaces", "{ \"https://x/a\": \"x.txt\"¦ }\n", ", \(a)", ", \(b)"),
        Layout(
            "several on a line",
            "{\n  \"https://x/a\": \"x.txt\", \"https://x/b\": \"y.txt\"¦\n}\n",
            ", \(a)",
            ", \(b)"
        ),
        Layout("nothing", "{¦}", "\n  \(a)¦\n", ",\n  \(b)¦\n"),
        Layout("nothing, and a byte-order mark", "\u{FEFF}{¦}", "\n  \(a)¦\n", ",\n  \(b)¦\n"),
        Layout("nothing on two lines with CRLF", "{¦\r\n}\r\n", "\r\n  \(a)", ",\r\n  \(b)"),
        Layout(
            "comma first",
            "{ \"https://x/a\": \"x.txt\"\n, \"https://x/b\": \"y.txt\"¦\n}\n",
            "\n, \(a)",
            "\n, \(b)"
        ),
        Layout("a byte-order mark", "\u{FEFF}{\n  \"https://x/a\": \"x.txt\"¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        Layout(
            "empty lines between groups, with CRLF and tabs",
            "{\r\n\t\"https://x/a\": \"x.txt\",\r\n\t\r\n\t\"https://x/b\": \"y.txt\"¦\r\n}\r\n",
            ",\r\n\t\(a)",
            ",\r\n\t\(b)"
        ),
        Layout(
            "space before comma and colon",
            "{\n  \"https://x/a\" : \"x.txt\" ,\n  \"https://x/b\" : \"y.txt\"¦ \n}\n",
            " ,\n  \"https://h/a.css\" : \"h/a.css\"",
            " ,\n  \"https://h/b.txt\" : { \"file\": \"h/b.txt\", \"type\": \"text/css\" }"
        ),
        Layout(
            "indentation that changes",
            "{\n  \"https://x/a\": \"x.txt\",\n      \"https://x/b\": \"y.txt\"¦\n  }\n",
            ",\n      \(a)",
            ",\n      \(b)"
        ),
        Layout("the schema alone", "{\n  \"$schema\": \"./manifest.schema.json\"¦\n}\n", ",\n  \(a)", ",\n  \(b)"),
        Layout(
            "an object over several lines",
            "{\n  \"https://x/a\": {\n    \"file\": \"x.txt\",\n    \"ignoreQuery\": true\n  }¦\n}\n",
            ",\n  \(a)",
            ",\n  \(b)"
        ),
        Layout(
            "escapes, and brackets in texts",
            #"{ "https:\/\/x\/\u0041{\"": "\u0078.txt", "https://x/}{": "q\"},{.txt"¦ }"#,
            ", \(a)",
            ", \(b)"
        ),
    ]

    private static let recordings = [
        HAR.text(HAREntry(url: "https://h/a.css")),
        HAR.text(HAREntry(url: "https://h/a.css"), HAREntry(url: "https://h/b.txt")),
    ]

    private static func site(_ manifest: String) throws -> SiteFolder {
        let site = try SiteFolder(manifest)
        for file in ["x.txt", "y.txt", #"q"},{.txt"#, "f/z.txt", "s.json"] { try site.folder.write("x\n", to: file) }
        return site
    }

    @Test("One or two entries are inserted in every layout", arguments: layouts)
    func inserted(layout: Layout) async throws {
        let parts = layout.manifest.components(separatedBy: "¦")
        try #require(parts.count == 2)
        var single: SiteFolder?
        for (recording, texts) in zip(Self.recordings, [[layout.one], [layout.one, layout.other]]) {
            let site = try Self.site(parts.joined())
            let result = try await site.take(recording)
            #expect(result.status == 0, "\(result.errors)")
            // Each of `texts` may have an ending, which begins after a "¦". The ending is expected only after the last
            // entry.
            let halves = texts.map { $0.components(separatedBy: "¦") }
            let inserted = halves.map { $0[0] }.joined() + (halves.last?.dropFirst().first ?? "")
            let expected = Data((parts[0] + inserted + parts[1]).utf8)
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

    @Test("The first entry replaces the space in an empty manifest", arguments: ["{\t}\n", "\n{   }"])
    func emptySpace(manifest: String) async throws {
        let site = try Self.site(manifest)
        _ = try await site.take(Self.recordings[0])
        let outside = manifest.components(separatedBy: CharacterSet(charactersIn: "{}"))
        #expect(site.manifest == outside[0] + "{\n  \(Self.a)\n}" + outside[2])
    }

    @Test("A run that has nothing to add does not write the manifest")
    func untouched() async throws {
        let site = try Self.site("{ }")
        let manifest = site.url.appendingPathComponent("manifest.json").path
        let before = try FileManager.default.attributesOfItem(atPath: manifest)[.systemFileNumber] as? Int
        let result = try await site.take(HAR.text(HAREntry(status: "404")))
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
        let mode = try FileManager.default.attributesOfItem(atPath: manifest.path)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        try FileManager.default.moveItem(at: manifest, to: site.url.appendingPathComponent("real.json"))
        try FileManager.default.createSymbolicLink(atPath: manifest.path, withDestinationPath: "real.json")
        _ = try await site.take(Self.recordings[1])
        #expect(try site.listing["manifest.json@"] == Data("real.json".utf8))
        #expect(site.manifest == "{\n  \(Self.a),\n  \(Self.b)\n}")
    }
}
#endif
