import Foundation

/// Ends the tool when its parent process has ended.
///
/// The package manager starts a plugin in a separate process group. The plugin's child processes therefore receive no
/// signal after Control-C or when the terminal is closed. A run under `nohup`, or a run that init (process 1) started,
/// does not end with its parent process.
enum ParentWatch {
    /// The time between two checks, in milliseconds.
    private static let interval = 250

    /// Watches the parent from now on, until this process ends.
    ///
    /// When the parent has ended, the tool sends itself SIGTERM. The handler for SIGTERM undoes what the running
    /// command has done.
    static func begin() {
        // The plugin passes its process ID. If the plugin ends before this call, `getppid()` no longer returns that ID.
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

    /// True under `nohup`.
    ///
    /// `nohup` starts a program with SIGHUP ignored (POSIX).
    private static var ignoresHangUp: Bool {
        let handler = signal(SIGHUP, SIG_IGN)
        signal(SIGHUP, handler)
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
