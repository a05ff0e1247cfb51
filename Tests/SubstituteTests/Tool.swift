// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

/// The designers' tool.
struct Tool {
    /// The folder of the invalid and valid manifests for tests of `SubstitutionChecking`.
    static let fixtures = Repository.folder.appendingPathComponent("Tests/SubstitutionCheckingTests/Fixtures")

    /// The built tool, which lies beside the tests.
    ///
    /// On Apple platforms the tests are in a bundle, elsewhere in a plain folder.
    static let url: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("substitute")
    }()

    /// Runs a command in the tests' own process.
    ///
    /// Tests of signals, pipes, terminals and exit codes need the program: ``start(_:input:in:environment:)``.
    static func run(
        _ arguments: [String],
        input: Data? = Data(),
        in folder: URL = Repository.folder,
        environment: [String: String] = [:],
        terminals: Set<Console.Stream> = []
    ) async -> Program.Result {
        let written = Written()
        let console = Console(
            folder: folder.path,
            environment: ["TMPDIR": TemporaryFolder.ofProcess.path].merging(withoutSandbox(environment)) { $1 },
            terminals: terminals,
            sink: { stream, bytes in written.append(bytes, to: stream) },
            source: { input.map(Swift.Result.success) ?? .failure(ToolError("the test has no input")) }
        )
        let status = await CommandLineTool.run(arguments, console)
        let (output, errors) = (written.text(of: .output), written.text(of: .errors))
        let result = Program.Result(status: status.rawValue, output: output, errors: errors)
        // "The files do not fit" names at least one file or failure.
        for page in result.output.components(separatedBy: "The files do not fit").dropLast() {
            let reasons = [" differs from ", "only with the files: ", "; look at \""]
            #expect(reasons.contains(where: page.contains), "\(result)")
        }
        if Advice.isJudged, folder != Repository.folder {
            do { try await Advice.judge(result, of: arguments, in: folder) } catch { Issue.record(error) }
        }
        return result
    }

    /// Returns the manifest at a path.
    static func manifest(_ path: String) throws -> ManifestFile { try ManifestLocation(silent()).find(path) }

    /// Returns a console that prints nothing.
    static func silent() -> Console { Console(folder: "/", sink: { _, _ in }, source: { .success(Data()) }) }

    /// Runs the program as a user does.
    static func start(
        _ arguments: [String],
        input: Data = Data(),
        in folder: URL = Repository.folder,
        environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program.run(url.path, arguments, input: input, in: folder, environment: withoutSandbox(environment))
    }

    /// Returns an environment in which the browser has no sandbox, unless a test says otherwise.
    ///
    /// The sandbox does not work in most containers, or for root.
    static func withoutSandbox(_ environment: [String: String]) -> [String: String] {
        environment.merging(["SUBSTITUTE_NO_SANDBOX": "1"]) { own, _ in own }
    }

    /// The text that a command wrote to its streams.
    // Mutable state is only accessed inside the lock.
    final class Written: @unchecked Sendable {
        private let lock = NSLock()
        private var bytes: [Console.Stream: [UInt8]] = [:]

        func append(_ more: [UInt8], to stream: Console.Stream) { lock.withLock { bytes[stream, default: []] += more } }

        func text(of stream: Console.Stream) -> String {
            lock.withLock { String(decoding: bytes[stream, default: []], as: UTF8.self) }
        }
    }
}
#endif
