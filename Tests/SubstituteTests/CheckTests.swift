// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("substitute check", .serialized)
struct CheckTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Compares one checked-in file with the tool's output for all invalid manifests.
    ///
    /// To update the file, run the tests with `UPDATE_GOLDEN_FILES=1`, and review the difference before you keep it.
    @Test("Every invalid manifest gives the expected output, as text and as JSON", arguments: ["txt", "jsonl"])
    func golden(format: String) async throws {
        let invalid = Tool.fixtures.appendingPathComponent("Invalid")
        let names = try FileManager.default.contentsOfDirectory(atPath: invalid.path).filter { $0.hasSuffix(".json") }
        var text = ""
        for name in names.sorted() {
            let own = invalid.appendingPathComponent(String(name.dropLast(5)))
            let isThere = FileManager.default.fileExists(atPath: own.path)
            let folder = isThere ? own : Tool.fixtures.appendingPathComponent("Files")
            let words = ["check", "-", "--format", format == "jsonl" ? "json" : "text"]
            let input = try Data(contentsOf: invalid.appendingPathComponent(name))
            let result = await Tool.run(words, input: input, in: folder)
            #expect(result.status == (name.hasPrefix("warning-") ? 0 : 1) && result.errors == "", "\(name): \(result)")
            for line in result.output.split(separator: "\n") where format == "jsonl" {
                _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
            }
            text += "==> \(name)\n\(result.output)"
        }
        try Repository.compare(text, withFixture: "SubstituteTests/Fixtures/check.\(format)")
    }

    @Test("The exit status is 0 without errors, 1 with errors, and 2 for wrong use")
    func status() async throws {
        for name in ["a.txt", "unused.txt"] { try folder.write("x", to: name) }
        try folder.write(#"{ "https://h/a": "a.txt" }"#, to: "warning.json")
        try folder.write(#"{ "https://h/a": "b.txt" }"#, to: "error.json")
        let rows: [(String, Int32)] = [
            ("check warning.json", 0), ("check --strict warning.json", 1), ("check warning.json error.json", 1),
            ("check none.json", 1), ("check --format json error.json", 1), ("check -- --strict", 1), ("check -x", 2),
            ("check --strict=yes", 2), ("check --format", 2), ("", 2), ("check --format xml warning.json", 2),
            ("--help", 0), ("check -h", 0), ("help check", 0), ("help chekc", 2), ("--version", 0), ("--verson", 2),
            ("check --max-total 1B warning.json", 0), ("check --max-total=0 warning.json", 1), ("completions tcsh", 2),
        ]
        for (line, status) in rows {
            let result = await Tool.run(line.split(separator: " ").map(String.init), in: folder.url)
            #expect(result.status == status, "\(line)")
            #expect(
                [result.errors.isEmpty, !result.output.isEmpty] == [status != 2, status != 2],
                "\(line): \(result)"
            )
        }
    }

    @Test("No text in a manifest or a file name can control a terminal")
    func controls() async throws {
        try folder.write("x", to: "\u{1B}[31m\u{202E}.txt")
        try folder.write(
            "{ \"https://h/\": \"\u{9B}2J\u{2066}\u{200B}\u{E0041}.txt\", \"https://h/b\": \"\\u001b]0;x\" }",
            to: "manifest.json"
        )
        for arguments in [["check"], ["check", "--format", "json"], ["preview", "manifest.json"]] {
            let raw = await Tool.run(arguments, in: folder.url).output.unicodeScalars.filter { scalar in
                scalar != "\n" && (scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value))
                    || scalar.value > 0x7F && scalar.properties.generalCategory == .format
            }
            #expect(raw.isEmpty, "\(arguments)")
        }
    }

    private static let hasTerminal = Platform.isLinux && (Program.find("script") != nil || Program.isEverythingRequired)

    @Test("Output has no colour in a pipe or with NO_COLOR", .enabled(if: Self.hasTerminal, "needs script(1)"))
    func colour() async throws {
        try folder.write("[]", to: "manifest.json")
        #expect(await !Tool.run(["check"], in: folder.url).output.contains("\u{1B}"))
        let script = try #require(Program.find("script"))
        let command = ["-qec", "\(Tool.url.path) check", "/dev/null"]
        for (terminal, noColour) in [("xterm", ""), ("xterm", "1"), ("dumb", "")] {
            let environment = ["TERM": terminal, "NO_COLOR": noColour]
            let output = try await Program.run(script, command, in: folder.url, environment: environment).output
            let isColoured = terminal == "xterm" && noColour.isEmpty
            #expect(output.contains(isColoured ? "\u{1B}[31merror:" : "\u{1B}") == isColoured, "\(environment)")
        }
    }

    @Test(
        "A file that may not be read is an error",
        .enabled(if: getuid() != 0 || Program.find("setpriv") != nil, "the superuser may read every file")
    )
    func unreadable() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{ \"https://h/a\": \"a.txt\" }", to: "manifest.json")
        try folder.write("x", to: "a.txt")
        #expect(chmod(folder.url.appendingPathComponent("a.txt").path, 0) == 0)
        let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.url.path, "check"]
        let result =
            try await getuid() == 0
            ? Program.run(#require(Program.find("setpriv")), asNobody, in: folder.url)
            : Tool.run(["check"], in: folder.url)
        #expect(result.output.hasPrefix("manifest.json:1:18: error: \"a.txt\" cannot be read: Permission denied\n"))
        #expect(result.status == 1)
    }

    @Test("Valid content that looks like another format, and content that is not examined, causes no warning")
    func rightContents() async throws {
        let page =
            "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body/></html>"
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"
        let texts = [
            "cars.txt": "BMW cars", "true.json": "true", "true.js": "true && f()", "tags.txt": "ID3 tags are",
            "gif.txt": "GIF89a is a format", "box.txt": "the ftyp box", "moov.txt": "The moov atom", "note.txt": "MZ",
            "headers.xml": "<headers><a/></headers>", "body.rss": "<bodytext/>", "header.txt": "<header>foo</header>",
            "page.xhtml": page, "page.xml": page, "relative.xml": "<d xmlns=\"uri\"/>",
            "old.xml": "<?xml version=\"1.1\"?><a/>", "map.map": ")]}'\n{\"version\":3}",
            "nested.css": "a { &:b { c: d } @media (e) { f: g } }\n@page:first { h: i }",
            "cdo.css": "<!-- a { b: c } -->", "file.css": "a::after { content: \"see file:///a\" }",
            "url.css": "@import url(//i/a.css); a { b: url(data:image/png;base64,//8=); c: \"$d: e; // f\" }",
            "quotes.css": "a { quotes: \"\u{201C}\" \"\u{201D}\" } /* \u{2019} } */ b::after { content: '}' }",
            "films.vtt": "\u{FEFF}WEBVTT - films\n", "less.js": "1 < 2",
            "model.js": "{ \"metadata\": { \"version\": 3 } }",
            "git.md": "<<<<<<< a\n=======\n>>>>>>> b\n", "rule.txt": "Title\n=======\n",
            "vue.txt": "<script>a</script>", "eof.txt": "text\u{1A}",
            "long.svg": "<!--\(String(repeating: "licence ", count: 1000))-->\(svg)",
            "prefix.svg": "<x:svg xmlns:x=\"http://www.w3.org/2000/svg\"/>", "doctype.svg": "<!DOCTYPE svg>\(svg)",
        ]
        let declared = "<!DOCTYPE a [<!ELEMENT a EMPTY><!ATTLIST a b CDATA #REQUIRED>]><a b=\"1\"/>"
        let contents: [String: Data] = [
            "declared.xml": Data(declared.utf8), "wide.xml": try #require(declared.data(using: .utf16)),
            "bare.xml": Data("<a><?go?></a>".utf8), "deep.xml": Data(String(repeating: "<a>", count: 100_000).utf8),
            "hidden.xml": Data("<?xml version='1.0' encoding='UTF-7'?><a>+ADw-</a>".utf8),
            "broken.xml": Data("<a>".utf8) + [0xFF, 0xFE, 0x3C, 0x62, 0xC3, 0x3E],
            "laughs.svg": Data("<!DOCTYPE svg [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><svg>&b;</svg>".utf8),
            "wide.svg": try #require(svg.data(using: .utf16)), "big.wav": Data("RIFX\0\0\0\0WAVEfmt ".utf8),
            "old.mov": Data("\0\0\0\u{8}wide\0\0\0\u{8}mdat".utf8), "tagged.flac": Data("ID3\u{4}\0fLaC".utf8),
            "part.mp4": Data("\0\0\0\u{8}moof\0\0\0\u{8}mdat".utf8), "big.tiff": Data([0x49, 0x49, 0x2B, 0, 8, 0]),
            "hotspot.bmp": Data("BM".utf8) + [62, 0, 0, 0, 3, 0, 5, 0, 54, 0, 0, 0, 40, 0, 0, 0],
            "trailing.jpg": Data([0xFF, 0xD8, 0xFF, 0xDA, 1, 0xFF, 0xD9, 0, 0]), "padded.mp3": Data(count: 100),
            "unpacks.zip": Data("MZ\u{90}\0program".utf8),
        ]
        for (name, text) in texts { try folder.write(text, to: name) }
        for (name, data) in contents { try folder.write(data, to: name) }
        try folder.write("{ \"https://h/\": \"./\" }", to: "manifest.json")
        let result = await Tool.run(["check"], in: folder.url)
        #expect(result.output.hasSuffix("no errors, no warnings\n"), "\(result.output)")
    }

    @Test("All of many issues of one line are printed, and a closed pipe ends the tool quietly")
    func manyIssues() async throws {
        let count = Program.isLongRun ? 5000 : 1000
        let entries = (0..<count).map { "\"https://h/\($0)\": \"missing\"" }
        try folder.write("{" + entries.joined(separator: ",") + "}", to: "manifest.json")
        #expect(await Tool.run(["check"], in: folder.url).output.split(separator: "\n").count == 3 * count + 1)
        let result = try await Program.run("/bin/sh", ["-c", "\"\(Tool.url.path)\" check | head -n 1"], in: folder.url)
        #expect(result.errors == "" && result.output.split(separator: "\n").count == 1, "\(result)")
    }

    private static let hasFullDisk = FileManager.default.fileExists(atPath: "/dev/full")

    @Test("Output that cannot be written is an error", .enabled(if: Self.hasFullDisk, "needs /dev/full"))
    func fullDisk() async throws {
        let result = try await Program.run("/bin/sh", ["-c", "\"\(Tool.url.path)\" --help > /dev/full"])
        #expect(result.status == 1)
        #expect(result.errors == "substitute: the output cannot be written: No space left on device\n")
    }

    // MARK: - check --fix

    /// The manifests of the mistakes that designers make.
    private static func manifests() throws -> [String] {
        let names = ["MoreMistakes", "Mistakes", "FreshMistakes", "StrangersMistakes"]
        return try names.prefix(Program.isLongRun ? 4 : 2).flatMap { name in
            let file = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/\(name).md")
            return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n```json\n").dropFirst()
                .map { $0.components(separatedBy: "\n```")[0] }
        }
    }

    /// Returns the text of a file; nil if there is none.
    private func text(_ name: String) -> String? {
        try? String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("What was repaired has no such error any more, and what was not repaired keeps each byte")
    func repaired() async throws {
        for name in ["img/logo.png", "img/header.png", "icons/ferry.svg", "css/site.css"] {
            try folder.write("x", to: name)
        }
        var fixed = 0
        for manifest in try Self.manifests() {
            try folder.write(manifest, to: "manifest.json")
            let result = await Tool.run(["check", "--fix", "--format", "json"], in: folder.url)
            let after = text("manifest.json")
            guard let kept = text(".manifest.json.old") else {
                #expect(after == manifest)
                continue
            }
            fixed += 1
            #expect(kept == manifest && after != manifest)
            #expect(!result.output.contains("\"code\":\"syntax\""), "\(manifest)\n\(result.output)")
            let again = await Tool.run(["check", "--fix"], in: folder.url)
            #expect(again.status == result.status && text("manifest.json") == after)
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent(".manifest.json.old"))
        }
        #expect(fixed > 10)
    }

    @Test("Each repair is a line; the old text is kept, and the status is that of the repaired manifest")
    func lines() async throws {
        try folder.write("x", to: "img/logo.css")
        let manifest = "{\n  // The logo.\n  'https://example.com/a.css': \"img/Logo.css\",\n}\n"
        try folder.write(manifest, to: "manifest.json")
        let result = await Tool.run(["check", "--fix"], in: folder.url)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(text("manifest.json") == "{\n  \"https://example.com/a.css\": \"img/logo.css\"\n}\n")
        #expect(result.output.contains("manifest.json:2:32: fixed: \"img/Logo.css\" → \"img/logo.css\""))
        #expect(result.output.components(separatedBy: " fixed: ").count == 5, "\(result.output)")
        #expect(text(".manifest.json.old") == manifest)
        #expect(await Tool.run(["check", "--fix", "-"], input: Data("{}".utf8)).status == 2)
    }
}
#endif
