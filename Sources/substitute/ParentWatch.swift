import Foundation

/// Ends the tool when the process that started it is gone.
///
/// The package manager gives a plugin, and what that starts, process groups of their own: neither Control-C nor a
/// terminal that is closed reaches them. A run under `nohup` goes on, and so does one that init started.
enum ParentWatch {
    /// The time between two looks, in milliseconds.
    private static let interval = 250

    /// Begins to watch, until the process ends.
    ///
    /// A parent that is gone counts as SIGTERM, so that a command which is at work leaves everything as it was.
    static func begin() {
        // A plugin may be gone before its tool has begun, so it says who it is.
        let plugin = ProcessInfo.processInfo.environment["SUBSTITUTE_PARENT"].flatMap { pid_t($0) }
        let parent = plugin ?? getppid()
        guard parent != 1, !ignoresHangUp else { return }
        let thread = Thread {
            while getppid() == parent { usleep(useconds_t(interval * 1000)) }
            kill(getpid(), SIGTERM)
        }
        thread.name = "ParentWatch"
        thread.start()
    }

    /// True under `nohup`, which ignores SIGHUP for the program that it starts (POSIX).
    private static var ignoresHangUp: Bool {
        let handler = signal(SIGHUP, SIG_IGN)
        signal(SIGHUP, handler)
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
