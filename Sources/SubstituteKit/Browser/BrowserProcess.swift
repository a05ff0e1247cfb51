import Foundation
import LocalSubstitutionCache
import LoopbackServer
import SubstituteCheckKit

/// A browser process that is used once, with a fresh profile.
///
/// A socket connects the process to the tool, so no port is open. The socket closes even if the tool crashes. The
/// browser then ends by itself, and the shell that started the browser removes the profile.
// The process is started once, and ended once.
final class BrowserProcess: @unchecked Sendable {
    /// The tool's end of the socket, which ``DevTools`` closes.
    let descriptor: Int32
    // iOS, tvOS, watchOS and visionOS cannot start processes.
    #if os(macOS) || os(Linux)
    private let process = Process()
    private let folder: String
    #endif

    /// The time in seconds within which a browser must end by itself.
    private static let patience = 5.0

    /// The script that starts the browser, and removes the profile once it has ended.
    ///
    /// The browser reads commands from descriptor 3, and writes to descriptor 4 (`--remote-debugging-pipe`). Both
    /// descriptors are the script's end of the socket. After the browser has ended, the script writes the browser's
    /// last log output to this socket. The terminal's signals reach neither the browser nor the shell. A child process
    /// may outlive the browser and still write into the profile, so the profile is removed twice.
    private static let script = """
        trap '' HUP INT QUIT TERM
        exec 3<&0 4>&1
        "$@" </dev/null >/dev/null 2>"$0/log" &
        echo $! >"$0/pid"
        wait $!
        status=$?
        tail -c 4000 "$0/log"
        [ $status -eq 0 ] || echo "status $status"
        rm -rf "$0"
        (sleep 2; rm -rf "$0") </dev/null >/dev/null 2>&1 3>&- 4>&- &
        """

    /// - Parameters:
    ///   - program: The browser.
    ///   - arguments: The browser's command-line switches.
    ///   - environment: The environment variables.
    /// - Throws: ``ToolError`` if the browser cannot be started.
    init(_ program: BrowserProgram, _ arguments: [String], _ environment: [String: String]) throws(ToolError) {
        // iOS, tvOS, watchOS and visionOS cannot start processes.
        #if os(macOS) || os(Linux)
        let ends = try Self.sockets()
        descriptor = ends.own
        do {
            folder = try Self.profile()
        } catch {
            close(ends.own)
            close(ends.other)
            throw error
        }
        do {
            let other = FileHandle(fileDescriptor: ends.other, closeOnDealloc: true)
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments =
                [
                    "-c", Self.script, folder, program.path, "--remote-debugging-pipe",
                    "--user-data-dir=\(folder)/profile",
                ]
                + arguments
            // Remove the variables by which the package manager's plugin controls the tool; the browser must not
            // inherit them. On Linux, the browser writes nowhere outside `folder` except in `~/.pki`, which holds the
            // certificates that the user trusts.
            process.environment = environment.filter { !$0.key.hasPrefix("SUBSTITUTE_") }
                .merging(["TMPDIR": folder, "XDG_CACHE_HOME": folder]) { $1 }
            (process.standardInput, process.standardOutput) = (other, other)
            process.standardError = FileHandle.nullDevice
            try process.runWithoutBlockedSignals()
            try other.close()
        } catch {
            close(descriptor)
            rmdir(folder)
            throw ToolError("\(quoted(program.path)) cannot be started: \(FileSystem.reason(error))")
        }
        #else
        throw ToolError("no browser can be started on this system")
        #endif
    }

    // iOS, tvOS, watchOS and visionOS cannot start processes.
    #if os(macOS) || os(Linux)
    private static func sockets() throws(ToolError) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Socket.stream, 0, &ends) == 0 else {
            throw ToolError("no socket can be created: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // If the browser stops reading, a send times out instead of blocking forever.
        var limit = timeval(tv_sec: Int(patience) * 4, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        Socket.ignoreClosing(of: ends[0])
        return (ends[0], ends[1])
    }

    /// Creates a folder that no other user can read.
    ///
    /// The folder's path is short, because Chromium uses it in a socket's path, and on Linux a socket's path has at
    /// most 107 bytes.
    private static func profile() throws(ToolError) -> String {
        let usual = FileManager.default.temporaryDirectory.path
        let temporary = usual.utf8.count > 45 ? "/tmp" : usual
        var path = Array("\(temporary)/substitute-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else {
            throw ToolError("no folder can be created in \(quoted(temporary)): \(String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    #endif

    /// The memory in use by the browser's main process, in bytes; nil if it is not known.
    var memory: Int? {
        // Linux has a file for this, macOS a function.
        #if os(Linux)
        guard let browser, let text = try? String(contentsOfFile: "/proc/\(browser)/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * Int(getpagesize())
        #elseif os(macOS)
        guard let browser else { return nil }
        var info = proc_taskinfo()
        let size = Int32(MemoryLayout<proc_taskinfo>.size)
        guard proc_pidinfo(browser, PROC_PIDTASKINFO, 0, &info, size) == size else { return nil }
        return Int(info.pti_resident_size)
        #else
        return nil
        #endif
    }

    // iOS, tvOS, watchOS and visionOS cannot start processes.
    #if os(macOS) || os(Linux)
    /// The browser's process; nil if the shell has not started it yet.
    private var browser: pid_t? {
        let text = try? String(contentsOfFile: folder + "/pid", encoding: .utf8)
        return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }.flatMap { $0 > 1 ? $0 : nil }
    }
    #endif

    /// Ends the browser, and returns once its profile is removed.
    ///
    /// Blocks the thread, for some seconds at most. The owner of the descriptor must disconnect first.
    func end() {
        // iOS, tvOS, watchOS and visionOS cannot start processes.
        #if os(macOS) || os(Linux)
        let leader = process.processIdentifier
        let stop = DispatchWorkItem { [self] in
            if let browser { kill(browser, SIGKILL) }
            // Foundation on Linux makes the shell the leader of a process group.
            if getpgid(leader) == leader { kill(-leader, SIGKILL) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: stop)
        _ = process.exitStatusOfItself
        stop.cancel()
        // If the shell was killed, it has not removed the folder.
        if FileSystem.kind(of: folder) != nil { try? FileManager.default.removeItem(atPath: folder) }
        #endif
    }
}
