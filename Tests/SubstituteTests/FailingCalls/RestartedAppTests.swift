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
        try FailingOperation.writeSet(10, "bundle", to: "App.bundle/Substitutions", in: folder.url)
    }

    @Test(
        "Killed at any system call of an adoption, the app finds one folder",
        .enabled(if: FailingProgram.isAvailable)
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
        var (kills, versions): (Int, Set<String>) = (0, [])
        for (kind, count) in counts {
            let isEach = Program.isLongRun || ["rename", "unlink"].contains(kind)
            for number in isEach ? Set(1...count) : [count] {
                let kill = FailingCall(kind: kind, number: number, error: 0)
                #expect(try await adopt(kill).failedPath != nil, "\(kill)")
                let next = try await Program.run(app.path, ["launch", program.folder.path])
                #expect(["2: a2 b2 \n", "3: a3 b3 \n"].contains(next.output), "\(kill): \(next)")
                (kills, versions) = (kills + 1, versions.union([next.output]))
            }
        }
        #expect(versions.count == 2)
        if Program.isLongRun { print("kills in adopt: \(kills)") }
    }

    /// Returns the version that answers, and why the newer folder was passed over.
    ///
    /// All files must be of that version.
    private static func launch(_ folder: URL) throws -> (version: Int, error: ManifestError?) {
        let bundle = try #require(Bundle(url: folder.appendingPathComponent("App.bundle")))
        let downloads = folder.appendingPathComponent("Application Support/downloads")
        let cache = try SubstitutionCache(bundle: bundle, newerFolder: downloads)
        let texts = cache.substitutions.compactMap { substitution in
            URL(string: substitution.url).flatMap { cache.cachedResponse(for: URLRequest(url: $0)) }?.data
        }
        let version = cache.manifestVersion
        #expect(Set(texts) == [Data((version == 10 ? "bundle" : "\(version)").utf8)])
        return (version, cache.newerFolderError)
    }

    @Test("While another process adopts, and is killed again and again, each launch finds one whole set")
    func adoptedMeanwhile() async throws {
        let downloads = folder.url.appendingPathComponent("Application Support/downloads")
        try await onThread { [app, folder] in
            let rounds = Program.isLongRun ? 100 : 4
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
                    (left, newest) = (left - 1, try Self.launch(folder.url).version)
                }
                process.stopGroup()
                let (version, error) = try Self.launch(folder.url)
                #expect(error == nil && version >= last)
                last = version
            }
            #expect(last >= 10 + rounds)
            let names = try FileManager.default.contentsOfDirectory(atPath: downloads.deletingLastPathComponent().path)
            #expect(names == ["downloads"])
        }
    }
}
#endif
