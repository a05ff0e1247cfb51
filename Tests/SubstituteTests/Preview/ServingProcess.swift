// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// A program that serves until it is ended, and says first where.
// Only the one test that has it uses it.
final class ServingProcess: @unchecked Sendable {
    private let process = Process()
    private let output: URL
    private let errors: URL
    private let scratch: TemporaryFolder

    /// Starts it, with the variables of the tests and these.
    init(
        _ program: URL,
        _ arguments: [String],
        in folder: URL = Repository.folder,
        environment: [String: String] = [:]
    ) async throws {
        scratch = try TemporaryFolder()
        output = scratch.url.appendingPathComponent("out")
        try Data().write(to: output)
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        errors = scratch.url.appendingPathComponent("err")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.runWithSignals()
    }

    /// What it has printed.
    var printed: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// The address behind some words, as soon as it is printed.
    func address(after words: String) async throws -> String {
        while true {
            if let start = printed.range(of: words)?.upperBound {
                let rest = printed[start...]
                let address = rest.prefix { !$0.isWhitespace }
                if address.endIndex < rest.endIndex { return String(address) }
            }
            guard process.isRunning else { throw POSIXError(.ESRCH) }
            try await Task.sleep(nanoseconds: 20_000_000)
        }
    }

    /// Waits until it has printed some words.
    func wait(untilPrinted words: String) async throws {
        while !printed.contains(words) {
            guard process.isRunning else { throw POSIXError(.ESRCH) }
            try await Task.sleep(nanoseconds: 20_000_000)
        }
    }

    /// What it has complained of.
    var complained: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Its exit status, once it has ended by itself.
    var ending: Int32 {
        get async throws {
            try await onThread { [process] in
                process.waitUntilExit()
                return process.terminationStatus
            }
        }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Ends it as nothing can prevent.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }
}
#endif
