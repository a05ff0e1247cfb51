// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Runs the tool on each of a designer's mistakes, and compares the tool's output with the expected output.
///
/// Each section of `Fixtures/Mistakes.md`, `FreshMistakes.md`, `MoreMistakes.md` and `StrangersMistakes.md` is one
/// mistake.
///
/// To update the expected output, run the tests with `UPDATE_GOLDEN_FILES=1`, and review the difference before you keep
/// it.
@Suite("Designers' mistakes", .serialized)
struct MistakeTests {
    /// One section: a manifest with a mistake, and the tool's output.
    private struct Mistake {
        let title: String
        var files = "img/logo.png png, img/header.png png, icons/ferry.svg svg, css/site.css css, index.html html"
        /// The texts of the files that the section shows, keyed by name.
        var texts: [String: String] = [:]
        var command = "check"
        /// The command line as it is typed; nil for `command` with the manifest.
        var typed: String?
        let manifest: String

        /// Parses a section; `section` begins after the `###` of the heading.
        init(_ section: String) throws {
            title = section.prefix { $0 != "\n" }.trimmingCharacters(in: .whitespaces)
            for line in section.components(separatedBy: "\n").prefix(while: { !$0.hasPrefix("```") }) {
                if line.hasPrefix("Files: ") { files = String(line.dropFirst(7)) }
                if line.hasPrefix("Command: ") { command = String(line.dropFirst(9)) }
                if line.hasPrefix("Typed: ") { typed = String(line.dropFirst(7)) }
            }
            manifest = section.contains("\n```json\n") ? try MistakeTests.fence("json", of: section) : ""
            for part in section.components(separatedBy: "\n```file ").dropFirst() {
                let name = String(part.prefix { $0 != "\n" })
                texts[name] = try MistakeTests.fence("file \(name)", of: section) + "\n"
            }
            if !texts.isEmpty, !section.contains("\nFiles: ") { files = "" }
        }
    }

    /// Returns the content of the fenced code block with this language.
    private static func fence(_ language: String, of section: String) throws -> String {
        let start = try #require(section.range(of: "```\(language)\n"), "\(section)")
        let end = try #require(section.range(of: "```", range: start.upperBound..<section.endIndex), "\(section)")
        return String(section[start.upperBound..<end.lowerBound].dropLast())
    }

    private static let documents = ["Mistakes.md", "FreshMistakes.md", "MoreMistakes.md", "StrangersMistakes.md"]

