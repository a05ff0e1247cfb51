// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("From a page in a browser to an app", .serialized)
struct RecordedPageTests {
    /// Records what Chromium loads of a page, as its developer tools export it.
    private func record(_ url: String) async throws -> Data {
        struct Event: Decodable {
            struct Parameters: Decodable {
                let requestId: String?
                let request: Request?
                let response: Response?
            }
            struct Request: Decodable {
                let url: String
                let method: String
                let headers: [String: String]
            }
            struct Response: Decodable {
                let status: Int
                let headers: [String: String]
                let mimeType: String
            }
            let method: String
            let params: Parameters
        }
        struct Body: Decodable, Sendable {
            let body: String
            let base64Encoded: Bool
        }
        let browser = try await DevTools()
        defer { browser.stop() }
        try await browser.open(url)
        try await browser.wait(until: "[...document.images].every(image => image.complete)")
        try await browser.wait(until: "document.querySelector('#script').textContent !== ''")
        let events = try browser.events.compactMap { data -> Event? in
            String(decoding: data, as: UTF8.self).contains("\"method\":\"Network.re")
                ? try JSONDecoder().decode(Event.self, from: data) : nil
        }
        func fields(_ headers: [String: String]) -> [[String: String]] { headers.map { ["name": $0, "value": $1] } }
        var entries: [[String: any Sendable]] = []
        for event in events where event.method == "Network.responseReceived" {
            let asked = events.first { $0.params.requestId == event.params.requestId && $0.params.request != nil }
            guard let request = asked?.params.request, let response = event.params.response,
                let id = event.params.requestId
            else { continue }
            let body: Body = try await browser.command("Network.getResponseBody", ["requestId": id])
            var content: [String: any Sendable] = ["mimeType": response.mimeType, "text": body.body, "size": 0]
            if body.base64Encoded { content["encoding"] = "base64" }
            entries.append([
                "request": [
                    "method": request.method, "url": request.url, "headers": fields(request.headers),
                ] as [String: any Sendable],
                "response": [
                    "status": response.status, "headers": fields(response.headers), "content": content,
                ] as [String: any Sendable],
            ])
        }
        let log: [String: any Sendable] = ["log": ["version": "1.2", "entries": entries] as [String: any Sendable]]
        return try JSONSerialization.data(withJSONObject: log)
    }

    @Test(
        "A recording of the Demo's page, imported, answers all of it with the server off",
        .startsChromium
    )
    func demo() async throws {
        let folder = try TemporaryFolder()
        let program = Tool.url.deletingLastPathComponent().appendingPathComponent("Demo")
        let demo = try await ServingProcess(program, ["--serve"])
        let recording: Data
        let site: String
        do {
            defer { demo.stop() }
            site = String(try await demo.address(after: "The site itself is at ").dropLast())
            recording = try await record(site)
        }
        try recording.write(to: folder.url.appendingPathComponent("page.har"))

        // The three commands: begin, import, and the app itself, which is this process.
        #expect(await Tool.run(["init"], in: folder.url).status == 0)
        let before = await Tool.run(["explain", "-"], input: recording, in: folder.url)
        #expect(before.output.contains("\n0 of ") && !before.output.contains("is answered"), "\(before.output)")
        let result = await Tool.run(["import", "page.har"], in: folder.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(await Tool.run(["check", "--strict"], in: folder.url).status == 0)
        // Chromium also asks for an icon that the site does not have.
        let after = await Tool.run(["explain", "-"], input: recording, in: folder.url)
        let missing = after.output.split(separator: "\n").filter { $0.contains("is not substituted") }
        #expect(missing.allSatisfy { $0.contains("/favicon.ico ") }, "\(after.output)")
        #expect(after.output.split(separator: "\n").count { $0.contains("is answered with") } == 9)

        let cache = try LocalSubstitutionCache(
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

    @Test("A stylesheet that is saved is seen when the running Demo's page is loaded again")
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
        #expect(demo.printed.contains("Saved: css/site.css. Load the page again to see it.\n"))
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
