import Foundation

// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
extension Process {
    /// Starts the process with no signal blocked.
    ///
    /// A process inherits the signal mask of the thread that starts it. On Linux, the threads of Swift's concurrency
    /// block nearly every signal. If such a thread started the process without this function, the process would receive
    /// none of these signals.
    func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var blocked = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try run()
    }

    /// The status with which this process ended, or the number of the signal that ended it; 0 if it succeeded.
    ///
    /// The getter blocks until this process ends. It does not wait for the process's own child processes.
    var exitStatusOfItself: Int32 {
        // On Linux, all descendants of this process inherit a file descriptor of Foundation, and `waitUntilExit()`
        // waits until all of them have closed it. If this process has started a browser, `waitUntilExit()` therefore
        // waits until the browser is closed.
        #if os(Linux)
        var status: Int32 = 0
        var result = waitpid(processIdentifier, &status, 0)
        while result == -1, errno == EINTR { result = waitpid(processIdentifier, &status, 0) }
        // The low 7 bits are the signal, and the next byte is the exit status (wait(2)).
        if result != -1 { return status & 0x7F != 0 ? status & 0x7F : status >> 8 & 0xFF }
        // `waitpid` failed, because Foundation has already received the status. Foundation receives it only after all
        // descendants have closed the file descriptor. So they have closed it by now, and `waitUntilExit()` does not
        // wait for them.
        #endif
        waitUntilExit()
        return terminationStatus
    }
}
#endif