    @Test("Each mistake gets the expected output", arguments: documents)
    func answers(in name: String) async throws {
        let document = Repository.folder.appendingPathComponent("Tests/SubstituteTests/Fixtures/\(name)")
        let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil
        let sections = try String(contentsOf: document, encoding: .utf8).components(separatedBy: "\n### ")
        #expect(sections.count > 50)
        var result = sections[0]
        for section in sections.dropFirst() {
            let mistake = try Mistake(section)
            let answer = try await answer(to: mistake)
            let written = try Self.fence("text", of: section + "\n")
            if !isUpdate { #expect(answer == written, "\(mistake.title)") }
            result += "\n### " + section.replacing("```text\n\(written)\n```", with: "```text\n\(answer)\n```")
        }
        if isUpdate { try Data(result.utf8).write(to: document) }
    }

    private func answer(to mistake: Mistake) async throws -> String {
        let folder = try TemporaryFolder()
        for (name, text) in mistake.texts { try folder.write(text, to: "Substitutions/\(name)") }
        for file in mistake.files.components(separatedBy: ", ") where !file.isEmpty {
            let parts = try #require(file.range(of: " ", options: .backwards))
            let content = try #require(Self.contents[String(file[parts.upperBound...])], "\(file)")
            try folder.write(Data(content), to: "Substitutions/\(file[..<parts.lowerBound])")
        }
        if !mistake.manifest.isEmpty || mistake.typed == nil {
            try folder.write(Data(Self.bytes(of: mistake.manifest)), to: "Substitutions/manifest.json")
        }
        let words = Self.words(of: mistake.typed ?? mistake.command)
        let place = folder.url.appendingPathComponent("Substitutions")
        let manifest = place.appendingPathComponent("manifest.json").path
        // If the section's command contains a path, the path is relative to the folder.
        let namesPath = words[0] == "check" && words.count == 2 && !words[1].hasPrefix("-")
        let isTyped = namesPath || mistake.typed != nil
        let result = await Tool.run(
            isTyped ? words : [words[0], manifest] + words.dropFirst(),
            in: isTyped ? place : Repository.folder
        )
        let output = (result.output + result.errors).replacingOccurrences(of: manifest, with: "manifest.json")
            .replacingOccurrences(of: place.path, with: "/…").replacingOccurrences(of: "```", with: "'''")
            .replacingOccurrences(of: "Etag: \"[^\n]*", with: "Etag: …", options: .regularExpression)
        #expect(result.status >= 0 && result.status <= 2, "\(mistake.title) ends by a signal")
        return String(output.reversed().drop(while: \.isNewline).reversed())
    }

    /// Returns the words of a command line, in which single quotation marks hold a word with spaces together.
    private static func words(of line: String) -> [String] {
        let parts = line.components(separatedBy: "'")
        return parts.enumerated().flatMap { index, part in
            index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [part]
        }
    }

    /// Returns the bytes of the manifest's file.
    ///
    /// A prefix selects an encoding (such as `bom:`), text around the manifest (such as `chat:`), or a file of
    /// another kind (such as `zeros:`).
    private static func bytes(of text: String) -> [UInt8] {
        guard let colon = text.firstIndex(of: ":") else { return Array(text.utf8) }
        let rest = text[text.index(after: colon)...]
        return switch text[..<colon] {
        case "bom": [0xEF, 0xBB, 0xBF] + rest.utf8
        case "chat": Array("Here is your manifest:\n\n```json\n\(rest)\n```\n".utf8)
        case "zeros": Array(repeating: 0, count: 200)
        default: Array(text.utf8)
        }
    }

    private static let pngMark: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The contents of files, keyed by the word that a section uses for them.
    private static let contents: [String: [UInt8]] = [
        "png": pngMark + [0, 0, 0, 0x0D], "jpeg": [0xFF, 0xD8, 0xFF, 0xE0], "gzip": [0x1F, 0x8B, 8, 0], "empty": [],
        "heic": [0, 0, 0, 0x18] + Array("ftypheic\0\0\0\0mif1heic".utf8), "psd": Array("8BPS\0\u{1}".utf8),
        "alias": Array("book\0\0\0\0mark\0\0\0\0".utf8), "css": Array("body { }\n".utf8),
        "svg": Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), "text": Array("Some text.\n".utf8),
        "html": Array("<!doctype html><title>Not found</title>".utf8), "zeros": [UInt8](repeating: 0, count: 300),
        "large": pngMark + [UInt8](repeating: 0, count: 5_200_000),
        "bitmap": Array("BM".utf8) + [62, 0, 0, 0, 3, 0, 5, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
        "woff2": Array("wOF2".utf8) + [0, 1, 0, 0, 0, 0, 0, 12], "ttf": [0, 1, 0, 0, 0, 0x10, 0, 0],
        "m4a": [0, 0, 0, 0x14] + Array("ftypM4A \0\0\0\0M4A ".utf8), "zip": [0x50, 0x4B, 3, 4, 20, 0, 8, 0, 8, 0],
        // 12,000 × 9,000 pixels.
        "hugepng": pngMark + Array("\0\0\0\u{D}IHDR".utf8) + [0, 0, 0x2E, 0xE0, 0, 0, 0x23, 0x28],
        // A frame with four components.
        "cmyk": [0xFF, 0xD8, 0xFF, 0xC0, 0, 0x14, 8, 0, 1, 0, 1, 4, 0xFF, 0xDA, 0xFF, 0xD9],
        // A directory of Exif that points to one with a latitude.
        "gps": [0xFF, 0xD8, 0xFF, 0xE1, 0, 0x30] + Array("Exif\0\0II*\0\u{8}\0\0\0\u{1}\0%".utf8) + [
            0x88, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 5, 0, 3, 0, 0, 0, 44, 0, 0, 0,
            0xFF, 0xDA, 0xFF, 0xD9,
        ],
        "webarchive": Array("bplist00".utf8) + [0xD1, 1, 2, 0x5F, 0x10, 0x0F],
        "cutmp4": [0, 0, 0, 0x10] + Array("ftypisom\0\0\u{2}\0\0\0\u{10}\0mdat\u{1}\u{2}".utf8),
        "mp4": [0, 0, 0, 0x18] + Array("ftypisom\0\0\u{2}\0isommp42".utf8),
        // A PNG in which each CRLF has become an LF.
        "textpng": [0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D] + Array("IHDR".utf8),
        "appledouble": [0, 5, 0x16, 7, 0, 2, 0, 0] + Array("Mac OS X        ".utf8) + [0, 2, 0, 0, 0, 9],
        "latinpage": encoded("<!doctype html><meta charset=\"windows-1252\"><title>Caf\u{E9}</title>\n", .isoLatin1),
        "shiftjis": encoded("/* 日本語のコメントです */\n", .shiftJIS),
        "utf16le": encoded("body { color: red }", .utf16LittleEndian),
        "utf8": Array("/* café */\n".utf8), "latin": encoded("/* caf\u{E9} */\n", .isoLatin1),
        "utf16": [0xFF, 0xFE, 0x62, 0, 0x7B, 0, 0x7D, 0],
        "lfs": Array("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n".utf8),
        "shortcut": [0x4C, 0, 0, 0, 1, 0x14, 2, 0] + [UInt8](repeating: 0xC0, count: 60),
        "bplist": Array("bplist00".utf8) + [0xD1, 1, 2, 0x53] + Array("URL".utf8),
        "widepage": [0xFF, 0xFE] + encoded("<!doctype html><html><body>Grüße", .utf16LittleEndian),
        "badjson": Array("{\n  \"colour\": \"red\"\n  \"size\": 3\n}\n".utf8),
    ]

    private static func encoded(_ text: String, _ encoding: String.Encoding) -> [UInt8] {
        Array(text.data(using: encoding) ?? Data())
    }
}
#endif
