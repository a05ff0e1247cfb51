import Foundation

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
