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
    private static let names = ["a.css", "b.css", "c.css"]

    init() throws {
        site = try RemoteSite()
        serve("new")
    }

    private var urls: [String] { Self.names.map { "\(site.url)/\($0)" } }

    private func serve(_ version: String) {
        for name in Self.names { site.set("/\(name)", "\(version) \(name)", type: "text/css") }
    }

    /// Adds the site's resources to the folder.
    ///
    /// - Returns: Copies of the folder before the first step and after each step.
    private func change(_ take: (inout Addition, Resource) -> Addition.Outcome) throws -> [SiteFolder] {
        let manifest = try Tool.manifest(site.folder.url.appendingPathComponent("manifest.json").path)
        var addition = try Addition(to: manifest, Tool.silent())
        let staging = try StagingFolder(in: site.folder.url)
        for name in Self.names {
            let (key, file) = try (URLPattern("\(site.url)/\(name)"), staging.write(Data("new \(name)".utf8)))
            let (type, version) = (MediaType("text/css"), RemoteVersion(etag: "\"1\""))
            let resource = Resource(key: key, file: file, type: type, source: site.folder.url, version: version)
            if case .refused(let reason) = take(&addition, resource) { Issue.record("\(reason)") }
        }
        var copies: [SiteFolder] = []
        func copy() {
            do {
                copies.append(try SiteFolder())
                try FileManager.default.removeItem(at: copies[copies.count - 1].url)
                try FileManager.default.copyItem(at: site.folder.url, to: copies[copies.count - 1].url)
            } catch { Issue.record(error) }
        }
        copy()
        staging.afterEachStep = copy
        try addition.commit(in: staging)
        #expect(copies.count > 4)
        return copies
    }

    @Test("A killed update leaves old or new files, and can be run again")
    func update() async throws {
        serve("old")
        #expect(await Tool.run(["add"] + urls, in: site.folder.url).status == 0)
        serve("new")
        let copies = try change { addition, resource in
            let old = addition.substitutions.first { $0.url == resource.key.spelling }
            return old.map { addition.replace($0, with: resource) } ?? .refused("no entry")
        }
        for copy in copies {
            for name in Self.names {
                let content = try #require(copy.bytes("\(site.name)/\(name)"))
                #expect(["old", "new"].contains { content == Data("\($0) \(name)".utf8) })
            }
            #expect(try await copy.check().status == 0)
            // The record and the files agree: no file that the tool wrote counts as edited.
            let outdated = await Tool.run(["update", "--dry-run", "--format", "json"], in: copy.url)
            #expect(!outdated.output.contains("edited") && !outdated.output.contains("conflict"), "\(outdated)")
            let result = await Tool.run(["update"], in: copy.url)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            for name in Self.names { #expect(copy.bytes("\(site.name)/\(name)") == Data("new \(name)".utf8)) }
            #expect(await Tool.run(["update", "--dry-run"], in: copy.url).status == 0)
            #expect(!FileManager.default.fileExists(atPath: copy.url.appendingPathComponent(".substitute").path))
        }
    }

    @Test("A killed add leaves a valid manifest, and can be run again")
    func addition() async throws {
        let copies = try change { addition, resource in addition.add(resource) }
        for copy in copies {
            // No file that the manifest names is missing, and the record knows each of them.
            let isComplete = copy.manifest == site.file("manifest.json")
            #expect(isComplete || copy.manifest == "{\n}\n")
            let recorded = String(decoding: copy.bytes(".substitute.json") ?? Data(), as: UTF8.self)
            #expect(!isComplete || urls.allSatisfy { recorded.contains($0) })
            #expect(try await copy.check().status == 0)
            let result = await Tool.run(["add"] + urls, in: copy.url)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            let files = [".substitute.json", site.name] + Self.names.map { "\(site.name)/\($0)" } + ["manifest.json"]
            #expect(try FileManager.default.subpathsOfDirectory(atPath: copy.url.path).sorted() == files)
            #expect(copy.manifest == site.file("manifest.json"))
        }
    }

    @Test("A signal removes the temporary folder, even right after its creation", .timeLimit(.minutes(10)))
    func earlySignal() async throws {
        site.setEndless("/a.css")
        let before = site.listing
        let staging = site.folder.url.appendingPathComponent(".substitute").path
        for round in 0..<8 {
            let process = Process()
            process.executableURL = Tool.url
            process.arguments = ["add", "\(site.url)/b.css", "\(site.url)/a.css"]
            process.currentDirectoryURL = site.folder.url
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.runWithSignals()
            // Control-C comes during the loads.
            if round == 0 { try await wait(for: "a request") { site.requests().contains("GET /a.css") } }
            let status = try await onThread {
                while process.isRunning, access(staging, F_OK) != 0 { usleep(50) }
                if round == 0 { process.interrupt() } else { process.terminate() }
                process.waitUntilExit()
                return process.terminationStatus
            }
            #expect(status == (round == 0 ? 130 : 143) && site.listing == before && access(staging, F_OK) != 0)
        }
    }
}
#endif
