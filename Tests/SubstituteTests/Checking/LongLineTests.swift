// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import SubstitutionRules
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

/// Returns at least `count` bytes of a part, in which the number of each copy replaces "#".
private func repeated(_ part: String, _ count: Int) -> String {
    let count = max(1, count / part.utf8.count)
    if !part.contains("#") { return String(repeating: part, count: count) }
    return (0..<count).map { part.replacing("#", with: "\($0)") }.joined()
}

/// Returns the parts as one text, in which each second part is repeated.
private func text(_ parts: some Sequence<String>, _ count: Int) -> String {
    parts.enumerated().map { $0.isMultiple(of: 2) ? $1 : repeated($1, count) }.joined()
}

/// Manifests whose checks once read parts of them again and again; each second part is repeated.
private let longManifests: [[String]] = [
    ["{\n\"<a", " href=\"x\"", "\": 1}"], ["{\n\"", "[\"", "\": 1}"], ["abc\n", " ", "\n{x"],
    ["{ \"https://h/a", ",", "\": \"a.txt\" }"], ["{ \"", "(", "x", ")", "\": \"a.txt\" }"],
    ["{ \"", "https://", "h/a\": \"a.txt\" }"], ["{ \"https://h/a", ".js?", ":x\": \"a.txt\" }"],
    ["{ \"https://h/a", " ", "b\": \"a.txt\" }"], ["{ \"https://h/", "%12d", "%zz%s\": \"a.txt\" }"],
    // The names of a signature, and tokens.
    ["{ \"https://h/a?", "x-amz-a#=1&", "\": \"a.txt\" }"],
    ["{ \"https://h/a?", "n#=eyJ\(String(repeating: "a", count: 40))&", "\": \"a.txt\" }"],
    ["{ \"https://h/a\": \"a", ".txt", "\" }"], ["{ \"https://h/a\": \"a", " copy", ".png\" }"],
    ["{ \"https://h/a\": { \"file\": \"a.txt\", \"type\": \"text/html", " ", "x\" } }"],
    ["{\n", "\"a\n"], ["{\n", "\""], ["", "- ", "!"], ["//", "a.b:", "!"], ["{", "/* */"],
    ["", "+ \"a\": \"a.txt\",\n"],
    // A row of empty cells.
    ["\"https://example.com", "\t", "\" \u{0}}"],
]

/// The beginning, the repeated part, and the end of a file's content.
private let longContents: [[String]] = [
    ["a.json", "{\n\"<a", " href=\"x\"", "\": 1}"], ["b.json", "[", "{\"b\":1},", ""],
    ["a.js", "var", " ", "x require("],
    ["a.css", "a{b:c}", "url(\\g ", ""], ["b.css", "a{b:c}", "\"\n", ""], ["a.html", "<!DOCTYPE html>", "<meta ", ""],
    ["b.html", "<!DOCTYPE html>", "<!--", ""], ["a.txt", "", "a=\n", ""], ["c.json", "{\"ab\"", " ", "}"],
    ["a.vtt", "WEBVTT\n", "\n00:", ""], ["b.vtt", "WEBVTT\n", marks, ""], ["c.css", "a{b:url(", marks, ")}"],
    ["c.html", "<!DOCTYPE html><a", marks, " src=a.png>"], ["d.html", "<!DOCTYPE html><base href=\"", marks, "\">"],
    ["e.html", "<!DOCTYPE html><img b", marks, "=a src=a.png>"], ["b.js", "import 'a", marks, "'"],
    ["d.json", "{\"a", marks, "\": 1}"], ["b.txt", "a", marks, ""], ["e.json", "", "[", ""],
    ["a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"a", marks, "\"/></svg>"],
]

/// Two combining marks in the order that is not normal; Swift takes quadratic time to compare many of them.
private let marks = "\u{301}\u{316}"

