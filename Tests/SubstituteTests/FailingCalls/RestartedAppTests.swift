// Only Linux has the app of these tests.
#if os(Linux)
import Foundation
import FoundationNetworking
import LocalSubstitutionCache
import TestSupport
import Testing

/// Tests of an app with a bundle and a newer folder, each launch of which is a process.
@Suite("An app that is launched again", .serialized)
struct RestartedAppTests {
    private let folder: TemporaryFolder
    private let app = Tool.url.deletingLastPathComponent().appendingPathComponent("FailingCallsApp")

    init() throws {
        folder = try TemporaryFolder()
        try write(10, "bundle", to: "App.bundle/Substitutions")
    }

    private func write(_ version: Int, _ text: String, to path: String) throws {
        try FailingOperation.writeSet(version, text, to: path, in: folder.url)
    }

    /// Runs the app, and returns its output.
    @discardableResult
    private func run(_ operation: String) async throws -> String {
        let result = try await Program.run(app.path, [operation, folder.url.path])
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines) + (result.status == 0 ? "" : result.errors)
    }

    /// Brings a folder, and lets the app adopt it.
    private func adopt(_ version: Int, _ text: String) async throws -> String {
        try write(version, text, to: "incoming")
        return try await run("adopt")
    }

    @Test("The newest wins, and the bundle is a candidate: no old download hides the files of a newer app")
    func newestWins() async throws {
        #expect(try await run("launch") == "10: bundle bundle")
        #expect(try await adopt(11, "download") == "11: download download")
        #expect(try await run("launch") == "11: download download")
        // An app update.
        try write(11, "update", to: "App.bundle/Substitutions")
        #expect(try await run("launch") == "11: update update")
        #expect(try await adopt(11, "other").contains("\"$version\" is not higher than 11, which is there already"))
        #expect(try await adopt(12, "download") == "12: download download")
        try write(13, "update", to: "App.bundle/Substitutions")
        #expect(try await run("launch") == "13: update update")
    }

    @Test("A worse update is revoked by the old files with a higher number, or by a manifest without entries")
    func revoked() async throws {
        #expect(try await adopt(11, "good") == "11: good good")
        #expect(try await adopt(12, "bad") == "12: bad bad")
        #expect(try await adopt(13, "good") == "13: good good")
        #expect(try await run("launch") == "13: good good")
        try folder.write("{\"$version\": 14}", to: "incoming/manifest.json")
        #expect(try await run("adopt") == "14:")
        #expect(try await run("launch") == "14:")
    }

    @Test("A page of HTML in a script's place is not adopted, and one that came in another way is passed over")
    func pageInPlaceOfScript() async throws {
        try write(11, "good", to: "incoming")
        try folder.write("<html><title>Sign in to the network</title>", to: "incoming/c.js")
        let refused = try await run("adopt")
        #expect(refused.hasPrefix("10: bundle bundle"))
        #expect(refused.contains("\"c.js\" is a page of HTML, but is sent as text/javascript"))
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("Application Support"),
            withIntermediateDirectories: false
        )
        try FileManager.default.moveItem(
            at: folder.url.appendingPathComponent("incoming"),
            to: folder.url.appendingPathComponent("Application Support/downloads")
        )
        let launched = try await run("launch")
        #expect(launched.hasPrefix("10: bundle bundle  ("))
        #expect(launched.contains("\"c.js\" is a page of HTML"))
    }

    @Test(
        "Killed at any system call of an adoption, the app finds one whole folder at the next launch",
        .enabled(if: FailingProgram.compiler != nil || Program.isEverythingRequired, "needs a C compiler")
    )
    func killed() async throws {
        let program = try FailingProgram()
        let operation = try #require(FailingOperation.all.first { $0.name == "adopt" })
        let original = folder.url.appendingPathComponent("original")
        try FileManager.default.createDirectory(at: original, withIntermediateDirectories: false)
        try await operation.prepare(original, RemoteSite())
        func adopt(_ call: FailingCall?) async throws -> FailingProgram.Outcome {
            try program.restore(original)
            return try await program.run(app, ["adopt", program.folder.path], call, waits: true)
        }
        let counts = try await adopt(nil).counts
        // Otherwise, a loss of power could leave empty files.
        #expect(counts["fsync"] == 3)
        var kills: [FailingCall] = []
        for (kind, count) in counts.sorted(by: { $0.key < $1.key }) {
            let isShort = Program.isLongRun || ["rename", "unlink"].contains(kind)
            let numbers = isShort ? Array(1...count) : [count]
            kills += numbers.map { FailingCall(kind: kind, number: $0, error: 0) }
        }
        var versions: [String: Int] = [:]
        for kill in kills {
            #expect(try await adopt(kill).failedPath != nil, "\(kill)")
            let next = try await Program.run(app.path, ["launch", program.folder.path])
            #expect(["2: a2 b2 \n", "3: a3 b3 \n"].contains(next.output), "\(kill): \(next)")
            versions[next.output, default: 0] += 1
        }
        #expect(versions.count == 2)
        if Program.isLongRun { print("kills in adopt: \(kills.count), \(versions)") }
    }

    /// Returns the version that answers, the contents of its files, and why the newer folder was passed over.
    private static func launch(_ folder: URL) throws -> (version: Int, texts: Set<String>, error: ManifestError?) {
        let bundle = try #require(Bundle(url: folder.appendingPathComponent("App.bundle")))
        let downloads = folder.appendingPathComponent("Application Support/downloads")
        let cache = try SubstitutionCache(bundle: bundle, newerFolder: downloads)
        let texts = cache.substitutions.compactMap { substitution in
            URL(string: substitution.url).flatMap { cache.cachedResponse(for: URLRequest(url: $0)) }?.data
        }
        return (cache.manifestVersion, Set(texts.map { String(decoding: $0, as: UTF8.self) }), cache.newerFolderError)
    }

    @Test("While another process adopts, and is killed again and again, each launch finds one whole set")
    func adoptedMeanwhile() async throws {
        let downloads = folder.url.appendingPathComponent("Application Support/downloads")
        try await onThread { [app, folder] in
            let rounds = Program.isLongRun ? 100 : 10
            var last = 10
            for _ in 0..<rounds {
                let (process, pipe) = (Process(), Pipe())
                (process.executableURL, process.arguments) = (app, ["adoptAgain", folder.url.path])
                process.standardOutput = pipe
                try process.runWithSignals()
                // The app says when it begins.
                _ = pipe.fileHandleForReading.availableData
                // Each round sees a new version, however busy the machine is.
                var (left, newest) = (Int.random(in: 1...60), last)
                while left > 0 || newest == last && process.isRunning {
                    let (version, texts, _) = try Self.launch(folder.url)
                    #expect(texts == [version == 10 ? "bundle" : "\(version)"])
                    (left, newest) = (left - 1, version)
                }
                process.stopGroup()
                let (version, texts, error) = try Self.launch(folder.url)
                #expect(error == nil)
                #expect(version >= last)
                #expect(texts == [version == 10 ? "bundle" : "\(version)"])
                last = version
            }
            #expect(last >= 10 + rounds)
            let names = try FileManager.default.contentsOfDirectory(atPath: downloads.deletingLastPathComponent().path)
            #expect(names == ["downloads"])
        }
    }
}
#endif
