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
