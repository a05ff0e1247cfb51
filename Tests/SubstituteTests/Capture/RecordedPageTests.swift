// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The page of the running Demo", .serialized)
struct RecordedPageTests {
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
