// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)

import Foundation
import SubstitutionRules
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("What comes in", .serialized)
struct IncomingBodyTests {
    /// A server's answer, and the decision about it.
    struct Row: Sendable, CustomTestStringConvertible {
        let path: String
        var query = ""
        /// The answer's `Content-Type`; nil for none.
        var type: String?
        let body: Data
        /// A part of the reason for which the body is left out; nil if it is taken.
        var reason: String?
        /// The value of the entry's `type`; nil if the entry needs none.
        var entryType: String?
        /// The file's name below the server's folder; nil for the URL's own path.
        var file: String?
        /// A part of the line that is printed about a body that is taken; nil if nothing is printed.
        var remark: String?
        /// True if `check` has nothing to say about the file, wherever it comes from.
        var isClean = true

        init(_ path: String, _ type: String?, _ body: String, _ reason: String? = nil) {
            self.init(path, type, Data(body.utf8), reason)
        }

        init(_ path: String, _ type: String?, _ body: Data, _ reason: String? = nil) {
            (self.path, self.type, self.body, self.reason) = (path, type, body, reason)
        }

        func with(_ change: (inout Row) -> Void) -> Row {
            var row = self
            change(&row)
            return row
        }

        var testDescription: String { "\(path) \(type ?? "-") \(String(decoding: body.prefix(40), as: UTF8.self))" }
    }

    private static let page = "<!doctype html><title>Sign in</title><form>"
    private static let latin = Data("/* caf\u{E9} */ a { }\n".unicodeScalars.map { UInt8($0.value) })

