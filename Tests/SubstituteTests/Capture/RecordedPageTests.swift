// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("From a page in a browser to an app", .serialized)
struct RecordedPageTests {
    @Test(
        "The captured Demo page comes entirely from files, in a browser and in an app without the server",
        .startsChromium
    )
    func demo() async throws {
        let folder = try TemporaryFolder()
        let program = Tool.url.deletingLastPathComponent().appendingPathComponent("Demo")
        let demo = try await ServingProcess(program, ["--serve"])
        let site: String
        do {
            defer { demo.stop() }
            site = String(try await demo.address(after: "The site itself is at ").dropLast())
            #expect(await Tool.run(["init"], in: folder.url).status == 0)
            let captured = try await Tool.start(["add", "--in-browser", site], in: folder.url)
            #expect(captured.status == 0 && captured.errors == "", "\(captured)")
            #expect(captured.output.contains("\n9 entries with "), "\(captured)")
            let verified = try await Tool.start(
                ["verify", "--at-least", "100%", site],
                in: folder.url
            )
            #expect(
                verified.status == 0 && verified.output.contains("  The files fit. 9 of 9 requests came from files"),
                "\(verified)"
            )
        }
        #expect(await Tool.run(["check", "--strict"], in: folder.url).status == 0)

        let cache = try SubstitutionCache(
            manifest: folder.url.appendingPathComponent("Substitutions/manifest.json")
        )
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let page = try #require(URL(string: site))
        let (body, _) = try await session.data(from: page)
        let html = String(decoding: body, as: UTF8.self)
        let references = html.matches(of: /(?:src|href)="([^"]+)"/).map { String($0.1) }
        #expect(references.count >= 7)
        for reference in references {
            let url = try #require(URL(string: reference, relativeTo: page)?.absoluteURL)
            let (data, response) = try await session.data(from: url)
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.statusCode == 200 && !data.isEmpty, "\(reference)")
            #expect(head.value(forHTTPHeaderField: "Cache-Status")?.contains("hit") == true, "\(reference)")
        }
    }

    @Test("A saved stylesheet takes effect when the page of the running Demo is reloaded")
    func savedInDemo() async throws {
        let folder = try TemporaryFolder()
        let files = folder.url.appendingPathComponent("Files")
        try FileManager.default.copyItem(
            at: Repository.folder.appendingPathComponent("Resources/Substitutions"),
            to: files
        )
        let program = Tool.url.deletingLastPathComponent().appendingPathComponent("Demo")
        let demo = try await ServingProcess(program, ["--serve", "--folder", files.path])
        defer { demo.stop() }
        let url = try await demo.address(after: "Open ")
        try folder.write("body { color: rebeccapurple }", to: "Files/css/site.css")
        _ = try await demo.address(after: "Saved: ")
        #expect(demo.printed.contains("Saved: css/site.css. Reload the page to see it.\n"))
        let style = try #require(URL(string: "\(url)app/css/site.css"))
        var request = URLRequest(url: style)
        request.timeoutInterval = 600
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (body, _) = try await session.data(for: request)
        #expect(String(decoding: body, as: UTF8.self) == "body { color: rebeccapurple }")
    }
}
#endif
