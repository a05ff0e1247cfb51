// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

/// The tool as it was built, run as a person would.
struct Tool {
    /// The manifests of the library's tests.
    static let fixtures = Repository.folder.appendingPathComponent("Tests/LocalSubstitutionCacheTests/Fixtures")

    /// Built products lie beside the tests: in a bundle on Apple's systems, in a plain folder elsewhere.
    static let url: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appendingPathComponent("substitute")
    }()

    /// Runs the tool.
    static func run(
        _ arguments: [String],
        input: Data = Data(),
        in folder: URL = Repository.folder,
        environment: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program.run(url.path, arguments, input: input, in: folder, environment: environment)
    }

    /// Runs a command in the process of the tests, for what it says: paths are relative to the folder of the tests, so
    /// give them whole.
    ///
    /// Signals, pipes, terminals and the current folder need a process: ``run(_:input:in:environment:)``.
    static func call(_ arguments: [String], input: Data? = nil) async -> Program.Result {
        let written = Written()
        let console = Console(
            sink: { stream, bytes in written.append(bytes, to: stream) },
            source: { input.map(Swift.Result.success) ?? .failure(ToolError("the test has no input")) }
        )
        let status = await CommandLineTool.run(arguments, console)
        return Program.Result(status: status, output: written.text(of: .output), errors: written.text(of: .errors))
    }

    /// The text that a command wrote to its streams.
    // Only accessed by the one command that writes.
    private final class Written: @unchecked Sendable {
        private var bytes: [Console.Stream: [UInt8]] = [:]

        func append(_ more: [UInt8], to stream: Console.Stream) { bytes[stream, default: []] += more }

        func text(of stream: Console.Stream) -> String { String(decoding: bytes[stream, default: []], as: UTF8.self) }
    }
}
#endif
