// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("A failed run leaves the manifest and its folder unchanged", .serialized)
struct FailedRunTests {
    private let site: SiteFolder
    private static let second = HAREntry(url: "https://h/a.css", sent: [.init("ETag", "\"1\"")])
    private static let recording = HAR.text(HAREntry(url: "https://g/first.css"), second)

    init() throws {
        site = try SiteFolder("{\n  \"https://x/a\": \"x.txt\"\n}\n")
        try site.folder.write("x\n", to: "x.txt")
    }

    private func expectNothing(
        _ result: Program.Result,
        _ before: [String: Data],
        _ message: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(result.status == 1 && result.output == "", "\(result)", sourceLocation: sourceLocation)
        // Errors of the manifest itself come first.
        let isTold = "\n\(result.errors)".contains("\nsubstitute add: ") && result.errors.contains(message)
        #expect(isTold, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(try site.listing == before, sourceLocation: sourceLocation)
    }

    @Test("A manifest with an error is refused")
    func invalid() async throws {
        let texts = ["{ \"https://x/a\": \"missing.txt\" }", "{\n<<<<<<< HEAD\n}"].map { Data($0.utf8) }
        for manifest in texts + [Data([0xFF, 0xFE, 0x7B, 0, 0x7D, 0])] {
            try site.folder.write(manifest, to: "manifest.json")
            let before = try site.listing
            let result = try await site.take(Self.recording)
            try expectNothing(result, before, "\nsubstitute add: the manifest has errors; fix them first\n")
        }
    }

    @Test("A run keeps its folder locked from beginning to end")
    func lockedByARun() async throws {
        do {
            let staging = try StagingFolder(in: site.url)
            #expect(throws: ToolError.self) { try StagingFolder(in: site.url) }
            _ = try staging.write(Data("made".utf8))
            let before = try site.listing
            try expectNothing(await site.take(Self.recording), before, "another run of substitute is changing ")
        }
        #expect(try await site.take(Self.recording).status == 0)
    }

