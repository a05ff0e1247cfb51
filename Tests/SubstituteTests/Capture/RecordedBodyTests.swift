// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Bodies in recordings, and whole recordings", .serialized)
struct RecordedBodyTests {
    private let site: SiteFolder

    init() throws { site = try SiteFolder() }

    // MARK: - Binary bodies as text

    /// The beginnings of files in formats that no recorder should write as text.
    static let formats: [(name: String, type: String, start: [UInt8])] = [
        ("a.png", "image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("a.ico", "image/x-icon", [0, 0, 1, 0, 1, 0] + Array(repeating: 0, count: 16)),
        ("a.woff2", "font/woff2", Array("wOF2\0\u{1}\0\0\0\0\0\u{4}".utf8)),
        ("a.mp3", "audio/mpeg", Array("ID3\u{3}\0\0\0\0\0\u{4}".utf8)),
        ("a.mp4", "video/mp4", Array("\0\0\0\u{14}ftypisom".utf8)),
        ("a.pdf", "application/pdf", Array("%PDF-1.7\n".utf8)),
        ("a.zip", "application/zip", [0x50, 0x4B, 3, 4]),
        ("a.wasm", "application/wasm", [0, 0x61, 0x73, 0x6D, 1, 0, 0, 0]),
    ]

    @Test("A binary body that was recorded as text is left out", arguments: formats)
    func lost(name: String, type: String, start: [UInt8]) async throws {
        let bytes = Data(start) + Data((0...255).map { UInt8($0) })
        let latin = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        let decoded = String(decoding: bytes, as: UTF8.self)
        let cases = [
            (decoded, "\(bytes.count)"), (decoded, "\(decoded.utf8.count)"), (decoded, nil), (latin, nil),
            (latin, "\(latin.utf8.count)"), (latin, "\(bytes.count)"),
        ]
        for (text, size) in cases {
            let result = try await site.take([HAREntry(url: "https://h/\(name)", type: type, text: text, size: size)])
            #expect(result.output.contains("its bytes were recorded as text, which loses some of them"), "\(result)")
            #expect(try site.files == [], "\(size ?? "-")")
        }
    }

    @Test("A text of an unknown type stays a text, unless it has lost characters")
    func unknownType() async throws {
        let entries = [("a.glsl", "// é\n", "6"), ("b.glsl", "// é\n", nil), ("c.glsl", "// \u{FFFD}\n", "5")].map {
            HAREntry(url: "https://h/\($0)", type: "application/octet-stream", text: $1, size: $2)
        }
        let result = try await site.take(entries)
        #expect(try site.files == ["h/a.glsl.bin", "h/b.glsl.bin"], "\(result)")
        #expect(site.bytes("h/a.glsl.bin") == Data("// é\n".utf8))
    }

    // MARK: - Empty bodies

    @Test("An empty file is imported, and a body that was not recorded is left out")
    func empty() async throws {
        func entry(_ name: String, _ content: String, _ rest: String = "", sent: String = "") -> String {
            """
            {"request":{"method":"GET","url":"https://h/\(name)"},"response":{"status":200,"headers":[\(sent)],
            "content":{"mimeType":"text/css"\(content)}\(rest)}}
            """
        }
        let length = #"{"name":"Content-Length","value":"500"}"#
        let entries = [
            entry("text.css", #","size":0,"text":"""#), entry("size.css", #","size":0"#, #","bodySize":0"#),
            entry("base64.css", #","size":0,"text":"","encoding":"base64""#), entry("nothing.css", ""),
            entry("no-size.css", #","text":"""#), entry("unknown.css", #","size":0"#, #","bodySize":-1"#),
            entry("comment.css", #","size":0,"comment":"too large""#, #","bodySize":0"#),
            entry("length.css", #","size":0,"text":"""#, sent: length), entry("twice.css", #","size":3,"text":"a{}""#),
            entry("twice.css", #","size":0,"text":"""#, #","_error":"net::ERR_ABORTED""#),
        ]
        let result = try await site.take(HAR.text(of: entries))
        #expect(try site.files == ["h/text.css", "h/base64.css", "h/size.css", "h/twice.css"], "\(result)")
        #expect(site.bytes("h/twice.css") == Data("a{}".utf8))
        #expect(result.output.contains("/comment.css: too large\n"), "\(result)")
    }

    @Test("A recording reads no other file, even if its body is there")
    func beside() async throws {
        try site.folder.write("a { }", to: "5f3a.css")
        let entry = """
            {"request":{"method":"GET","url":"https://h/a.css"},
            "response":{"status":200,"headers":[],"content":{"mimeType":"text/css","_file":"5f3a.css"}}}
            """
        let result = try await site.take(HAR.text(of: [entry]))
        #expect(result.output.contains("its body is in the file \"5f3a.css\"; record with the content embedded"))
        #expect(try site.files == ["5f3a.css"], "\(result)")
    }

    @Test("A compressed recording is refused with the remedy", arguments: ["PK\u{3}\u{4}", "\u{1F}\u{8B}"])
    func compressed(start: String) async throws {
        let result = try await site.take(Data(start.unicodeScalars.map { UInt8($0.value) }) + Data(count: 100))
        #expect(result.status == 1 && result.errors.contains("is compressed; unpack it"), "\(result)")
    }

    // MARK: - Whole recordings

    @Test("A recording that Foundation's JSON parser reads is read, and no other makes the tool crash")
    func mistakes() throws {
        let entry = HAREntry(text: #"a "b" \ é"#, size: "12", asked: [.init("A", "b")]).json
        let recording = Array(HAR.text(of: [entry, "null", #"{"response":{"content":{"text":"\u0041"}}}"#]).utf8)
        var (taken, refused) = (0, 0)
        for index in stride(from: 0, to: recording.count, by: Program.isLongRun ? 1 : 7) {
            for mistake in [[], Array("\"".utf8), Array("\\".utf8)] + "{}[],: 0\n\u{1}".utf8.map({ [$0] }) {
                let changed = Data(recording[..<index] + mistake + recording[(index + 1)...])
                // The reader takes a body with invalid UTF-8 for broken, and Foundation refuses the whole text.
                guard String(data: changed, encoding: .utf8) != nil else { continue }
                let isJSON = (try? JSONSerialization.jsonObject(with: changed)) != nil
                do {
                    _ = try HARFile(changed, name: "page.har")
                    taken += 1
                } catch {
                    let isOther = error.message.contains("it has no \"log\"")
                    #expect(!isJSON || isOther, "\(String(decoding: changed, as: UTF8.self)): \(error.message)")
                    refused += 1
                }
            }
        }
        #expect(taken > 100 && refused > 100)
    }

    // Only Linux tells the memory of a process in /proc.
    #if os(Linux)
    @Test("The memory for importing does not grow with the number of exchanges")
    func memory() async throws {
        await #expect(processExitsWith: .success) {
            let site = try SiteFolder()
            let fields = (0..<40).map { HAREntry.Field("Sec-Field-\($0)", "value") }
            let count = Program.isLongRun ? 1500 : 300
            let entries = (0..<count).map { HAREntry(url: "https://h/\($0).css", asked: fields, sent: fields) }
            let recording = Data(HAR.text(entries).utf8)
            func peak() throws -> Int {
                let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) * 1024
            }
            let before = try peak()
            #expect(try await site.take(recording).output.hasPrefix("\(count) entries "))
            #expect(try peak() - before < 40_000_000 + 8 * recording.count)
        }
    }
    #endif
}
#endif
