package import Foundation

/// Programs that some tests need, and a machine may not have.
package enum Program {
    /// The path of the first of these that the machine has.
    package static func find(_ names: String...) -> String? {
        // Where servers lie is not in everybody's PATH.
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin"
        let folders: [Substring] = path.split(separator: ":")
        for name in names {
            for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
                return "\(folder)/\(name)"
            }
        }
        return nil
    }

    /// Whether tests take their time: with sizes that nobody waits for at a desk.
    package static let isLongRun = ProcessInfo.processInfo.environment["LONG_TESTS"] != nil

    /// Whether tests must run that need more than Swift: where the machine is known to have it all.
    package static let isEverythingRequired = ProcessInfo.processInfo.environment["REQUIRE_ALL_TESTS"] != nil
}

// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
extension Program {
    /// What a program printed, and how it ended.
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String

        package init(status: Int32, output: String, errors: String) {
            (self.status, self.output, self.errors) = (status, output, errors)
        }
    }

    /// Hundreds of tests run it at once; so many processes would hold up all other tests, and with so many open files
    /// Foundation on Linux cannot start one more.
    private static let turns = Turns(6)

    /// Runs any program.
    ///
    /// What it prints goes through files, which never fill up.
    package static func run(
        _ program: String,
        _ arguments: [String],
        input: Data = Data(),
        in folder: URL = Repository.folder,
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

extension Process {
    /// Starts it with no signal blocked.
    ///
    /// A process inherits what the thread that starts it blocks, which on Linux is nearly everything on the threads
    /// that tests run on; Firefox then waits for ever.
    ///
    /// - Throws: What keeps it from being started.
    package func runWithSignals() throws {
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try run()
    }

    /// Ends it at once, with the processes that it started, which may outlive it and write once more into its folders.
    ///
    /// Foundation makes it the leader of a process group, and waits for all that have its descriptors.
    package func stopGroup() {
        kill(-processIdentifier, SIGKILL)
        waitUntilExit()
    }

    /// Starts it, and waits for its end without holding up a thread that tests share.
    ///
    /// - Returns: Its exit status.
    /// - Throws: What keeps it from being started.
    package func runToEnd() async throws -> Int32 {
        try await onThread { [self] in
            try run()
            waitUntilExit()
            return terminationStatus
        }
    }
}
#endif
