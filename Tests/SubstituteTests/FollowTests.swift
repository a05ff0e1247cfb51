// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Commands that follow saves or query servers", .serialized)
struct FollowTests {
    @Test("check --watch checks again after each save, and reports errors until they are fixed")
    func checkWatch() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: "a.txt")
        try folder.write(#"{ "https://h/a": "a.txt" }"#, to: "manifest.json")
        let process = try await ServingProcess(Tool.url, ["check", "--watch"], in: folder.url)
        defer { process.stop() }
        func printed(_ text: String, times count: Int) async throws {
            try await wait(for: text) { process.printed.components(separatedBy: text).count > count }
        }
        try await printed("no errors, no warnings\n", times: 1)
        try folder.write(#"{ "https://h/a": "b.txt" }"#, to: "manifest.json")
        try await printed("manifest.json:1:18: error: \"b.txt\" does not exist", times: 1)
        try folder.write("b", to: "b.txt")
        try await printed("1 URL, 1 file, 1 byte: 1 text\n", times: 2)
        #expect(!process.printed.contains("\u{1B}"), "no terminal, no control sequences")
    }

    @Test("check --watch and preview --serve refuse what they cannot follow")
    func nothingToWatch() async throws {
        let folder = try TemporaryFolder()
        let stdin = await Tool.run(["check", "--watch", "-"], in: folder.url)
        #expect(stdin.status == 2 && stdin.errors.contains("--watch needs files"), "\(stdin)")
        let nowhere = await Tool.run(["check", "--watch", "none/manifest.json"], in: folder.url)
        #expect(nowhere.status == 1 && nowhere.errors.contains("cannot be watched"), "\(nowhere)")
        let output = await Tool.run(["preview", "--serve", "-o", "x.html", "none/manifest.json"], in: folder.url)
        #expect(output.status == 2 && output.errors.contains("--serve writes no file"), "\(output)")
    }

    @Test("The preview marks outdated files if --outdated is given")
    func marks() async throws {
        let site = try RemoteSite()
        site.set("/a.css", "a", type: "text/css")
        site.set("/b.css", "b", type: "text/css")
        _ = try await site.run("add", "\(site.url)/a.css", "\(site.url)/b.css")
        site.set("/a.css", "aa", type: "text/css")
        let plain = try await site.run("preview")
        #expect(plain.status == 0 && !plain.output.contains("outdated"))
        let marked = try await site.run("preview", "--outdated")
        #expect(marked.output.components(separatedBy: "outdated: its server has another version").count == 2)
        let process = try await ServingProcess(Tool.url, ["preview", "--serve", "--outdated"], in: site.folder.url)
        defer { process.stop() }
        let address = try await process.address(after: "Open ")
        func page() async throws -> String {
            let port = try #require(URL(string: address)?.port)
            return try await onThread {
                let handle = try connection(to: UInt16(port))
                let head = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
                try handle.write(contentsOf: Data(head.utf8))
                return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
            }
        }
        try await wait(for: "the mark") { try await page().contains("outdated: its server has another version") }
    }
}
#endif