@Suite("Texts of any length", .serialized)
struct LongLineTests {
    @Test("A manifest is checked in linear time", arguments: longManifests)
    func manifest(parts: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "a.txt")
        let growth = try Growth.whenEightfold(4000) { count in
            try folder.write(text(parts, count), to: "manifest.json")
            _ = ManifestCheck(try Tool.manifest(folder.url.path), on: Date())
        }
        #expect(growth < Growth.limit)
    }

    @Test("A file's content is checked in linear time", arguments: longContents)
    func content(parts: [String]) throws {
        let type = try #require(MediaType(fileName: parts[0]))
        let growth = Growth.whenEightfold(parts[2] == marks ? 20_000 : 4000) { count in
            let content = text(parts.dropFirst(), count)
            _ = ContentRules.remarks(on: Data(content.utf8), named: parts[0], as: type)
        }
        #expect(growth < Growth.limit)
    }

    @Test("A version in a query is recognised in linear time")
    func versions() {
        let growth = Growth.whenEightfold(2000) { count in
            #expect(!CacheBuster.isOne(.init(text: Substring("v=1" + String(repeating: "_", count: count) + "!"))))
            #expect(CacheBuster.isOne(.init(text: Substring("v=1" + String(repeating: "_a", count: count) + ".b"))))
        }
        #expect(growth < Growth.limit)
    }

    @Test("The addresses in a playlist of combining marks are found in linear time")
    func playlist() throws {
        let folder = try TemporaryFolder()
        try folder.write("{ \"https://h/a.m3u8\": \"a.m3u8\" }", to: "manifest.json")
        let growth = try Growth.whenEightfold(20_000) { count in
            try folder.write("#EXTM3U\nb\(repeated(marks, count))\nc.ts\n", to: "a.m3u8")
            let issues = ManifestCheck(try Tool.manifest(folder.url.path), on: Date()).issues
            #expect(issues.contains { $0.message.contains("c.ts") })
        }
        #expect(growth < Growth.limit)
    }

    @Test("A recording of combining marks is read in linear time", arguments: [marks, "\\u0301\\u0316"])
    func recording(pair: String) throws {
        let growth = Growth.whenEightfold(500) { count in
            let text = String(repeating: pair, count: count)
            let entries = ["\"method\": \"a\(text)\"", "\"a\(text)\": 1"].map { request in
                "{\"request\": {\(request), \"url\": \"https://h/a\"}, \"response\": {\"status\": 200, \"content\": {}}}"
            }
            _ = try? HARFile(Data(HAR.text(of: entries).utf8), name: "a.har")
        }
        #expect(growth < Growth.limit)
    }

    @Test("A name that is repeated in a nested object is found, however deep it is")
    func repeatedName() throws {
        let (opening, closing) = (repeated("[{\"a\":", 180), repeated("}]", 60))
        let text = "\(opening)\n{ \"b\": 1, \"b\": 2 }\(closing)"
        let type = try #require(MediaType(fileName: "a.json"))
        let remark = try #require(ContentRules.remarks(on: Data(text.utf8), named: "a.json", as: type).first)
        #expect(remark.hasPrefix("has \"b\" in line 2 a second time"), "\(remark)")
    }

    @Test("A URL of many folders is judged in linear time, and no command names a URL that is too long to type")
    func folders() throws {
        let folder = try TemporaryFolder()
        try folder.write("{ \"https://h/f.html\": \"f.html\", \"https://h/other/\": \"d/\" }", to: "manifest.json")
        try folder.write("x", to: "d/a.txt")
        let manifest = try Tool.manifest(folder.url.path)
        let growth = try Growth.whenEightfold(10_000) { count in
            let url = "https://h/\(String(repeating: "a/", count: count))b.png"
            try folder.write("<!DOCTYPE html><title>x</title><img src=\"\(url)\">", to: "f.html")
            let issues = ManifestCheck(manifest, on: Date()).issues
            #expect(issues.contains { $0.message.contains("which no entry names") && $0.message.count < 1000 })
            let (explainer, table) = (MissExplainer(manifest: manifest), try manifest.table())
            #expect(explainer.miss(url, answered: 200, besides: [], in: table).command != nil)
        }
        #expect(growth < Growth.limit)
    }
}
#endif
