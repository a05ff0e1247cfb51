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
    struct Row: Sendable {
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
        /// A part of the line that is printed about a body that is taken.
        ///
        /// If it is nil, nothing is printed, and `check` has nothing to say about the file, wherever it comes from.
        var remark: String?

        init(_ path: String, _ type: String?, _ body: some Sequence<UInt8>, _ reason: String? = nil) {
            (self.path, self.type, self.body, self.reason) = (path, type, Data(body), reason)
        }

        func with(_ change: (inout Row) -> Void) -> Row {
            var row = self
            change(&row)
            return row
        }
    }

    private static let page = Data("<!doctype html><title>Sign in</title><form>".utf8)
    private static let latin = Data("/* caf\u{E9} */ a { }\n".unicodeScalars.map { UInt8($0.value) })

    private static let pages: [Row] =
        // A sign-in page with status 200, in place of each kind of text.
        ["css", "js", "mjs", "json", "xml", "txt", "webmanifest", "map", "vtt", "svg", "csv", "yaml"].map { ending in
            Row("/a.\(ending)", "text/html; charset=utf-8", page, "it is a web page, not ")
        }
        // The same page under the type of the file.
        + [("css", "text/css"), ("js", "text/javascript"), ("json", "application/json"), ("txt", "text/plain")].map {
            Row("/b.\($0)", $1, page, "it is a web page, not ")
        }

    private static let answers: [Row] = [
        Row("/i.png", "application/json", #"{"error":"invalid_token"}"#.utf8, "it is text, not image/png"),
        Row("/j.json", "text/plain", "Please sign in.".utf8, "it is text, not application/json"),
        Row("/k.xml", "text/plain", "Please sign in.".utf8, "it is text, not application/xml"),
        Row("/l.vtt", "text/vtt", "Please sign in.".utf8, "it does not begin with \"WEBVTT\""),
        Row("/m.css", "text/css", "<div>Please sign in</div>".utf8, "it begins with \"<div\""),
        // Data that resembles an error, but is none.
        Row("/n.json", "application/json", #"{"status":"ok","message":"hello","code":0}"#.utf8),
        Row("/o.json", "application/json", #"{"error":null,"data":{"a":1}}"#.utf8),
        Row("/q.txt", "text/plain", "Log in".utf8), Row("/r.js", "text/javascript", "{}".utf8),
        Row("/s.xml", "application/xml", "<?xml version=\"1.0\"?><feed/>".utf8), Row("/t.html", "text/html", page),
        Row("/x.css", "text/css", [0x1F, 0x8B, 8, 0, 0], "it is still compressed"),
        // Empty files are files, but no empty pictures.
        Row("/empty.css", "text/css", []), Row("/empty.js", "text/javascript", []),
        Row("/empty.txt", "text/plain", []), Row("/empty.png", "image/png", [], "it is empty"),
        // Answers without a type.
        Row("/page", nil, page).with { $0.file = "/page.html" },
        Row("/tag", nil, " \n<DIV>a</DIV>".utf8).with { $0.file = "/tag.html" },
        Row("/note", nil, "just words".utf8).with { $0.file = "/note.txt" },
        Row("/picture", nil, HAR.png()).with { $0.file = "/picture.png" },
        Row("/bytes", nil, [1, 2, 3]).with { $0.file = "/bytes.bin" }, Row("/own.css", nil, "a { }".utf8),
        // Encodings.
        Row("/latin.css", "text/css", latin).with { $0.remark = "its encoding is not known" },
        Row("/font.woff2", "binary/octet-stream", "wOF2\0\u{1}\0\0".utf8).with { $0.entryType = $0.type },
        Row("/said.css", "text/css; charset=iso-8859-1", latin).with { $0.entryType = $0.type },
        Row("/mark.css", "text/css", "\u{FEFF}a::after { content: \"é\" }".utf8),
        Row("/ascii.html", "text/html", "<!doctype html><meta charset=\"iso-8859-1\">a".utf8),
        Row("/utf8.js", "application/javascript; charset=UTF-8", "f('é')".utf8),
    ]

    /// Answers to URLs that expire.
    private static let expiring: [Row] = [
        ("X-Amz-Expires", "?X-Amz-Expires=900&X-Amz-Signature=0a1b2c"),
        ("se", "?se=2026-12-01T00%3A00%3A00Z&sig=abc"), ("hdnea", "?hdnea=exp=1795000000~acl=/*~hmac=0a1b"),
    ].map { name, query in
        Row("/\(name).css", "text/css", "a { }".utf8).with {
            ($0.query, $0.remark) = (query, "its URL expires (\"\(name)\")")
        }
    }

    static let rows = pages + answers + expiring

    @Test("The decision is the same for add, import and update, and check agrees with it", arguments: rows)
    func decision(row: Row) async throws {
        let site = try RemoteSite()
        let fields = row.type.map { ["Content-Type": $0] } ?? [:]
        site.set(row.path, LoopbackServer.Response(headers: fields, body: row.body))
        let url = site.url + row.path + row.query
        let file = site.name + (row.file ?? row.path)

        let value = row.entryType.map { "{ \"file\": \"\(file)\", \"type\": \"\($0)\" }" } ?? "\"\(file)\""
        let manifest = "{\n  \"\(url)\": \(value)\n}\n"
        func expect(_ result: Program.Result, status: Int32) {
            let text = result.output + result.errors
            let isTold = (row.reason ?? row.remark).map { text.contains($0) } != false
            #expect(result.status == status && isTold, "\(result)")
            #expect(site.file("manifest.json") == (row.reason == nil ? manifest : "{\n}\n"), "\(result)")
            #expect(row.reason != nil || site.listing[file] == row.body)
        }

        let added = try await site.run("add", url)
        expect(added, status: row.reason == nil ? 0 : 1)
        if row.remark == nil, row.reason == nil, !row.body.isEmpty {
            let check = try await site.run("check", "--strict")
            #expect(check.status == 0, "\(check)")
        }

        // The same answer in a recording.
        try site.folder.write("{\n}\n", to: "manifest.json")
        if row.reason == nil { try FileManager.default.removeItem(at: site.folder.url.appendingPathComponent(file)) }
        let (body, sent) = (row.body.base64EncodedString(), fields.map { HAREntry.Field($0.key, $0.value) })
        var entry = HAREntry(url: url, type: row.type, text: body, encoding: "base64", sent: sent)
        entry.size = String(row.body.count)
        try site.folder.write(HAR.text(entry), to: "page.har")
        expect(try await site.run("add", "manifest.json", "page.har"), status: 0)

        // The same answer in place of an older one.
        let old = row.body.isEmpty ? Data() : Data("old".utf8)
        try site.folder.write(manifest, to: "manifest.json")
        try site.folder.write(old, to: file)
        // The tool has written the older file.
        var hash = FNV1a()
        hash.combine(old)
        let record = "{\"\(url)\":{\"copy\":\"\(old.count)-\(hash)\",\"etag\":\"old\"}}"
        try site.folder.write(record, to: ".substitute.json")
        let replaced = try await site.run("add", "--replace", url)
        #expect(replaced.status == (row.reason == nil ? 0 : 1), "\(replaced)")
        #expect(row.reason.map { replaced.errors.contains($0) } != false, "\(replaced)")
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
        let message = "it is in windows-1252, and its entry says utf-8; write \"type\": "
        #expect(result.status == 1 && result.output.contains(message), "\(result)")
        #expect(site.file("\(site.name)/a.css") == "a { }")
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
