// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

private func repeated(_ part: String, _ count: Int) -> String {
    String(repeating: part, count: max(1, count / part.utf8.count))
}

/// Manifests whose checks once read parts of them again and again.
enum LongManifest: CaseIterable {
    case attributes, links, spacesInProse, commas, parentheses, schemes, linesInURL, spacesInURL, placeholders
    case signatures, tokens, extensions, copies, spacesInType, openStrings, quotationMarks, hyphens, colons
    case comments, diff

    func text(_ count: Int) -> String {
        func of(_ part: String) -> String { repeated(part, count) }
        func entry(_ key: String, _ value: String = "\"a.txt\"") -> String { "{ \"\(key)\": \(value) }" }
        return switch self {
        case .attributes: "{\n\"<a" + of(" href=\"x\"") + "\": 1}"
        case .links: "{\n\"" + of("[\"") + "\": 1}"
        case .spacesInProse: "abc\n" + of(" ") + "\n{x"
        case .commas: entry("https://h/a" + of(","))
        case .parentheses: entry(of("(") + "x" + of(")"))
        case .schemes: entry(of("https://") + "h/a")
        case .linesInURL: entry("https://h/a" + of(".js?") + ":x")
        case .spacesInURL: entry("https://h/a" + of(" ") + "b")
        case .placeholders: entry("https://h/" + of("%12d") + "%zz%s")
        case .signatures: entry("https://h/a?" + (0..<count / 14).map { "x-amz-a\($0)=1&" }.joined())
        case .tokens:
            entry("https://h/a?" + (0..<count / 60).map { "n\($0)=eyJ" + repeated("a", 40) + "&" }.joined())
        case .extensions: entry("https://h/a", "\"a" + of(".txt") + "\"")
        case .copies: entry("https://h/a", "\"a" + of(" copy") + ".png\"")
        case .spacesInType:
            entry("https://h/a", "{ \"file\": \"a.txt\", \"type\": \"text/html" + of(" ") + "x\" }")
        case .openStrings: "{\n" + of("\"a\n")
        case .quotationMarks: "{\n" + of("\"")
        case .hyphens: of("- ") + "!"
        case .colons: "//" + of("a.b:") + "!"
        case .comments: "{" + of("/* */")
        case .diff: of("+ \"a\": \"a.txt\",\n")
        }
    }
}

/// The beginning, the repeated part, and the end of a file's content.
let longContents: [[String]] = [
    ["a.json", "{\n\"<a", " href=\"x\"", "\": 1}"], ["b.json", "[", "{\"b\":1},", ""],
    ["a.js", "var", " ", "x require("],
    ["a.css", "a{b:c}", "url(\\g ", ""], ["b.css", "a{b:c}", "\"\n", ""],
    ["a.html", "<!DOCTYPE html>", "<meta ", ""],
    ["b.html", "<!DOCTYPE html>", "<!--", ""], ["a.txt", "", "a=\n", ""], ["c.json", "{\"ab\"", " ", "}"],
    ["a.vtt", "WEBVTT\n", "\n00:", ""], ["b.vtt", "WEBVTT\n", marks, ""],
    ["h.html", "<!DOCTYPE html><base href=\"", marks, "\">"], ["c.html", "<!DOCTYPE html><a", marks, " src=a.png>"],
    ["d.html", "<!DOCTYPE html><img b", marks, "=a src=a.png>"],
    ["e.html", "<!DOCTYPE html><img src=\"?a=", marks, "\">"], ["f.html", "<!DOCTYPE html><p>", marks, ""],
    ["g.html", "<!DOCTYPE html><link rel=\"a", marks, "\" href=a.css>"], ["c.css", "a{b:url(", marks, ")}"],
    ["d.css", "a{b", marks, ":c}"], ["b.js", "import 'a", marks, "'"], ["d.json", "{\"a", marks, "\": 1}"],
    ["b.txt", "a", marks, ""],
    ["a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"a", marks, "\"/></svg>"],
]

/// Two combining marks in the order that is not normal; Swift takes quadratic time to compare many of them.
private let marks = "\u{301}\u{316}"

@Suite("Texts of any length", .serialized)
struct LongLineTests {
    @Test("A manifest is checked in linear time", arguments: LongManifest.allCases)
    func manifest(manifest: LongManifest) throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "a.txt")
        let growth = try Growth.whenEightfold(4000) { count in
            try folder.write(manifest.text(count), to: "manifest.json")
            _ = ManifestCheck(try Tool.manifest(folder.url.path), on: Date())
        }
        #expect(growth < Growth.limit)
    }

    @Test("A file's content is checked in linear time", arguments: longContents)
    func content(parts: [String]) throws {
        let type = try #require(MediaType(fileName: parts[0]))
        let growth = Growth.whenEightfold(parts[2] == marks ? 20_000 : 4000) { count in
            let text = parts[1] + repeated(parts[2], count) + parts[3]
            _ = ContentRules.remarks(on: Data(text.utf8), named: parts[0], as: type)
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
