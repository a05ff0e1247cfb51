// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("No message and no page shows a secret in the URL of a server", .serialized)
struct PlantedMessageTests {
    /// True for a secret after the path; a file is named after the path of its URL.
    private static func isOfQuery(_ each: PlantedSecret) -> Bool {
        each.tail.drop { $0 != "?" && $0 != "#" }.contains(each.secret)
    }

    @Test("add, update and outdated show none", arguments: [1, 2])
    func remote(seed: UInt64) async throws {
        let site = try RemoteSite()
        let planted = PlantedSecret.all(seed: seed).filter(Self.isOfQuery)
        #expect(planted.count > 30)
        func expect(_ result: Program.Result, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) {
            let text = result.output + result.errors
            #expect(text.contains(words), "\(result)", sourceLocation: sourceLocation)
            for each in planted {
                #expect(!each.isShown(in: Data(text.utf8)), "\(each): \(text)", sourceLocation: sourceLocation)
            }
        }
        func set(_ target: (String) -> LoopbackServer.Response) {
            for (number, each) in planted.enumerated() { site.set("/\(number).css", target(each.tail)) }
        }
        let urls = planted.indices.map { "\(site.url)/\($0).css" }
        func run(_ words: String...) async -> Program.Result { await Tool.run(words, in: site.folder.url) }
        for target in ["ftp://h", "x:"] {
            set { LoopbackServer.Response(status: 302, headers: ["Location": target + $0]) }
            expect(await Tool.run(["add"] + urls, in: site.folder.url), "it is redirected to ")
        }
        set { LoopbackServer.Response(headers: ["Refresh": "0; url=/x\($0)"], body: Data("a { }".utf8)) }
        expect(await Tool.run(["add"] + urls, in: site.folder.url), "its server forwards browsers to ")
        set { _ in LoopbackServer.Response(headers: ["Content-Type": "text/css"], body: Data("a { }".utf8)) }
        expect(await Tool.run(["add"] + urls, in: site.folder.url), "added ")
        set { LoopbackServer.Response(status: 302, headers: ["Location": "ftp://h" + $0]) }
        expect(await run("update"), "it is redirected to ")
        expect(await run("update", "--dry-run", "--all"), "it is redirected to ")
        let lines = await run("update", "--dry-run", "--all", "--json")
        expect(lines, "it is redirected to ")
        for line in lines.output.split(separator: "\n") {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any])
        }
    }

    @Test("The URLs of a manifest are shown without secrets, but the list for programs keeps them")
    func manifest() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a { }", to: "a.css")
        // No key has a fragment, nothing prints a password, and the page proposes what to write in place of "&amp;".
        let planted = PlantedSecret.all(seed: 3).filter(Self.isOfQuery)
            .filter { each in !["#", "anna", "&amp;"].contains(where: each.tail.contains) }
        let keys = planted.enumerated().map { "https://h/\($0)\($1.tail.drop { $0 != "?" })" }
        let entries = keys.map { "  \"\($0)\": \"a.css\"" }.joined(separator: ",\n")
        try folder.write("{\n\(entries)\n}", to: "manifest.json")
        let preview = await Tool.run(["preview", "--output=preview.html"], in: folder.url)
        #expect(preview.status == 0, "\(preview)")
        let page = try Data(contentsOf: folder.url.appendingPathComponent("preview.html"))
        let list = await Tool.run(["preview", "--format", "text"], in: folder.url)
        let json = await Tool.run(["preview", "--format", "json"], in: folder.url)
        for each in planted {
            #expect(!each.isShown(in: page) && !each.isShown(in: Data(list.output.utf8)), "\(each)")
            #expect(each.isShown(in: Data(json.output.utf8)), "\(each)")
        }
    }

    @Test("A report of verify shows none, on the terminal, in JSON and as a page", .startsChromium)
    func verified() async throws {
        let site = try LiveSite()
        let planted = PlantedSecret.all(seed: 4).filter(Self.isOfQuery)
        let images = planted.enumerated().map { number, each in
            "<img src=\"/\(number).svg\(each.tail.drop { $0 != "?" && $0 != "#" }.replacingOccurrences(of: "&", with: "&amp;"))\">"
        }
        site.set("/", "text/html", Data("<!doctype html><link rel=\"icon\" href=\"data:,\">\(images.joined())".utf8))
        for number in planted.indices { site.set("/\(number).svg", "image/svg+xml", LiveSite.picture(10)) }
        try site.folder.write(LiveSite.picture(10), to: "a.svg")
        try site.folder.write("{ \"\(site.url)a.svg\": \"a.svg\" }", to: "manifest.json")
        let text = try await site.run("verify", "--at-least", "0%", "--output", "report", site.url)
        let json = try await site.run("verify", "--at-least", "0%", "--format", "json", site.url)
        #expect(text.output.contains("/0.svg?") && json.output.contains("/0.svg?"), "\(text)")
        #expect(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) is [String: Any], "\(json)")
        let page = try Data(contentsOf: site.folder.url.appendingPathComponent("report/index.html"))
        for each in planted {
            for shown in [page, Data("\(text)".utf8), Data("\(json)".utf8)] {
                #expect(!each.isShown(in: shown), "\(each)")
            }
        }
    }
}
#endif
