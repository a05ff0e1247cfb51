// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("A file that was edited here is never replaced without a word", .serialized)
struct EditedFileTests {
    private let site: RemoteSite
    private var file: String { "\(site.name)/a.css" }

    init() throws { site = try RemoteSite() }

    enum Knowledge: CaseIterable { case validators, copyOnly, nothing }

    enum Server: CaseIterable { case same, changed, gone, empty }

    struct Situation: Sendable {
        let knowledge: Knowledge
        let isEdited: Bool
        let server: Server

        var state: String {
            switch (server, knowledge, isEdited) {
            case (.gone, _, _): "gone"
            case (.empty, _, _): "empty"
            case (.same, _, false): "current"
            case (.same, .nothing, true): "conflict"
            case (.same, _, true): "edited"
            case (.changed, .nothing, _), (.changed, _, true): "conflict"
            case (.changed, _, false): "differs"
            }
        }
    }

    static let situations = Knowledge.allCases.flatMap { knowledge in
        [false, true].flatMap { isEdited in
            Server.allCases.map { Situation(knowledge: knowledge, isEdited: isEdited, server: $0) }
        }
    }

    private static let (loaded, edited, changed) = ("loaded { }", "loaded { edited: here }", "changed { on: server }")

    private func add(hasVersion: Bool) async throws {
        site.set("/a.css", Self.loaded, type: "text/css", hasVersion: hasVersion)
        #expect(try await site.run("add", "\(site.url)/a.css").status == 0)
    }

    private func forget() throws {
        try FileManager.default.removeItem(at: site.folder.url.appendingPathComponent(".substitute.json"))
    }

    private func add(_ situation: Situation) async throws {
        try await add(hasVersion: situation.knowledge == .validators)
        if situation.knowledge == .nothing { try forget() }
        if situation.isEdited { try site.folder.write(Self.edited, to: file) }
    }

    /// Returns the printed command that begins with these words, without the tool's name.
    private func command(_ words: String, in output: String) throws -> [String] {
        let line = try #require(output.split(separator: "\n").first { $0.contains(": substitute \(words) ") })
        return try #require(line.components(separatedBy: ": substitute ").last).components(separatedBy: " ")
    }

    @Test("update and its dry run tell and do the same, and add --replace refuses the same", arguments: Self.situations)
    func table(_ situation: Situation) async throws {
        try await add(situation)
        switch situation.server {
        case .same: break
        case .changed: site.set("/a.css", Self.changed, type: "text/css")
        case .gone: site.set("/a.css", .text("no", status: 404))
        case .empty: site.set("/a.css", "", type: "text/css", hasVersion: false)
        }
        let here = situation.isEdited ? Self.edited : Self.loaded
        let there = situation.server == .same ? Self.loaded : Self.changed
        let (state, before) = (situation.state, site.listing)
        let json = try await site.run("update", "--dry-run", "--format", "json")
        let isGood = ["current", "edited"].contains(state)
        #expect(json.status == (isGood ? 0 : 3) && json.output.contains("\"state\":\"\(state)\""), "\(json)")
        let outdated = try await site.run("update", "--dry-run")
        let isCurrent = state == "current"
        #expect(outdated.status == json.status && outdated.output.hasPrefix(isCurrent ? "1 " : state), "\(outdated)")

        for option in ["--discard-edits", "--keep-edits"] {
            let dry = try await site.run("update", "--dry-run", option)
            let isDecided = state == "conflict" || state == "edited" && option == "--discard-edits"
            let status: Int32 = isGood && !isDecided ? 0 : 3
            #expect(dry.output.contains("would ") == isDecided && dry.status == status, "\(dry)")
        }
        #expect(site.listing == before)
        // `add --replace` obeys the same rule.
        if !["current", "differs"].contains(state) {
            let refused = try await site.run("add", "--replace", "\(site.url)/a.css")
            #expect(refused.status == 1 && site.listing == before, "\(refused)")
            let isEmpty = refused.errors.contains("its server sends an empty file")
            #expect(isEmpty == (state == "empty"), "\(refused)")
            let isTold = refused.errors.contains(": substitute add --replace --discard-edits ")
            #expect(isTold == ["edited", "conflict"].contains(state), "\(refused)")
        }
        let update = try await site.run("update")
        let counts = [
            "current": "is up to date", "differs": "updated", "edited": "is edited here",
            "conflict": "is in conflict", "gone": "is gone", "empty": "is empty there",
        ]
        #expect(update.output.hasSuffix("\n1 file: 1 \(counts[state] ?? "")\n") || isCurrent, "\(update)")
        #expect(update.status == (isGood || state == "differs" ? 0 : 1))
        #expect(state != "conflict" || update.output == outdated.output)
        #expect(site.file(file) == (state == "differs" ? Self.changed : here))

        guard ["edited", "conflict"].contains(state) else { return }
        // The bytes are in the folder as before, and the command line says how to go on.
        let edits = site.listing
        if state == "conflict" {
            #expect(update.output.contains("here \(here.utf8.count) bytes, there \(there.utf8.count) bytes"))
            let keep = try command("update --keep-edits", in: update.output)
            #expect(await Tool.run(keep, in: site.folder.url).status == 0)
            #expect(site.file(file) == here)
            let kept = try await site.run("update", "--dry-run", "--format", "json")
            #expect(kept.output.contains("\"state\":\"edited\""))
            for (path, content) in edits { try site.folder.write(content, to: path) }
            if situation.knowledge == .nothing { try forget() }
        }
        let printed = state == "conflict" ? try command("update --discard-edits", in: update.output) : nil
        let discarded = await Tool.run(printed ?? ["update", "--discard-edits"], in: site.folder.url)
        #expect(discarded.status == 0 && site.file(file) == there, "\(discarded)")
        let copies = try #require(discarded.output.components(separatedBy: "The edited files are in ").last)
        let copy = URL(fileURLWithPath: String(copies.dropLast(2)))
        #expect(try String(contentsOf: copy.appendingPathComponent(file), encoding: .utf8) == here)
        try FileManager.default.removeItem(at: copy)
        #expect(try await site.run("update", "--dry-run").status == 0)
    }

