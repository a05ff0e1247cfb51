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
    private static let recording = HAR.text(
        HAREntry(url: "https://g/first.css"),
        HAREntry(url: "https://h/a.css", sent: [.init("ETag", "\"1\"")])
    )

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
        #expect(result.status == 1, "\(result.output)", sourceLocation: sourceLocation)
        #expect(result.output == "", sourceLocation: sourceLocation)
        // Errors of the manifest itself come first.
        let isTold = "\n\(result.errors)".contains("\nsubstitute add: ")
        #expect(isTold, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(result.errors.contains(message), "\(result.errors)", sourceLocation: sourceLocation)
        #expect(try site.listing == before, sourceLocation: sourceLocation)
    }

    @Test(
        "A manifest with an error is refused",
        arguments: [
            Data("{ \"https://x/a\": \"missing.txt\" }".utf8), Data("{\n<<<<<<< HEAD\n}".utf8),
            Data([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]),
        ]
    )
    func invalid(manifest: Data) async throws {
        try site.folder.write(manifest, to: "manifest.json")
        let before = try site.listing
        try expectNothing(
            await site.take(Self.recording),
            before,
            "\nsubstitute add: the manifest has errors; fix them first\n"
        )
    }

    // MARK: - Missing permissions

    private static let asUser = ConditionTrait.enabled(
        if: getuid() != 0 || Program.find("setpriv") != nil,
        "the superuser may write everywhere"
    )

    /// Runs the tool as an ordinary user, because the superuser can write everywhere.
    private func takeAsUser() async throws -> Program.Result {
        let file = site.url.appendingPathComponent("page.har").path
        let arguments = ["add", "manifest.json", file]
        if getuid() != 0 { return await Tool.run(arguments, in: site.url) }
        return try await Program.run(
            #require(Program.find("setpriv")),
            ["--reuid=65534", "--regid=65534", "--clear-groups", Tool.url.path] + arguments,
            in: site.url
        )
    }

    @Test("A subfolder without write permission is reported", asUser, arguments: ["h", "h/deep"])
    func readOnlyInside(path: String) async throws {
        try site.folder.write(
            HAR.text(HAREntry(url: "https://g/first.css"), HAREntry(url: "https://h/deep/est/a.css")),
            to: "page.har"
        )
        try site.folder.write("old\n", to: "\(path)/old.css")
        let before = try site.listing
        let folder = site.url.appendingPathComponent(path).path
        #expect(chmod(site.url.path, 0o777) == 0)
        #expect(chmod(folder, 0o555) == 0)
        defer { chmod(folder, 0o755) }
        try expectNothing(await takeAsUser(), before, "Permission denied")
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
        try site.folder.write("a file", to: ".substitute")
        var before = try site.listing
        try expectNothing(await site.take(Self.recording), before, "nothing can be written to ")
        try FileManager.default.removeItem(atPath: path)
        for target in [outside.url.path, "none", "."] {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            before = try site.listing
            try expectNothing(await site.take(Self.recording), before, "nothing can be written to ")
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(try SiteFolder.listing(of: outside.url) == ["file": Data("precious".utf8)])
        // Only root can give a folder to another user.
        guard geteuid() == 0 else { return }
        #expect(mkdir(path, 0o777) == 0 && chown(path, 1, 1) == 0)
        before = try site.listing
        try expectNothing(await site.take(Self.recording), before, "another user made ")
    }

    @Test("The next run removes the files that a killed run left")
    func leftover() async throws {
        try site.folder.write("left", to: ".substitute/7/deep")
        #expect(try await site.take(Self.recording).status == 0)
        #expect(try site.files == ["x.txt", "g/first.css", "h/a.css"])
        #expect(try !site.listing.keys.contains { $0.hasPrefix(".substitute/") })
    }

    // MARK: - Links

    @Test("Nothing is written through a symbolic link, in or out of the folder")
    func links() async throws {
        let outside = try TemporaryFolder()
        try outside.write("old", to: "a.css")
        let manager = FileManager.default
        func link(_ path: String, _ target: String) throws {
            try manager.createSymbolicLink(
                atPath: site.url.appendingPathComponent(path).path,
                withDestinationPath: target
            )
        }
        try manager.createDirectory(at: site.url.appendingPathComponent("k"), withIntermediateDirectories: false)
        try link("h", outside.url.path)
        try link("k/css", outside.url.path)
        try link("k/a.css", outside.url.appendingPathComponent("a.css").path)
        try link("k/none.css", "nowhere")
        try link("l", ".")
        let before = try site.listing
        let urls = [
            "https://h/a.css", "https://k/css/a.css", "https://k/a.css", "https://k/none.css", "https://l/x.css",
        ]
        let result = try await site.take(HAR.text(urls.map { HAREntry(url: $0, text: $0) }))
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
        try FileManager.default.createSymbolicLink(
            at: site.url.appendingPathComponent("h"),
            withDestinationURL: outside.url
        )
        let before = try site.listing
        let error = try failure { change, staging in
            change.schedule(try staging.write(Data("1".utf8)), at: "g/first.css")
            change.schedule(try staging.write(Data("2".utf8)), at: "h/a.css")
        }
        #expect(error.contains("\"h/a.css\" would lie outside the manifest's folder, through a symbolic link"))
        #expect(try site.listing == before)
        #expect(try SiteFolder.listing(of: outside.url).isEmpty)
    }

    // MARK: - Changes that cannot be finished

    /// Returns the error message of changes that fail.
    private func failure(
        _ prepare: (inout FolderChange, StagingFolder) throws -> Void
    ) throws -> String {
        let manifest = site.url.appendingPathComponent("manifest.json")
        let text = try Data(contentsOf: manifest)
        var change = FolderChange(manifest, name: "manifest.json", original: text, date: Date())
        let staging = try StagingFolder(in: site.url)
        try prepare(&change, staging)
        let error = try #require(throws: ToolError.self) { try change.commit(in: staging) }
        return error.message
    }

    @Test("If the new manifest would have errors, old files are restored and new folders removed")
    func wouldHaveErrors() throws {
        try site.folder.write("old\n", to: "h/a.css")
        #expect(chmod(site.url.appendingPathComponent("h/a.css").path, 0o600) == 0)
        let before = try site.listing
        let error = try failure { change, staging in
            let old = Fingerprint(Data("old\n".utf8))
            change.schedule(try staging.write(Data("new".utf8)), at: "h/a.css", replacing: old)
            let other = Fingerprint(Data("x\n".utf8))
            change.schedule(try staging.write(Data("new".utf8)), at: "x.txt", replacing: other)
            change.schedule(try staging.write(Data("new".utf8)), at: "new/deep/er/a.css")
            change.text = Data("{ \"https://x/b\": \"missing.txt\" }".utf8)
        }
        #expect(error.hasPrefix("the manifest would have errors, so nothing was changed:\nmanifest.json:1:18: "))
        #expect(try site.listing == before)
        let file = site.url.appendingPathComponent("h/a.css").path
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }

    @Test("A folder or file in the way of a new file is left alone")
    func inTheWay() throws {
        try site.folder.write("old\n", to: "h/a.css/deep.css")
        let before = try site.listing
        for path in ["h/a.css", "x.txt/a.css", "h"] {
            let error = try failure { change, staging in
                change.schedule(try staging.write(Data("1".utf8)), at: "g/first.css")
                change.schedule(try staging.write(Data("2".utf8)), at: path)
            }
            #expect(!error.isEmpty)
            #expect(try site.listing == before, "\(path)")
        }
    }

    @Test("A manifest that changed during the run is not overwritten")
    func changedMeanwhile() throws {
        var addition = try Addition(
            to: Tool.manifest(site.url.appendingPathComponent("manifest.json").path),
            Tool.silent()
        )
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
        #expect(site.manifest == "{ \"https://x/mine\": \"x.txt\" }")
        #expect(try site.files.filter { !$0.hasPrefix(".") } == ["x.txt"])
    }

    @Test("A file that changed, appeared or vanished during the run is left as it is, and so is everything else")
    func fileChangedMeanwhile() throws {
        try site.folder.write("old\n", to: "h/a.css")
        for (content, path, replaced) in [
            ("edited\n", "h/a.css", Fingerprint(Data("old\n".utf8))), ("mine\n", "h/b.css", nil),
            (nil, "h/a.css", Fingerprint(Data("old\n".utf8))),
        ] as [(String?, String, Fingerprint?)] {
            let before = try site.listing
            let file = site.url.appendingPathComponent(path)
            var after: [String: Data] = [:]
            let error = try failure { change, staging in
                change.schedule(
                    try staging.write(Data("1".utf8)),
                    at: "x.txt",
                    replacing: Fingerprint(Data("x\n".utf8))
                )
                change.schedule(try staging.write(Data("2".utf8)), at: path, replacing: replaced)
                change.schedule(try staging.write(Data("3".utf8)), at: "h/new.css")
                if let content {
                    try site.folder.write(content, to: path)
                } else {
                    try FileManager.default.removeItem(at: file)
                }
                after = try site.listing.filter { !$0.key.hasPrefix(".substitute/") }
            }
            #expect(error == "\"\(path)\" was changed in the meantime, so nothing was done; run the command again")
            #expect(try site.listing == after.merging(before.filter { after[$0.key] != nil && $0.key != path }) { $1 })
            for name in ["h/a.css", "h/b.css"] {
                try? FileManager.default.removeItem(at: site.url.appendingPathComponent(name))
            }
            try site.folder.write("old\n", to: "h/a.css")
        }
    }

    @Test("A record that changed during the run is left as it is")
    func recordChangedMeanwhile() throws {
        let error = try failure { change, staging in
            var record = try RemoteRecord(in: site.url)
            record.set(RemoteVersion(copy: Fingerprint(Data())), for: "https://h/a.css")
            change.record = record
            change.schedule(try staging.write(Data("1".utf8)), at: "h/a.css")
            try site.folder.write("{}", to: ".substitute.json")
        }
        #expect(error.contains("\".substitute.json\" was changed in the meantime"))
        #expect(site.bytes(".substitute.json") == Data("{}".utf8) && site.bytes("h/a.css") == nil)
    }
}
#endif
