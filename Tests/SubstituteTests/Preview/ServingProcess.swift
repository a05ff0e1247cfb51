// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// A program that serves until it is stopped, and first prints its address.
// Only the test that creates an instance uses it.
final class ServingProcess: @unchecked Sendable {
    private let process = Process()
    private let (output, errors): (URL, URL)
    private let scratch: TemporaryFolder

    /// Starts the program; `environment` is added to the environment of the tests.
    init(_ program: URL, _ arguments: [String], in folder: URL = Repository.folder, environment: [String: String] = [:])
        async throws
    {
        scratch = try TemporaryFolder()
        (output, errors) = (scratch.url.appendingPathComponent("out"), scratch.url.appendingPathComponent("err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.runWithSignals()
    }

    /// The text that the program has printed so far.
    var printed: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// Waits until the program has printed `words` and an address after them, and returns the address.
    func address(after words: String) async throws -> String {
        var address = ""
        try await whileRunning("an address after \(words)") {
            let rest = printed.components(separatedBy: words).dropFirst().first ?? ""
            address = String(rest.prefix { !$0.isWhitespace })
            return address != rest
        }
        return address
    }

    /// Waits until the program has printed some words.
    func wait(untilPrinted words: String) async throws {
        try await whileRunning(words) { printed.contains(words) }
    }

    private func whileRunning(_ what: String, until condition: () -> Bool) async throws {
        try await TestSupport.wait(for: what) {
            if condition() { return true }
            guard process.isRunning else { throw POSIXError(.ESRCH) }
            return false
        }
    }

    /// The text that the program has written to standard error so far.
    var complained: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// The exit status, once the program has exited by itself.
    var ending: Int32 {
        get async throws {
            try await TestSupport.wait(for: "the end") { !process.isRunning }
            return process.terminationStatus
        }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Kills the program with a signal that it cannot handle.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }
}
#endif
