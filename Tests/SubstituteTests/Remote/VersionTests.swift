// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("The version of a manifest", .serialized)
struct VersionTests {
    private let site: RemoteSite
    private static let stale =
        "manifest.json:1:1: warning: the files have changed, and \"$version\" is still 12; write \"$version\": 13, or an app "
        + "with a newer folder may keep the files that it has\n"

    init() throws {
        site = try RemoteSite()
        for name in ["a.css", "b.css"] { site.set("/\(name)", "\(name) { }\n", type: "text/css") }
    }

    private func add(_ names: String..., version: String = "\"$version\": 12") async throws {
        try site.folder.write("{\n  \(version)\n}\n", to: "manifest.json")
        let result = await Tool.run(["add"] + names.map { "\(site.url)/\($0)" }, in: site.folder.url)
        #expect(result.status == 0, "\(result)")
    }

    private func check() async throws -> String { try await site.run("check").output }

    private func setVersion(_ number: Int) throws {
        let text = try #require(site.file("manifest.json"))
        let changed = text.replacing(/"\$version": \d+/, with: "\"$version\": \(number)")
        try site.folder.write(changed, to: "manifest.json")
    }

    @Test("update raises the number by one if it replaces a file, and leaves the rest of the manifest as it is")
    func raised() async throws {
        try await add("a.css", "b.css")
        let manifest = try #require(site.file("manifest.json"))
        #expect(try await !site.run("update").output.contains("raised"))
        site.set("/a.css", "a { color: red }\n", type: "text/css")
        #expect(try await !site.run("update", "--dry-run").output.contains("raised"))
        #expect(site.file("manifest.json") == manifest)
        let result = try await site.run("update")
        #expect(result.output.contains("\nraised \"$version\" to 13\n"), "\(result)")
        #expect(site.file("manifest.json") == manifest.replacing("n\": 12", with: "n\": 13"))
        #expect(try await !check().contains("the files have changed"))
        #expect(try await !site.run("update").output.contains("raised"))
    }

    @Test("update adds no number, and records nothing about it")
    func none() async throws {
        try await add("a.css", version: "\"$comment\": \"no number\"")
        let manifest = site.file("manifest.json")
        site.set("/a.css", "a { color: red }\n", type: "text/css")
        let result = try await site.run("update")
        #expect(result.output.hasPrefix("updated ") && !result.output.contains("raised"))
        #expect(site.file("manifest.json") == manifest && site.file(".substitute.json")?.contains("$version") == false)
    }

    @Test("check warns if files have changed and the number has not, and writes nothing")
    func warned() async throws {
        try await add("a.css")
        #expect(try await !check().contains("the files have changed"))
        let record = site.file(".substitute.json")
        try site.folder.write("a { color: red }\n", to: "\(site.name)/a.css")
        #expect(try await check().hasPrefix(Self.stale))
        #expect(try await site.run("check", "--strict").status == 1)
        #expect(try await site.run("check", "--format", "json").output.contains("\"same-version\""))
        #expect(site.file(".substitute.json") == record)
        // The same files again.
        try site.folder.write("a.css { }\n", to: "\(site.name)/a.css")
        #expect(try await !check().contains("the files have changed"))
        // A file that the manifest did not name.
        #expect(try await site.run("add", "\(site.url)/b.css").status == 0)
        #expect(try await check().hasPrefix(Self.stale))
        try setVersion(13)
        #expect(try await !check().contains("the files have changed"))
        // The next run records the files of the new number.
        #expect(try await site.run("update").status == 0)
        try site.folder.write("b { color: red }\n", to: "\(site.name)/b.css")
        #expect(try await check().contains("is still 13;"))
        // A number that is lower than the recorded one, also for other files.
        let lower = "warning: \"$version\" was 13, and is 5; write \"$version\": 14, or an app with a newer folder "
        try setVersion(5)
        #expect(try await check().contains(lower))
        #expect(try await site.run("add", "--as", "c.css", "\(site.url)/b.css?c").status == 0)
        #expect(try await check().contains(lower))
        try setVersion(14)
        #expect(try await !check().contains("$version"))
    }

    @Test("preview shows the number, in its list and on its page")
    func shown() async throws {
        try await add("a.css")
        #expect(try await site.run("preview", "--format", "text").output.contains("\nversion 12, 1 URL, 1 file, "))
        #expect(try await site.run("preview").output.contains("\"version 12, 1 URL, 1 file, "))
    }
}
#endif
