// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Responses for one person", .serialized)
struct PrivacyTests {
    /// The fields of a recorded request and its response, and the decision.
    struct Row: Sendable {
        let asked: [String: String]
        var sent: [String: String] = [:]
        var type = "application/json"
        /// A part of the reason for which the response is left out; nil if it is taken.
        let reason: String?
        /// The fields that follow those in `sent`.
        var more: [String: String] = [:]
    }

    static let rows = [
        Row(asked: [:], reason: nil), Row(asked: [:], sent: ["Cache-Control": "no-cache"], reason: nil),
        Row(asked: [:], sent: ["Cache-Control": "no-store"], reason: "its server forbids shared copies"),
        Row(asked: [:], sent: ["cache-control": "Private, max-age=0"], reason: "its server forbids shared copies"),
        Row(asked: [:], sent: ["Cache-Control": "max-age=1;private"], reason: "its server forbids shared copies"),
        Row(asked: [:], sent: ["Cache-Control": "extension=private"], reason: nil),
        Row(asked: ["Authorization": ""], reason: "it was requested with a password or token"),
        Row(
            asked: ["Authorization": ""],
            sent: ["Cache-Control": "public"],
            reason: "it was requested with a password or token"
        ),
        Row(asked: ["X-Api-Key": ""], reason: "it was requested with a password or token"),
        Row(asked: [":authority": "h", "Accept": "*/*"], reason: nil),
        Row(asked: ["Cookie": "a=b"], reason: "it was requested with cookies"),
        Row(asked: ["Cookie": ""], type: "text/html", reason: "it was requested with cookies"),
        Row(asked: ["Cookie": ""], sent: ["Cache-Control": "public"], reason: nil),
        Row(asked: ["Cookie": ""], sent: ["Cache-Control": "s-maxage=60"], reason: nil),
        Row(
            asked: ["Cookie": ""],
            sent: ["Cache-Control": "public", "Vary": "Accept, Cookie"],
            reason: "it depends on cookies (Vary: Accept, Cookie)"
        ),
        Row(asked: [:], sent: ["Cache-Control": "private\nmax-age=1"], reason: "its server forbids shared copies"),
        Row(
            asked: [:],
            sent: ["Cache-Control": "no-store"],
            reason: "its server forbids shared copies",
            more: ["cache-control": "max-age=1"]
        ),
        Row(
            asked: ["Cookie": ""],
            sent: ["Vary": "Cookie"],
            type: "text/css",
            reason: "it depends on cookies",
            more: ["Vary": "Accept-Encoding"]
        ),
        Row(asked: ["Cookie": ""], type: "text/css", reason: nil),
        Row(asked: ["Cookie": ""], sent: ["Vary": "cookie"], type: "text/css", reason: "it depends on cookies"),
        Row(asked: ["Cookie": ""], sent: ["Vary": "Accept-Encoding"], type: "text/javascript", reason: nil),
    ]

    @Test(
        "A recorded response that may be for one person is left out, unless --include-private is given",
        arguments: rows
    )
    func recorded(row: Row) async throws {
        let site = try SiteFolder()
        let bodies = [
            "application/json": "{}", "text/html": "<!doctype html>", "text/css": "", "text/javascript": "f()",
        ]
        let entry = HAREntry(
            url: "https://h/a",
            type: row.type,
            text: bodies[row.type],
            size: row.type == "text/css" ? "0" : nil,
            asked: row.asked.map { .init($0.key, $0.value) },
            sent: [row.sent, row.more].flatMap { $0.map { .init($0.key, $0.value) } }
        )
        let result = try await site.take(HAR.text(entry))
        #expect(try site.files.isEmpty == (row.reason != nil), "\(result)")
        if let reason = row.reason {
            #expect(result.output.contains(reason) && result.output.contains("--include-private takes it"), "\(result)")
        }
        let all = try await site.take(Data(HAR.text(entry).utf8), ["--include-private"])
        #expect(try site.files.count == 1, "\(all)")
        if row.reason != nil { #expect(all.output.contains("may be for one person: look at it"), "\(all)") }
    }

    @Test("add and update take no private answer, unless --include-private is given")
    func loaded() async throws {
        let site = try RemoteSite()
        let url = "\(site.url)/me.json"
        site.set("/me.json", .init(headers: ["Content-Type": "application/json"], body: Data("{}".utf8)))
        #expect(try await site.run("add", url).status == 0)
        let fields = ["Content-Type": "application/json", "Cache-Control": "no-store"]
        site.set("/me.json", .init(headers: fields, body: Data("{\"user\":\"anna\"}".utf8)))
        let update = try await site.run("update")
        #expect(update.status == 1 && update.errors.contains("--include-private takes it"), "\(update)")
        #expect(site.file("\(site.name)/me.json") == "{}")
        #expect(try await site.run("update", "--include-private").status == 0)
        #expect(site.file("\(site.name)/me.json") == "{\"user\":\"anna\"}")
        site.set("/you.json", .init(headers: fields, body: Data("{}".utf8)))
        #expect(try await site.run("add", "\(site.url)/you.json").status == 1)
        let added = try await site.run("add", "--include-private", "\(site.url)/you.json")
        #expect(added.status == 0 && added.output.contains("may be for one person: look at it"), "\(added)")
    }

    @Test("import prints no secret, and takes nothing that a secret identifies as one person's", arguments: [1, 2])
    func planted(seed: UInt64) async throws {
        let site = try SiteFolder()
        let planted = PlantedSecret.all(seed: seed)
        let entries = planted.map { each in
            let user = each.userInfo.map { $0 + "@" } ?? ""
            let url = "https://\(user)h/\(each.tail)".replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return HAREntry(url: url, text: "a { }", asked: each.fields.map { .init($0.key, "") })
        }
        for options in [["--dry-run"], []] {
            let result = try await site.take(Data(HAR.text(entries).utf8), options)
            // A file is named after the path of its URL.
            for each in planted where !each.tail.hasPrefix("/") {
                #expect(!each.isShown(in: Data((result.output + result.errors).utf8)), "\(each)")
            }
        }
        let record = site.bytes(".substitute.json") ?? Data()
        let names = ["password", "access_token", "jsessionid", "client_secret", "id_token", "Bearer", "eyJ", "pw"]
        for each in planted where names.contains(where: each.tail.prefix { $0 != "#" }.contains) {
            #expect(!each.isShown(in: record) && !site.manifest.contains(each.secret), "\(each)")
        }
    }

    @Test(
        "A token in a URL is not printed by import, even if the URL is malformed",
        arguments: ["h/a.css", "h/a b.css", "h/%zz", "h/a\\\\b", "exämple.com/a.css", "h:x/a.css"]
    )
    func token(place: String) async throws {
        let site = try SiteFolder()
        let entry = HAREntry(url: "https://\(place)?access_token=sesame")
        for options in [[], ["--dry-run"]] {
            let result = try await site.take(Data(HAR.text(entry).utf8), options)
            #expect(result.output.contains("access_token=masked") && !result.output.contains("sesame"), "\(result)")
        }
    }
}
#endif