    static let rows: [Row] =
        // A sign-in page with status 200, in place of each kind of text.
        ["css", "js", "mjs", "json", "xml", "txt", "webmanifest", "map", "vtt", "svg", "csv", "yaml"].map { ending in
            Row("/a.\(ending)", "text/html; charset=utf-8", page, "it is a web page, not ")
        }
        // The same page under the type of the file.
        + [("css", "text/css"), ("js", "text/javascript"), ("json", "application/json"), ("txt", "text/plain")].map {
            Row("/b.\($0)", $1, page, "it is a web page, not ")
        }
        + [
            Row("/i.png", "application/json", #"{"error":"invalid_token"}"#, "it is text, not image/png"),
            Row("/j.json", "text/plain", "Please sign in.", "it is text, not application/json"),
            Row("/k.xml", "text/plain", "Please sign in.", "it is text, not application/xml"),
            Row("/l.vtt", "text/vtt", "Please sign in.", "it does not begin with \"WEBVTT\""),
            Row("/m.css", "text/css", "<div>Please sign in</div>", "it begins with \"<div\""),
            // Data that resembles an error, but is none.
            Row("/n.json", "application/json", #"{"status":"ok","message":"hello","code":0}"#),
            Row("/o.json", "application/json", #"{"error":null,"data":{"a":1}}"#),
            Row("/q.txt", "text/plain", "Log in"),
            Row("/r.js", "text/javascript", "{}"),
            Row("/s.xml", "application/xml", "<?xml version=\"1.0\"?><feed/>"),
            Row("/t.html", "text/html", page),
            Row("/x.css", "text/css", Data([0x1F, 0x8B, 8, 0, 0]), "it is still compressed"),
            // Empty files are files, but no empty pictures.
            Row("/empty.css", "text/css", ""), Row("/empty.js", "text/javascript", ""),
            Row("/empty.txt", "text/plain", ""), Row("/empty.png", "image/png", "", "it is empty"),
            // Answers without a type.
            Row("/page", nil, page).with { $0.file = "/page.html" },
            Row("/tag", nil, " \n<DIV>a</DIV>").with { $0.file = "/tag.html" },
            Row("/note", nil, "just words").with { $0.file = "/note.txt" },
            Row("/picture", nil, HAR.png()).with { $0.file = "/picture.png" },
            Row("/bytes", nil, Data([1, 2, 3])).with { $0.file = "/bytes.bin" },
            Row("/own.css", nil, "a { }"),
            // Encodings.
            Row("/latin.css", "text/css", latin).with {
                ($0.isClean, $0.remark) = (false, "its encoding is not known")
            },
            Row("/font.woff2", "binary/octet-stream", Data("wOF2\0\u{1}\0\0".utf8)).with {
                $0.entryType = "binary/octet-stream"
            },
            Row("/said.css", "text/css; charset=iso-8859-1", latin).with {
                $0.entryType = "text/css; charset=iso-8859-1"
            },
            Row("/mark.css", "text/css", "\u{FEFF}a::after { content: \"é\" }"),
            Row("/ascii.html", "text/html", "<!doctype html><meta charset=\"iso-8859-1\">a"),
            // URLs that expire.
            Row("/signed.css", "text/css", "a { }").with {
                ($0.query, $0.isClean) = ("?X-Amz-Expires=900&X-Amz-Signature=0a1b2c", false)
                $0.remark = "its URL expires (\"X-Amz-Expires\")"
            },
            Row("/azure.css", "text/css", "a { }").with {
                ($0.query, $0.isClean) = ("?se=2026-12-01T00%3A00%3A00Z&sig=abc", false)
                $0.remark = "its URL expires (\"se\")"
            },
            Row("/akamai.css", "text/css", "a { }").with {
                ($0.query, $0.isClean) = ("?hdnea=exp=1795000000~acl=/*~hmac=0a1b", false)
                $0.remark = "its URL expires (\"hdnea\")"
            },
            Row("/utf8.js", "application/javascript; charset=UTF-8", "f('é')"),
        ]

    @Test("The decision is the same for add, import and update, and check agrees with it", arguments: rows)
    func decision(row: Row) async throws {
        let site = try RemoteSite()
        let fields = row.type.map { ["Content-Type": $0] } ?? [:]
        site.set(row.path, LoopbackServer.Response(headers: fields, body: row.body))
        let url = site.url + row.path + row.query
        let file = site.name + (row.file ?? row.path)

        let added = try await site.run("add", url)
        try expect(row, added, site, url, file, status: row.reason == nil ? 0 : 1)
        if row.isClean, row.reason == nil, !row.body.isEmpty {
            let check = try await site.run("check", "--strict")
            #expect(check.status == 0, "\(check)")
        }

        // The same answer in a recording.
        try site.folder.write("{\n}\n", to: "manifest.json")
        if row.reason == nil { try FileManager.default.removeItem(at: site.folder.url.appendingPathComponent(file)) }
        let entry = HAREntry(
            url: url,
            type: row.type,
            text: row.body.base64EncodedString(),
            encoding: "base64",
            size: String(row.body.count),
            sent: fields.map { HAREntry.Field($0.key, $0.value) }
        )
        try site.folder.write(HAR.text(entry), to: "page.har")
        let imported = try await site.run("add", "manifest.json", "page.har")
        try expect(row, imported, site, url, file, status: 0)

        // The same answer in place of an older one.
        let old = row.body.isEmpty ? Data() : Data("old".utf8)
        let value = row.entryType.map { "{ \"file\": \"\(file)\", \"type\": \"\($0)\" }" } ?? "\"\(file)\""
        try site.folder.write("{\n  \"\(url)\": \(value)\n}\n", to: "manifest.json")
        try site.folder.write(old, to: file)
        // The tool has written the older file.
        var hash = FNV1a()
        hash.combine(old)
        let record = "{\"\(url)\":{\"copy\":\"\(old.count)-\(hash)\",\"etag\":\"old\"}}"
        try site.folder.write(record, to: ".substitute.json")
        let replaced = try await site.run("add", "--replace", url)
        #expect(replaced.status == (row.reason == nil ? 0 : 1), "\(replaced)")
        if let reason = row.reason { #expect(replaced.errors.contains(reason), "\(replaced)") }
        #expect(site.listing[file] == (row.reason == nil ? row.body : old))
    }

    @Test("A new version in another encoding than the entry names is refused with the line to write")
    func otherEncoding() async throws {
        let site = try RemoteSite()
        site.set("/a.css", .init(headers: ["Content-Type": "text/css"], body: Data("a { }".utf8)))
        #expect(try await site.run("add", "\(site.url)/a.css").status == 0)
        let type = "text/css; charset=windows-1252"
        site.set("/a.css", .init(headers: ["Content-Type": type], body: Self.latin))
        let result = try await site.run("update")
        #expect(result.status == 1, "\(result)")
        #expect(
            result.output.contains("it is in windows-1252, and its entry says utf-8; write \"type\": "),
            "\(result)"
        )
        #expect(site.file("\(site.name)/a.css") == "a { }")
    }

    private func expect(
        _ row: Row,
        _ result: Program.Result,
        _ site: RemoteSite,
        _ url: String,
        _ file: String,
        status: Int32
    ) throws {
        #expect(result.status == status, "\(result)")
        if let reason = row.reason {
            #expect((result.output + result.errors).contains(reason), "\(result)")
            #expect(site.file("manifest.json") == "{\n}\n", "\(result)")
        } else {
            let value = row.entryType.map { "{ \"file\": \"\(file)\", \"type\": \"\($0)\" }" } ?? "\"\(file)\""
            #expect(site.file("manifest.json") == "{\n  \"\(url)\": \(value)\n}\n", "\(result)")
            #expect(site.listing[file] == row.body)
        }
        if let remark = row.remark { #expect(result.output.contains(remark), "\(result)") }
    }

    @Test("check warns about each file that would be left out", arguments: rows.filter { $0.reason != nil })
    func checked(row: Row) async throws {
        let site = try SiteFolder()
        let file = String(row.path.dropFirst())
        try site.folder.write(row.body, to: file)
        try site.folder.write("{ \"https://h.test\(row.path)\": \"\(file)\" }", to: "manifest.json")
        let result = try await site.check()
        #expect((result.output + result.errors).contains("warning"), "\(result)")
    }
}
#endif
