package import Foundation

/// Programs that some tests need and that a machine may lack.
package enum Program {
    /// Returns the path of the first of the named programs that is installed; nil if none is installed.
    package static func find(_ names: String...) -> String? {
        // Some servers are installed in /usr/sbin, which not every user has in PATH.
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin"
        return names.flatMap { name in path.components(separatedBy: ":").map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// True if tests use large sizes, which take too long for everyday runs.
    package static let isLongRun = ProcessInfo.processInfo.environment["LONG_TESTS"] != nil

    /// True if tests that need other programs must run, because the machine is known to have these programs.
    package static let isEverythingRequired = ProcessInfo.processInfo.environment["REQUIRE_ALL_TESTS"] != nil
}

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
extension Program {
    /// The output and the exit status of a program.
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String

        package init(status: Int32, output: String, errors: String) {
            (self.status, self.output, self.errors) = (status, output, errors)
        }
    }

    /// Limits the number of programs that run at the same time.
    ///
    /// Hundreds of tests run programs. Hundreds of processes at the same time would delay all other tests. Their open
    /// files would also prevent Foundation on Linux from starting another process.
    private static let turns = Turns(6)

    /// Runs a program.
    ///
    /// The program's input and output are files. Unlike a pipe, a file never fills up.
    package static func run(
        _ program: String,
        _ arguments: [String],
        input: Data = Data(),
        in folder: URL = Repository.folder,
        environment: [String: String] = [:]
    ) async throws -> Result {
        try await turns.perform {
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
            let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
            return Result(status: status, output: texts[1], errors: texts[2])
        }
    }
}

/// A semaphore that lets a few callers in at a time, in the order of their calls.
package actor Turns {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ count: Int) { free = count }

    /// Does something in a turn.
    package func perform<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
        return try await body()
    }
}

extension Process {
    /// Starts the process with no signals blocked, and so that SIGHUP ends it.
    ///
    /// A process inherits the blocked signals of the thread that starts it. On Linux, the threads that run tests block
    /// nearly all signals, and Firefox then waits for ever. If the tests themselves run under nohup, a process also
    /// inherits that SIGHUP is ignored.
    ///
    /// - Throws: An error if the process cannot be started.
    package func runWithSignals() throws {
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        let hangup = signal(SIGHUP, SIG_DFL)
        defer { signal(SIGHUP, hangup) }
        try run()
    }

    /// Kills the process together with the processes that it started.
    ///
    /// Otherwise a child process could outlive its killed parent, and still write into the parent's folders. Foundation
    /// makes the process the leader of a process group, so one signal reaches the whole group. On Linux,
    /// `waitUntilExit()` then waits for every process that has inherited a file descriptor of Foundation.
    package func stopGroup() {
        kill(-processIdentifier, SIGKILL)
        waitUntilExit()
    }

    /// Starts the process and waits for its end, without blocking a thread that tests share.
    ///
    /// - Returns: The exit status.
    /// - Throws: An error if the process cannot be started.
    package func runToEnd() async throws -> Int32 {
        try await onThread { [self] in
            try run()
            waitUntilExit()
            return terminationStatus
        }
    }
}
#endif