    @Test("A change within the second of the first load is seen, if the server sends only Last-Modified")
    func sameSecond() async throws {
        let now = "Sun, 01 Nov 2026 10:00:00 GMT"
        let headers = ["Content-Type": "text/css", "Date": now, "Last-Modified": now]
        func serve(_ body: String) { site.set("/a.css", .init(headers: headers, body: Data(body.utf8))) }
        serve(Self.loaded)
        #expect(try await site.run("add", "\(site.url)/a.css").status == 0)
        serve(Self.changed)
        site.server?.forgetRequests()
        #expect(try await site.run("update", "--dry-run", "--format", "json").output.contains("\"state\":\"differs\""))
        #expect(site.server?.requests.map { $0.headers["if-modified-since"] } == [nil])
    }

    @Test("A file that is edited while the update loads is in conflict, and the others are updated")
    func meanwhile() async throws {
        try await add(hasVersion: false)
        site.set("/b.css", "b", type: "text/css")
        #expect(try await site.run("add", "\(site.url)/b.css").status == 0)
        site.set("/b.css", "new", type: "text/css")
        let (requests, folder, file) = (Counter(), site.folder, file)
        var response = LoopbackServer.Response.stream {
            // The stream ends at its second call.
            requests.increment()
            if requests.value == 1 { try? folder.write(Self.edited, to: file) }
            return requests.value % 2 == 1 ? Data(Self.changed.utf8) : nil
        }
        response.headers["Content-Type"] = "text/css"
        site.set("/a.css", response)
        let result = try await site.run("update")
        #expect(result.status == 1 && result.output.contains("it was edited here, and has changed"), "\(result)")
        #expect(site.file(file) == Self.edited && site.file("\(site.name)/b.css") == "new")
    }

