// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
        let nowhere = await Tool.run(["check", "--watch", "none/manifest.json"], in: folder.url)
        #expect(nowhere.status == 1 && nowhere.errors.contains("cannot be watched"), "\(nowhere)")
    }

    @Test("The preview marks outdated files if --outdated is given")
    func marks() async throws {
        let site = try RemoteSite()
        for name in ["a", "b"] { site.set("/\(name).css", name, type: "text/css") }
        _ = try await site.run("add", "\(site.url)/a.css", "\(site.url)/b.css")
        site.set("/a.css", "aa", type: "text/css")
        let plain = try await site.run("preview")
        #expect(plain.status == 0 && !plain.output.contains("outdated"))
        let marked = try await site.run("preview", "--outdated")
        #expect(marked.output.components(separatedBy: "outdated: its server has another version").count == 2)
        let process = try await ServingProcess(Tool.url, ["preview", "--serve", "--outdated"], in: site.folder.url)
        defer { process.stop() }
        let page = try #require(URL(string: try await process.address(after: "Open ")))
        // Other tests install a cache, whose protocol the shared session and later configurations ask.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = []
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        try await wait(for: "the mark") {
            let (data, _) = try await session.data(from: page)
            return String(decoding: data, as: UTF8.self).contains("outdated: its server has another version")
        }
    }
}
#endif