    @Test("A file, link or another user's folder that is called .substitute is left alone")
    func occupied() async throws {
        let outside = try TemporaryFolder()
        try outside.write("precious", to: "file")
        let path = site.url.appendingPathComponent(".substitute").path
        for target in [nil, outside.url.path, "none", "."] {
            if let target {
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            } else {
                try site.folder.write("a file", to: ".substitute")
            }
            let before = try site.listing
            try expectNothing(await site.take(Self.recording), before, "nothing can be written to ")
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(try SiteFolder.listing(of: outside.url) == ["file": Data("precious".utf8)])
        // Only root can give a folder to another user.
        guard geteuid() == 0 else { return }
        #expect(mkdir(path, 0o777) == 0 && chown(path, 1, 1) == 0)
        let before = try site.listing
        try expectNothing(await site.take(Self.recording), before, "another user made ")
    }

    // MARK: - Links

    @Test("Nothing is written through a symbolic link, in or out of the folder")
    func links() async throws {
        let outside = try TemporaryFolder()
        try outside.write("old", to: "a.css")
        let manager = FileManager.default
        try manager.createDirectory(at: site.url.appendingPathComponent("k"), withIntermediateDirectories: false)
        let file = outside.url.appendingPathComponent("a.css").path
        for (path, target) in [
            ("h", outside.url.path), ("k/css", outside.url.path), ("k/a.css", file), ("k/none.css", "nowhere"),
            ("l", "."),
        ] {
            let link = site.url.appendingPathComponent(path).path
            try manager.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        let before = try site.listing
        let urls = ["h/a.css", "k/css/a.css", "k/a.css", "k/none.css", "l/x.css"].map { "https://\($0)" }
        let result = try await site.take(urls.map { HAREntry(url: $0, text: $0) })
        #expect(result.status == 0, "\(result.errors)")
        let taken = try site.entries
        for url in urls { #expect(site.bytes(try #require(taken[url])) == Data(url.utf8)) }
        let after = try site.listing
        for (path, content) in before where path != "manifest.json" { #expect(after[path] == content, "\(path)") }
        #expect(try SiteFolder.listing(of: outside.url) == ["a.css": Data("old".utf8)])
        #expect(try await site.check().status == 0)
    }

    @Test("A path through a symbolic link out of the folder is refused")
    func namedLink() throws {
        let outside = try TemporaryFolder()
        let link = site.url.appendingPathComponent("h")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside.url)
        let before = try site.listing
        let error = try failure { change, staging in
            change.schedule(try staging.write(Data("1".utf8)), at: "g/first.css")
            change.schedule(try staging.write(Data("2".utf8)), at: "h/a.css")
        }
        #expect(error.contains("\"h/a.css\" would lie outside the manifest's folder, through a symbolic link"))
        #expect(try site.listing == before && SiteFolder.listing(of: outside.url).isEmpty)
    }

    // MARK: - Changes that cannot be finished

    /// Returns the error message of changes that fail.
    private func failure(_ prepare: (inout FolderChange, StagingFolder) throws -> Void) throws -> String {
        let manifest = site.url.appendingPathComponent("manifest.json")
        let text = try Data(contentsOf: manifest)
        var change = FolderChange(manifest, name: "manifest.json", original: text, date: Date())
        let staging = try StagingFolder(in: site.url)
        try prepare(&change, staging)
        return try #require(throws: ToolError.self) { try change.commit(in: staging) }.message
    }

    @Test("If the new manifest would have errors, old files are restored and new folders removed")
    func wouldHaveErrors() throws {
        try site.folder.write("old\n", to: "h/a.css")
        #expect(chmod(site.url.appendingPathComponent("h/a.css").path, 0o600) == 0)
        let before = try site.listing
        let error = try failure { change, staging in
            for (path, old) in [("h/a.css", "old\n"), ("x.txt", "x\n")] {
                let replaced = Fingerprint(Data(old.utf8))
                change.schedule(try staging.write(Data("new".utf8)), at: path, replacing: replaced)
            }
            change.schedule(try staging.write(Data("new".utf8)), at: "new/deep/er/a.css")
            change.text = Data("{ \"https://x/b\": \"missing.txt\" }".utf8)
        }
        #expect(error.hasPrefix("the manifest would have errors, so nothing was changed:\nmanifest.json:1:18: "))
        #expect(try site.listing == before)
        let file = site.url.appendingPathComponent("h/a.css").path
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }

    @Test(
        "A manifest or a record that changed during the run is not overwritten",
        arguments: ["manifest.json", ".substitute.json"]
    )
    func changedMeanwhile(name: String) throws {
        let error = try failure { change, staging in
            var record = try RemoteRecord(in: site.url)
            record.set(RemoteVersion(copy: Fingerprint(Data())), for: "https://h/a.css")
            change.record = record
            change.text = Data("{ \"https://h/a.css\": \"h/a.css\" }".utf8)
            change.schedule(try staging.write(Data("a { }\n".utf8)), at: "h/a.css")
            try site.folder.write("{ }", to: name)
        }
        #expect(error.hasSuffix("\(name)\" was changed in the meantime, so nothing was done; run the command again"))
        #expect(site.bytes(name) == Data("{ }".utf8) && site.bytes("h/a.css") == nil)
    }

    @Test("A manifest that changed while files were added is not overwritten")
    func changedWhileAdding() throws {
        let manifest = try Tool.manifest(site.url.appendingPathComponent("manifest.json").path)
        var addition = try Addition(to: manifest, Tool.silent())
        let staging = try StagingFolder(in: site.url)
        let resource = Resource(
            key: try URLPattern("https://h/a.css"),
            file: try staging.write(Data("a { }\n".utf8)),
            type: MediaType("text/css"),
            source: site.url,
            version: nil
        )
        _ = addition.add(resource)
        try site.folder.write("{ \"https://x/mine\": \"x.txt\" }", to: "manifest.json")
        let error = try #require(throws: ToolError.self) { try addition.commit(in: staging) }
        #expect(error.message.hasSuffix("was changed in the meantime, so nothing was done; run the command again"))
        #expect(site.bytes("manifest.json") == Data("{ \"https://x/mine\": \"x.txt\" }".utf8))
    }

    @Test(
        "A file that changed, appeared or vanished during the run is left as it is, and so is everything else",
        arguments: [("edited\n", "h/a.css"), ("mine\n", "h/b.css"), (nil, "h/a.css")] as [(String?, String)]
    )
    func fileChangedMeanwhile(content: String?, path: String) throws {
        try site.folder.write("old\n", to: "h/a.css")
        let (before, file) = (try site.listing, site.url.appendingPathComponent(path))
        let (old, text) = (Fingerprint(Data("old\n".utf8)), Fingerprint(Data("x\n".utf8)))
        var after: [String: Data] = [:]
        let error = try failure { change, staging in
            change.schedule(try staging.write(Data("1".utf8)), at: "x.txt", replacing: text)
            change.schedule(try staging.write(Data("2".utf8)), at: path, replacing: path == "h/a.css" ? old : nil)
            change.schedule(try staging.write(Data("3".utf8)), at: "h/new.css")
            try? FileManager.default.removeItem(at: file)
            if let content { try site.folder.write(content, to: path) }
            after = try site.listing.filter { !$0.key.hasPrefix(".substitute/") }
        }
        #expect(error == "\"\(path)\" was changed in the meantime, so nothing was done; run the command again")
        #expect(try site.listing == after.merging(before.filter { after[$0.key] != nil && $0.key != path }) { $1 })
    }
}
#endif
