// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("A killed run leaves complete files, and the same command finishes its work", .serialized)
struct KilledRunTests {
    private let site: RemoteSite
    private let copies: Copies
    private static let names = ["a.css", "b.css", "c.css"]

    init() throws {
        site = try RemoteSite()
        copies = try Copies(of: site.folder.url)
        for name in Self.names { site.set("/\(name)", "new \(name)", type: "text/css") }
    }

    /// Copies of a folder, one for each state in which a killed run can leave the folder.
    private final class Copies {
        private let original: URL
        private let scratch: TemporaryFolder
        private(set) var folders: [URL] = []

        init(of folder: URL) throws { (original, scratch) = (folder, try TemporaryFolder()) }

        func make() {
            let copy = scratch.url.appendingPathComponent("\(folders.count)/Substitutions")
            do {
                let above = copy.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
                try FileManager.default.copyItem(at: original, to: copy)
                folders.append(copy)
            } catch {
                Issue.record(error)
            }
        }
    }

    private func manifest(of folder: URL) -> String { folder.appendingPathComponent("manifest.json").path }

    private func text(_ path: String, in folder: URL) -> String? {
        try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }

    /// Records a version of each resource as loaded.
    private func record(_ version: String) throws {
        var record = try RemoteRecord(in: site.folder.url)
        for name in Self.names {
            let copy = Fingerprint(Data("\(version) \(name)".utf8))
            record.set(RemoteVersion(etag: "\"\(version)\"", copy: copy), for: "\(site.url)/\(name)")
        }
        try site.folder.write(#require(try record.text()), to: RemoteRecord.name)
    }

    /// Adds the site's resources to the folder, and copies the folder before the first step and after each step.
    private func change(_ take: (inout Addition, Resource) -> Addition.Outcome) throws {
        var addition = try Addition(to: Tool.manifest(manifest(of: site.folder.url)), Tool.silent())
        let staging = try StagingFolder(in: site.folder.url)
        for name in Self.names {
            let resource = Resource(
                key: try URLPattern("\(site.url)/\(name)"),
                file: try staging.write(Data("new \(name)".utf8)),
                type: MediaType("text/css"),
                source: site.folder.url,
                version: RemoteVersion(etag: "\"1\"")
            )
            if case .refused(let reason) = take(&addition, resource) { Issue.record("\(reason)") }
        }
        copies.make()
        staging.afterEachStep = { [copies] in copies.make() }
        try addition.commit(in: staging)
    }

    @Test("A killed update leaves old or new files, and can be run again")
    func update() async throws {
        let entries = Self.names.map { "\"\(site.url)/\($0)\": \"\($0)\"" }.joined(separator: ", ")
        try site.folder.write("{ \(entries) }", to: "manifest.json")
        for name in Self.names { try site.folder.write("old \(name)", to: name) }
        try record("old")
        try change { addition, resource in
            let old = addition.substitutions.first { $0.url == resource.key.spelling }
            return old.map { addition.replace($0, with: resource) } ?? .refused("no entry")
        }
        #expect(copies.folders.count > 4)
        for folder in copies.folders {
            for name in Self.names {
                let content = try #require(text(name, in: folder))
                #expect(["old \(name)", "new \(name)"].contains(content))
            }
            #expect(await Tool.run(["check", manifest(of: folder)]).status == 0)
            // The record and the files agree: no file that the tool wrote counts as edited.
            let outdated = await Tool.run(["update", "--dry-run", "--format", "json", manifest(of: folder)])
            #expect(!outdated.output.contains("edited") && !outdated.output.contains("conflict"), "\(outdated)")
            let result = await Tool.run(["update", manifest(of: folder)])
            #expect(result.status == 0 && result.errors == "", "\(result)")
            for name in Self.names { #expect(text(name, in: folder) == "new \(name)") }
            #expect(await Tool.run(["update", "--dry-run", manifest(of: folder)]).status == 0)
            #expect(text(".substitute", in: folder) == nil)
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(".substitute").path))
        }
    }

    @Test("A killed add leaves a valid manifest, and can be run again", arguments: ["URLs", "a recording"])
    func addition(source: String) async throws {
        try change { addition, resource in addition.add(resource) }
        #expect(copies.folders.count > 4)
        let recording = HAR.text(
            Self.names.map { HAREntry(url: "\(site.url)/\($0)", text: "new \($0)", sent: [.init("ETag", "\"1\"")]) }
        )
        for folder in copies.folders {
            // No file that the manifest names is missing, and the record knows each of them.
            let isComplete = text("manifest.json", in: folder) == site.file("manifest.json")
            #expect(isComplete || text("manifest.json", in: folder) == "{\n}\n")
            let recorded = text(".substitute.json", in: folder) ?? ""
            #expect(!isComplete || Self.names.allSatisfy { recorded.contains("\(site.url)/\($0)") })
            #expect(await Tool.run(["check", manifest(of: folder)]).status == 0)
            let urls = Self.names.map { "\(site.url)/\($0)" }
            let result =
                source == "URLs"
                ? await Tool.run(["add", manifest(of: folder)] + urls)
                : await Tool.run(["add", manifest(of: folder), "-"], input: Data(recording.utf8))
            #expect(result.status == 0 && result.errors == "", "\(result)")
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            let files = Self.names.map { "\(site.name)/\($0)" }
            #expect(paths == [".substitute.json", site.name] + files + ["manifest.json"])
            #expect(text("manifest.json", in: folder) == site.file("manifest.json"))
        }
    }

    @Test("A signal removes the temporary folder, even right after its creation", .timeLimit(.minutes(10)))
    func earlySignal() async throws {
        site.setEndless("/a.css")
        let before = site.listing
        let staging = site.folder.url.appendingPathComponent(".substitute").path
        for _ in 0..<8 {
            let process = Process()
            process.executableURL = Tool.url
            process.arguments = ["add", "\(site.url)/a.css"]
            process.currentDirectoryURL = site.folder.url
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.runWithSignals()
            let status = try await onThread {
                while process.isRunning, access(staging, F_OK) != 0 { usleep(50) }
                process.terminate()
                process.waitUntilExit()
                return process.terminationStatus
            }
            #expect(status == 143)
            #expect(site.listing == before)
            #expect(access(staging, F_OK) != 0)
        }
    }
}
#endif
