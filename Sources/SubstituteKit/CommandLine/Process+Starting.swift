import Foundation

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
extension Process {
    /// Starts the process with no signal blocked.
    ///
    /// A process inherits the signal mask of the thread that starts it. On Linux, the threads of Swift's concurrency
    /// block nearly every signal.
    func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try run()
    }

    /// The exit status of this process; blocks until it ends, but does not wait for the processes that it started.
    var exitStatusOfItself: Int32 {
        // On Linux, Foundation waits until every process that inherited Foundation's own descriptor has ended. If this
        // process has started a browser, Foundation would therefore wait until the browser is closed.
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
