// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

/// The tool as it was built, run as a person would.
struct Tool {
    /// What a program printed, and how it ended.
    struct Result: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    /// The folder of the package, also where a link leads here.
    static let package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The manifests of the library's tests.
    static let fixtures = package.appendingPathComponent("Tests/LocalSubstitutionCacheTests/Fixtures")

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
        in folder: URL = package,
        environment: [String: String] = [:]
    ) async throws -> Result {
        try await run(url.path, arguments, input: input, in: folder, environment: environment)
    }

    /// Runs a command in the process of the tests, for what it says: paths are relative to the folder of the tests, so
    /// give them whole.
    ///
    /// Signals, pipes, terminals and the current folder need a process: ``run(_:input:in:environment:)``.
    static func call(_ arguments: [String], input: Data? = nil) async -> Result {
        let written = Written()
        let console = Console(
            sink: { stream, bytes in written.append(bytes, to: stream) },
            source: { input.map(Swift.Result.success) ?? .failure(ToolError("the test has no input")) }
        )
        let status = await CommandLineTool.run(arguments, console)
        return Result(status: status, output: written.text(of: .output), errors: written.text(of: .errors))
    }

    /// The text that a command wrote to its streams.
    // Only accessed by the one command that writes.
    private final class Written: @unchecked Sendable {
        private var bytes: [Console.Stream: [UInt8]] = [:]

        func append(_ more: [UInt8], to stream: Console.Stream) { bytes[stream, default: []] += more }

        func text(of stream: Console.Stream) -> String { String(decoding: bytes[stream, default: []], as: UTF8.self) }
    }

    /// Hundreds of tests run it at once; so many processes would hold up all other tests, and with so many open files
    /// Foundation on Linux cannot start one more.
    private static let turns = Turns(6)

    /// Runs any program.
    ///
    /// What it prints goes through files, which never fill up.
    static func run(
        _ program: String,
        _ arguments: [String],
        input: Data = Data(),
        in folder: URL = package,
        environment: [String: String] = [:]
    ) async throws -> Result {
        await turns.take()
        let result = await Swift.Result { () async throws in
            try await start(program, arguments, input: input, in: folder, environment: environment)
        }
        await turns.giveBack()
        return try result.get()
    }

    private static func start(
        _ program: String,
        _ arguments: [String],
        input: Data,
        in folder: URL,
        environment: [String: String]
    ) async throws -> Result {
        let scratch = try TemporaryFolder()
        let files = ["in", "out", "err"].map { scratch.url.appendingPathComponent($0) }
        for (file, content) in zip(files, [input, Data(), Data()]) { try content.write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let status = try await process.runToEnd()
        return Result(
            status: status,
            output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
        )
    }
}

/// Lets a few in at a time, in the order in which they came.
private actor Turns {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous closure returns or throws.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// Compares `text` with a checked-in file of `Fixtures`, or writes it anew when `UPDATE_GOLDEN_FILES` is set in the
/// environment.
func compare(_ text: String, withFixture path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let golden = Tool.package.appendingPathComponent("Tests/SubstituteTests/Fixtures/\(path)")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil { try Data(text.utf8).write(to: golden) }
    let expected = try? String(contentsOf: golden, encoding: .utf8)
    #expect(text == expected, "\(path) differs", sourceLocation: sourceLocation)
}
#endif
