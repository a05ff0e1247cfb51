// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The page of the running Showcase", .serialized)
struct RecordedPageTests {
    @Test("A saved stylesheet takes effect when the page of the running Showcase is reloaded")
    func savedInShowcase() async throws {
        let folder = try TemporaryFolder()
        let files = folder.url.appendingPathComponent("Files")
        let source = Repository.folder.appendingPathComponent("Resources/Substitutions")
        try FileManager.default.copyItem(at: source, to: files)
        let program = Tool.url.deletingLastPathComponent().appendingPathComponent("Showcase")
        let showcase = try await ServingProcess(program, ["--folder", files.path])
        defer { showcase.stop() }
        let url = try await showcase.address(after: "Open ")
        try folder.write("body { color: rebeccapurple }", to: "Files/css/site.css")
        _ = try await showcase.address(after: "Saved: ")
        #expect(showcase.printed.contains("Saved: css/site.css. Reload the page to see it.\n"))
        let request = URLRequest(url: try #require(URL(string: "\(url)app/css/site.css")), timeoutInterval: 600)
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (body, _) = try await session.data(for: request)
        #expect(String(decoding: body, as: UTF8.self) == "body { color: rebeccapurple }")
    }
}
#endif
