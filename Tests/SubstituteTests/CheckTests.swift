// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit

@Suite("substitute check", .serialized)
struct CheckTests {
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
            let result = try await Tool.run(
                ["check", "-"] + (format == "jsonl" ? ["--format", "json"] : []),
                input: Data(contentsOf: invalid.appendingPathComponent(name)),
                in: folder
            )
            #expect(result.status == (name.hasPrefix("warning-") ? 0 : 1), "\(name)")
            #expect(result.errors == "")
            if format == "jsonl" { try expectJSON(result.output) }
            text += "==> \(name)\n\(result.output)"
        }
        let golden = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/check.\(format)")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil { try Data(text.utf8).write(to: golden) }
        #expect(try text == String(contentsOf: golden, encoding: .utf8))
    }

    private func expectJSON(_ output: String) throws {
        for line in output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(Set(object?.keys ?? [:].keys) == ["file", "line", "column", "severity", "code", "message"])
        }
    }

    @Test("The exit status is 0 without errors, 1 with errors, and 2 for wrong use")
    func status() async throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "a.txt")
        try folder.write("x", to: "unused.txt")
        try folder.write(#"{ "https://h/a": "a.txt" }"#, to: "warning.json")
        try folder.write(#"{ "https://h/a": "b.txt" }"#, to: "error.json")
        let rows: [([String], Int32)] = [
            (["check", "warning.json"], 0), (["check", "--strict", "warning.json"], 1),
            (["check", "warning.json", "error.json"], 1), (["check", "none.json"], 1),
            (["check", "--format", "json", "error.json"], 1), (["check", "--", "--strict"], 1), (["check", "-x"], 2),
            (["check", "--strict=yes"], 2), (["check", "--format"], 2), ([], 2),
            (["check", "--format", "xml", "warning.json"], 2), (["--help"], 0), (["check", "-h"], 0),
            (["help", "check"], 0), (["help", "chekc"], 2), (["--version"], 0), (["--verson"], 2),
            (["check", "--max-total", "1B", "warning.json"], 0),
            (["check", "--max-total=0", "warning.json"], 1), (["completions", "tcsh"], 2),
        ]
        for (arguments, status) in rows {
            let result = await Tool.run(arguments, in: folder.url)
            #expect(result.status == status, "\(arguments)")
            #expect(result.errors.isEmpty == (status != 2), "\(arguments): \(result.errors)")
            #expect(result.output.isEmpty == (status == 2), "\(arguments)")
        }
    }

    @Test("No text in a manifest or a file name can control a terminal")
    func controls() async throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "\u{1B}[31m\u{202E}.txt")
        try folder.write(
            "{ \"https://h/\": \"\u{9B}2J\u{2066}\u{200B}\u{E0041}.txt\", \"https://h/b\": \"\\u001b]0;x\" }",
            to: "manifest.json"
        )
        for arguments in [["check"], ["check", "--format", "json"], ["preview", "manifest.json"]] {
            let output = await Tool.run(arguments, in: folder.url).output
            let raw = output.unicodeScalars.filter { scalar in
                scalar != "\n" && (scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value))
                    || scalar.value > 0x7F && scalar.properties.generalCategory == .format
            }
            #expect(raw.isEmpty, "\(arguments)")
        }
    }

    @Test(
        "Output has no colour in a pipe, or in a terminal with NO_COLOR",
        .enabled(
            if: Platform.isLinux && (Program.find("script") != nil || Program.isEverythingRequired),
            "needs the script(1) of util-linux"
        )
    )
    func colour() async throws {
        let folder = try TemporaryFolder()
        try folder.write("[]", to: "manifest.json")
        #expect(await !Tool.run(["check"], in: folder.url).output.contains("\u{1B}"))
        let script = try #require(Program.find("script"))
        func terminal(_ environment: [String: String]) async throws -> String {
            let command = ["-qec", "\(Tool.url.path) check", "/dev/null"]
            return try await Program.run(script, command, in: folder.url, environment: environment).output
        }
        #expect(try await terminal(["TERM": "xterm", "NO_COLOR": ""]).contains("\u{1B}[31merror:"))
        #expect(try await !terminal(["TERM": "xterm", "NO_COLOR": "1"]).contains("\u{1B}"))
        #expect(try await !terminal(["TERM": "dumb", "NO_COLOR": ""]).contains("\u{1B}"))
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

    @Test("No file content crashes the tool, and content that is not examined is not reported")
    func hostileContents() async throws {
        let folder = try TemporaryFolder()
        let declared = "<!DOCTYPE a [<!ELEMENT a EMPTY><!ATTLIST a b CDATA #REQUIRED>]><a b=\"1\"/>"
        let texts: [String: Data] = [
            "declared.xml": Data(declared.utf8), "bare.xml": Data("<a><?go?></a>".utf8),
            "wide.xml": try #require(declared.data(using: .utf16)),
            "hidden.xml": Data("<?xml version='1.0' encoding='UTF-7'?><a>+ADw-</a>".utf8),
            "broken.xml": Data("<a>".utf8) + [0xFF, 0xFE, 0x3C, 0x62, 0xC3, 0x3E],
            "deep.xml": Data(String(repeating: "<a>", count: 100_000).utf8),
            "laughs.svg": Data("<!DOCTYPE svg [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><svg>&b;</svg>".utf8),
            "deep.json": Data(String(repeating: "[", count: 100_000).utf8), "nul.json": Data(count: 5000),
            "short.png": Data([0x89]), "ftyp.mp4": Data("\0\0\0\u{8}ftyp".utf8),
            "box.avif": Data([0xFF, 0xFF, 0xFF, 0xFF] + "ftyp".utf8),
        ]
        for (name, text) in texts { try folder.write(text, to: name) }
        try folder.write("{ \"https://h/\": \"./\" }", to: "manifest.json")
        let result = await Tool.run(["check", "--format", "json"], in: folder.url)
        #expect(result.status == 0, "\(result.errors)")
        for name in texts.keys where name.hasSuffix("xml") || name.hasSuffix("svg") {
            #expect(!result.output.contains(name), "\(result.output)")
        }
        #expect(result.output.contains("short.png"))
    }

    @Test("Valid content that looks like another format causes no warning")
    func rightContents() async throws {
        let folder = try TemporaryFolder()
        let page =
            "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body/></html>"
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"
        let texts = [
            "cars.txt": "BMW cars", "true.json": "true", "true.js": "true && f()", "love.txt": "true love",
            "pdf.md": "a %PDF- b",
            "tags.txt": "ID3 tags are", "gltf.md": "glTF is a format", "gif.txt": "GIF89a is a format",
            "box.txt": "the ftyp box",
            "moov.txt": "The moov atom", "headers.xml": "<headers><a/></headers>", "body.rss": "<bodytext/>",
            "header.txt": "<header>foo</header>", "page.xhtml": page, "page.xml": page,
            "relative.xml": "<d xmlns=\"uri\"/>",
            "old.xml": "<?xml version=\"1.1\"?><a/>", "map.map": ")]}'\n{\"version\":3}", "note.txt": "MZ",
            "nested.css": "a { &:b { c: d } @media (e) { f: g } }\n@page:first { h: i }",
            "cdo.css": "<!-- a { b: c } -->",
            "url.css": "@import url(//i/a.css); a { b: url(data:image/png;base64,//8=); c: \"$d: e; // f\" }",
            "quotes.css": "a { quotes: \"\u{201C}\" \"\u{201D}\" } /* \u{2019} } */ b::after { content: '}' }",
            "file.css": "a::after { content: \"see file:///a\" }", "films.vtt": "\u{FEFF}WEBVTT - films\n",
            "less.js": "1 < 2", "model.js": "{ \"metadata\": { \"version\": 3 } }",
            "git.md": "<<<<<<< a\n=======\n>>>>>>> b\n",
            "rule.txt": "Title\n=======\n", "vue.txt": "<script>a</script>", "eof.txt": "text\u{1A}",
            "long.svg": "<!--\(String(repeating: "licence ", count: 1000))-->\(svg)",
            "prefix.svg": "<x:svg xmlns:x=\"http://www.w3.org/2000/svg\"/>", "doctype.svg": "<!DOCTYPE svg>\(svg)",
        ]
        for (name, text) in texts { try folder.write(text, to: name) }
        try folder.write(try #require(svg.data(using: .utf16)), to: "wide.svg")
        try folder.write(Data("RIFX\0\0\0\0WAVEfmt ".utf8), to: "big.wav")
        try folder.write(Data("\0\0\0\u{8}wide\0\0\0\u{8}mdat".utf8), to: "old.mov")
        try folder.write(Data("\0\0\0\u{8}moof\0\0\0\u{8}mdat".utf8), to: "part.mp4")
        try folder.write(Data("ID3\u{4}\0fLaC".utf8), to: "tagged.flac")
        try folder.write(Data([0x49, 0x49, 0x2B, 0, 8, 0]), to: "big.tiff")
        try folder.write(Data("BM".utf8) + [62, 0, 0, 0, 3, 0, 5, 0, 54, 0, 0, 0, 40, 0, 0, 0], to: "hotspot.bmp")
        try folder.write(Data([0xFF, 0xD8, 0xFF, 0xDA, 1, 0xFF, 0xD9, 0, 0]), to: "trailing.jpg")
        try folder.write(Data(count: 100), to: "padded.mp3")
        try folder.write(Data("MZ\u{90}\0program".utf8), to: "unpacks.zip")
        try folder.write("{ \"https://h/\": \"./\" }", to: "manifest.json")
        let result = await Tool.run(["check"], in: folder.url)
        #expect(result.output.hasSuffix("no errors, no warnings\n"), "\(result.output)")
    }

    @Test("All of many issues are printed, even if all entries are on one line", arguments: ["\n", ""])
    func manyIssues(separator: String) async throws {
        let folder = try TemporaryFolder()
        let count = Program.isLongRun ? 5000 : 300
        let entries = (0..<count).map { "\"https://h/\($0)\": \"missing\"" }
        try folder.write("{" + entries.joined(separator: ",\(separator)") + "}", to: "manifest.json")
        let result = await Tool.run(["check"], in: folder.url)
        #expect(result.output.split(separator: "\n").count == 3 * count + 1)
    }

    @Test(
        "Output that cannot be written is an error",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "needs /dev/full")
    )
    func fullDisk() async throws {
        let result = try await Program.run("/bin/sh", ["-c", "\"\(Tool.url.path)\" --help > /dev/full"])
        #expect(result.status == 1)
        #expect(result.errors == "substitute: the output cannot be written: No space left on device\n")
    }

    @Test("A closed pipe ends the tool quietly")
    func closedPipe() async throws {
        let folder = try TemporaryFolder()
        let entries = (0..<3000).map { "\"https://h/\($0)\": \"missing\"" }
        try folder.write("{" + entries.joined(separator: ",\n") + "}", to: "manifest.json")
        let result = try await Program.run("/bin/sh", ["-c", "\"\(Tool.url.path)\" check | head -n 1"], in: folder.url)
        #expect(result.errors == "")
        #expect(result.output.split(separator: "\n").count == 1)
    }
}
#endif
