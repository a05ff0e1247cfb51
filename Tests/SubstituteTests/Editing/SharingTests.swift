// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Responses for one person", .serialized)
struct SharingTests {
    /// The fields of a recorded request and its response, and the reason to leave the response out; nil for none.
    static let rows: [(asked: [String: String], sent: [String: String], path: String, reason: String?)] = [
        (["Accept": "*/*", ":authority": "h"], ["Cache-Control": "no-cache"], "/mine", nil),
        ([:], ["Cache-Control": "Private, max-age=0"], "/same", "its server forbids shared copies (Cache-Control)"),
        ([:], ["Cache-Control": "no-store"], "/same", "its server forbids shared copies (Cache-Control)"),
        (["Cookie": ""], ["Cache-Control": "private"], "/same", "its server forbids shared copies (Cache-Control)"),
        (["Cookie": "a=b"], [:], "/same", nil), (["X-Own": "a"], [:], "/same", nil),
        ([:], ["Set-Cookie": ""], "/same", nil),
        (["Cookie": "a=b"], [:], "/mine", "it was requested with cookies, and without them"),
        (["X-Own": "a"], [:], "/mine", "it was requested with \"x-own\", and without that field"),
        ([:], ["Set-Cookie": "a=b"], "/mine", "its server sets a cookie (Set-Cookie)"),
        (["Cookie": "a=b"], [:], "/forbidden", "it was requested with cookies, and without them"),
    ]

    @Test("A recorded response for one person is left out, unless --include-private is given", arguments: rows)
    func recorded(asked: [String: String], sent: [String: String], path: String, reason: String?) async throws {
        let site = try RemoteSite()
        let forbidden = ["Cache-Control": "no-store"]
        for (path, body, fields) in [("/same", "a", [:]), ("/mine", "b", [:]), ("/forbidden", "a", forbidden)] {
            site.set(path, .init(headers: fields.merging(["Content-Type": "text/plain"]) { $1 }, body: Data(body.utf8)))
        }
        let fields = [asked, sent].map { $0.map { HAREntry.Field($0.key, $0.value) } }
        let entry = HAREntry(url: site.url + path, type: "text/plain", text: "a", asked: fields[0], sent: fields[1])
        let folder = try SiteFolder()
        let result = try await folder.take([entry])
        #expect(try folder.files.isEmpty == (reason != nil), "\(result)")
        if let reason {
            #expect(result.output.contains(reason) && result.output.contains("--include-private takes it"), "\(result)")
            let all = try await folder.take([entry], "--include-private")
            #expect(try folder.files.count == 1 && all.output.contains("may be for one person: look at it"), "\(all)")
        }
    }

    @Test("add and update take no private answer, unless --include-private is given")
    func loaded() async throws {
        let site = try RemoteSite()
        func set(_ path: String, _ body: String, _ fields: [String: String] = [:]) {
            let headers = fields.merging(["Content-Type": "application/json"]) { $1 }
            site.set(path, .init(headers: headers, body: Data(body.utf8)))
        }
        set("/me.json", "{}", ["Set-Cookie": "a=b"])
        #expect(try await site.run("add", "\(site.url)/me.json").status == 0)
        for path in ["/me.json", "/own.json"] { set(path, "{\"user\":\"anna\"}", ["Cache-Control": "no-store"]) }
        let update = try await site.run("update")
        #expect(update.status == 1 && update.output.contains("--include-private takes it"), "\(update)")
        #expect(site.file("\(site.name)/me.json") == "{}")
        #expect(try await site.run("update", "--include-private").status == 0)
        #expect(site.file("\(site.name)/me.json") == "{\"user\":\"anna\"}")
        #expect(try await site.run("add", "\(site.url)/own.json").status == 1)
        site.set("/moved", .init(status: 302, headers: ["Location": "/a.json", "Cache-Control": "private"]))
        set("/a.json", "{}")
        let moved = try await site.run("add", "\(site.url)/moved")
        #expect(moved.status == 1 && moved.errors.contains("its server forbids shared copies"), "\(moved)")
        let added = try await site.run("add", "--include-private", "\(site.url)/moved")
        #expect(added.status == 0 && added.output.contains("may be for one person: look at it"), "\(added)")
    }
}
#endif
