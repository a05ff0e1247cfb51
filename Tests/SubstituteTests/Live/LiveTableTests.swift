import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Answers to a browser's requests")
struct LiveTableTests {
    private let hosts = AppRequest.Hosts(
        here: "http://here.invalid",
        there: "http://there.invalid",
        gone: "http://gone.invalid"
    )
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for file in AppRequest.files { try folder.write("file \(file)", to: file) }
        try folder.write(hosts.manifest, to: "manifest.json")
    }

    private var table: SubstitutionTable {
        get throws {
            let manifest = SubstitutionManifest(Data(hosts.manifest.utf8), name: "manifest.json")
            return try SubstitutionTable(manifest, folder: folder.url)
        }
    }

    @Test("A browser gets the same answers as an app")
    func answers() async throws {
        for row in AppRequest.all {
            let live = LiveTable(try table) { _, _ in }
            #expect(await load(row.url(hosts), row.method, row.fields, live) == row.answer, "\(row)")
        }
    }

    @Test("A URL with a user name, and one that is not http, are left to the network")
    func others() async throws {
        let loads = LoadList()
        let live = LiveTable(try table) { load, _ in loads.append(load) }
        let urls = [
            "http://name:word@here.invalid/a.txt", "data:text/plain,a", "blob:http://here.invalid/1", "file:///a.txt",
        ]
        for url in urls {
            #expect(Self.answer(await live.decide(on: Self.held(url, "GET"))) == nil, "\(url)")
            let done = Self.held(url, "GET", [:], LoopbackServer.Response.text("x"))
            #expect(Self.answer(await live.decide(on: done) { "" }) == nil, "\(url)")
        }
        #expect(loads.all.map(\.url) == [urls[0]] && loads.all.allSatisfy { $0.file == nil })
    }

    @Test("A redirect to a mapped URL is told with the command that adds the first URL")
    func redirect() async throws {
        let loads = LoadList()
        let live = LiveTable(try table) { load, _ in loads.append(load) }
        for path in ["302/to-to-a", "302/to-there", "a.txt"] {
            _ = await load("http://here.invalid/\(path)", "GET", [:], live)
        }
        let sources = ["http://here.invalid/302/to-to-a", "http://here.invalid/302/to-there", nil]
        #expect(loads.all.map(\.redirectedFrom) == sources)
        let manifest = try Tool.manifest(folder.url.appendingPathComponent("manifest.json").path)
        let explainer = MissExplainer(manifest: manifest)
        _ = await load("http://gone.invalid/none.txt", "GET", [:], live)
        let lost = try explainer.miss(loads.all[3], besides: [], in: table)
        #expect(lost.command == nil && lost.reason.hasSuffix("No server answered. Chromium says ConnectionRefused."))
        let misses = try loads.all.prefix(2).map { explainer.miss($0, besides: [], in: try table) }
        #expect(misses[0].reason.contains("It is redirected to http://here.invalid/a.txt; after a redirect"))
        #expect(misses[1].reason.contains("It is redirected to http://there.invalid/b.txt; after a redirect"))
        #expect(misses.allSatisfy { $0.command?.hasSuffix($0.url) == true }, "\(misses)")
    }

    /// Does what a browser does with a request: asks the tool, then the server, and follows redirects.
    private func load(_ url: String, _ method: String, _ fields: [String: String], _ live: LiveTable) async -> String {
        var (url, method) = (String(url.prefix { $0 != "#" }), method)
        var first: HeldRequest.Request?
        for count in 0..<10 {
            let earlier = count == 0 ? nil : "\(count - 1)"
            var held = Self.held(url, method, fields, redirected: earlier)
            held.first = first
            if let answer = Self.answer(await live.decide(on: held)) { return answer }
            let path = "/" + url.split(separator: "/", maxSplits: 2).dropFirst(2).joined().prefix { $0 != "?" }
            let response = url.hasPrefix(hosts.gone) ? nil : AppRequest.respond(path, hosts)
            let error = response == nil ? "ConnectionRefused" : nil
            var done = Self.held(url, method, fields, redirected: earlier, response, error: error)
            done.first = first
            if let answer = Self.answer(await live.decide(on: done) { "" }) { return answer }
            first = first ?? held.request
            guard let response else { return "failed" }
            guard let location = response.headers["Location"] else {
                return AppRequest.answer(status: response.status) { response.headers[$0] }
            }
            url = location
            if response.status == 303 || method == "POST" && response.status < 303 { method = "GET" }
        }
        return "endless"
    }

    private static func answer(_ decision: SubstituteKit.Decision) -> String? {
        guard case .answer(let status, let fields, _) = decision else { return nil }
        return AppRequest.answer(status: status) { name in fields.first { $0.name == name }?.value }
    }

    private static func held(
        _ url: String,
        _ method: String,
        _ fields: [String: String] = [:],
        redirected: String? = nil,
        _ response: LoopbackServer.Response? = nil,
        error: String? = nil
    ) -> HeldRequest {
        HeldRequest(
            requestId: "1",
            request: HeldRequest.Request(url: url, method: method, headers: fields),
            resourceType: "Fetch",
            frameId: "frame",
            networkId: nil,
            redirectedRequestId: redirected,
            responseStatusCode: response?.status,
            responseErrorReason: error,
            responseHeaders: response?.headers.map { HeldRequest.Field(name: $0.key, value: $0.value) }
        )
    }
}