    @Test("The record of an earlier version is read, and has one entry for all spellings of a URL")
    func oldRecord() async throws {
        let address = String(site.url.dropFirst("http:".count))
        let manifest = "{ \"\(site.url)/A%2dB.css\": \"a.css\", \"\(site.url)/b.css\": \"b.css\" }"
        let copy = "10-1ddef51dab66deca"
        let record = """
            {
              "\(site.url)/A-B.css" : { "copy" : "\(copy)", "etag" : "\\"1\\"" },
              "\(site.url)/b.css" : { "etag" : "\\"1\\"" },
              "\(address)/c.css" : { "copy" : "\(copy)", "lastModified" : "Sun, 01 Nov 2026 10:00:00 GMT" }
            }
            """
        for (path, text) in [
            ("a.css", Self.loaded), ("b.css", Self.loaded), ("manifest.json", manifest), (".substitute.json", record),
        ] { try site.folder.write(text, to: path) }
        for path in ["/A%2dB.css", "/b.css"] { site.set(path, Self.changed, type: "text/css") }
        let result = try await site.run("update", "--dry-run")
        for text in [
            "differs   \(site.url)/A%2dB.css", "conflict  \(site.url)/b.css",
            "it is not in .substitute.json, so it counts as edited here",
        ] { #expect(result.output.contains(text), "\(result)") }
    }

    @Test("A record that cannot be read is not replaced", arguments: ["<<<<<<< HEAD\n{}", "[1]", "folder/"])
    func unreadableRecord(text: String) async throws {
        try await add(hasVersion: true)
        try forget()
        try site.folder.write(text, to: text.hasSuffix("/") ? ".substitute.json/a" : ".substitute.json")
        let before = site.listing
        for words in [["update", "--dry-run"], ["update"], ["add", "--replace", "\(site.url)/a.css"]] {
            let result = await Tool.run(words, in: site.folder.url)
            #expect(result.status == 1 && site.listing == before, "\(result)")
            #expect(result.errors.contains("the record of the loaded files, cannot be read"), "\(result)")
            #expect(result.errors.contains("restore it, or remove it"), "\(result)")
        }
    }

    @Test("A file below a folder, its index and a linked file are each known by their entry")
    func places() async throws {
        try site.folder.write("{ \"\(site.url)/d/\": \"d/\" }", to: "manifest.json")
        for name in ["d/index.html", "d/sub/index.html", "d/a.css", "linked.css"] {
            try site.folder.write("1", to: name)
        }
        let manager = FileManager.default
        let link = site.folder.url.appendingPathComponent("d/b.css").path
        try manager.createSymbolicLink(atPath: link, withDestinationPath: "../linked.css")
        let paths = ["/d/", "/d/sub/", "/d/a.css", "/d/b.css"]
        func serve(_ text: String) {
            for path in paths + ["/d/index.html", "/d/sub/index.html"] {
                site.set(path, text, type: path.hasSuffix("css") ? "text/css" : "text/html", hasVersion: false)
            }
        }
        serve("2")
        for path in paths {
            #expect(try await site.run("add", "--replace", "\(site.url)\(path)").status == 1, "\(path)")
            let result = try await site.run("add", "--replace", "--discard-edits", "\(site.url)\(path)")
            #expect(result.status == 0, "\(result)")
        }
        #expect(site.file("linked.css") == "2")
        serve("3")
        for path in ["linked.css", "d/index.html"] { try site.folder.write("edited", to: path) }
        let result = try await site.run("update")
        #expect(result.output.hasSuffix("4 files: 2 updated, 2 are in conflict\n"), "\(result)")
        let files = ["linked.css", "d/index.html", "d/a.css", "d/sub/index.html"].map(site.file)
        #expect(files == ["edited", "edited", "3", "3"])
        #expect(try manager.destinationOfSymbolicLink(atPath: link) == "../linked.css")
    }

    @Test("A file of several entries is not replaced")
    func shared() async throws {
        try await add(hasVersion: true)
        site.set("/b.css", Self.loaded, type: "text/css")
        let manifest = "{ \"\(site.url)/a.css\": \"\(file)\", \"\(site.url)/b.css\": \"\(file)\" }"
        try site.folder.write(manifest, to: "manifest.json")
        site.set("/a.css", Self.changed, type: "text/css")
        // Each of the URLs is checked.
        let checked = try await site.run("update", "--dry-run")
        #expect(checked.status == 3 && checked.output.contains("differs  \(site.url)/a.css"), "\(checked)")
        for words in [["update"], ["update", "--discard-edits"], ["add", "--replace", "\(site.url)/a.css"]] {
            let result = await Tool.run(words, in: site.folder.url)
            let output = result.output + result.errors
            #expect(result.status == 1 && output.contains("several entries name its file"), "\(result)")
            #expect(site.file(file) == Self.loaded && site.file("manifest.json") == manifest)
        }
    }

    @Test("update takes URLs, and says if none has an entry")
    func named() async throws {
        try await add(hasVersion: true)
        site.set("/b.css", "b", type: "text/css")
        #expect(try await site.run("add", "\(site.url)/b.css").status == 0)
        for name in ["a", "b"] { site.set("/\(name).css", Self.changed, type: "text/css") }
        #expect(try await site.run("update", "\(site.url)/c.css").status == 2)
        let result = try await site.run("update", "manifest.json", "\(site.url)/b.css")
        #expect(result.status == 0 && result.output.hasSuffix("1 file: 1 updated\n"), "\(result)")
        #expect(site.file(file) == Self.loaded)
        #expect(try await site.run("update", "--keep-edits", "--discard-edits").status == 2)
    }
}
#endif
