import Foundation

/// Ends the tool when its parent process has ended.
///
/// The package manager gives a plugin, and the processes that the plugin starts, separate process groups. So neither
/// Control-C nor a closed terminal reaches them. A run under `nohup` continues, and so does one that init started.
enum ParentWatch {
    /// The time between two checks, in milliseconds.
    private static let interval = 250

    /// Watches the parent from now on, until this process ends.
    ///
    /// If the parent is gone, the tool sends itself SIGTERM, so that a running command leaves everything as it was.
    static func begin() {
        // A plugin may have ended before its tool starts, so it passes its process ID.
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
