import Foundation

// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
extension Process {
    /// Starts it with no signal blocked.
    ///
    /// A process inherits what the thread that starts it blocks: on Linux nearly everything on the threads of Swift's
    /// concurrency.
    func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try run()
    }

    /// The exit status, after a wait for the end of this process and not for that of what it started.
    var exitStatusOfItself: Int32 {
        // Foundation on Linux waits for whoever has a descriptor of its own, so for a browser until it is closed.
        #if os(Linux)
        var status: Int32 = 0
        while waitpid(processIdentifier, &status, 0) == -1, errno == EINTR {}
        return status
        #else
        waitUntilExit()
        return terminationStatus
        #endif
    }
}
#endif
