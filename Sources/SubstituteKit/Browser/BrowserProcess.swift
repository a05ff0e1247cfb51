import Foundation
import LocalSubstitutionCache
import LoopbackServer
import SubstituteCheckKit

/// A browser that was started for one run, with a fresh profile, connected to the tool by one socket and by no port.
///
/// However the tool ends, the socket closes: then the browser ends by itself, and the shell that started it removes the
/// profile.
// The process is started once, and ended once.
final class BrowserProcess: @unchecked Sendable {
    /// The tool's end of the socket, which ``DevTools`` closes.
    let descriptor: Int32
    // iOS and its relatives start no processes.
    #if os(macOS) || os(Linux)
    private let process = Process()
    private let folder: String
    #endif

    /// The seconds that a browser has to end by itself.
    private static let patience = 5.0

    /// Starts the browser, and removes the profile when it has ended.
    ///
    /// The browser reads commands from descriptor 3, and writes to descriptor 4 (`--remote-debugging-pipe`). Its last
    /// words follow what it has written. Signals of the terminal reach neither it nor the shell. A process of the
    /// browser that ends after it may still write into the profile, which is therefore removed twice.
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
    ///   - arguments: Its switches.
    ///   - environment: The variables of the environment.
    /// - Throws: ``ToolError`` when it cannot be started.
    init(_ program: BrowserProgram, _ arguments: [String], _ environment: [String: String]) throws(ToolError) {
        // iOS and its relatives start no processes.
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
            // What the browser starts is no plugin of the package manager. On Linux it writes nowhere else but into
            // `~/.pki`, where the certificates are that a person trusts.
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

    // iOS and its relatives start no processes.
    #if os(macOS) || os(Linux)
    private static func sockets() throws(ToolError) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Socket.stream, 0, &ends) == 0 else {
            throw ToolError("no socket can be had: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A browser that reads no more holds nobody up.
        var limit = timeval(tv_sec: Int(patience) * 4, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        Socket.ignoreClosing(of: ends[0])
        return (ends[0], ends[1])
    }

    /// A new folder that nobody else can look into.
    ///
    /// Its path is short: Chromium makes it part of a socket's, which has 107 bytes on Linux.
    private static func profile() throws(ToolError) -> String {
        let usual = FileManager.default.temporaryDirectory.path
        let temporary = usual.utf8.count > 45 ? "/tmp" : usual
        var path = Array("\(temporary)/substitute-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else {
            throw ToolError("no folder can be made in \(quoted(temporary)): \(String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    #endif

    /// Ends the browser, and returns when its profile is gone.
    ///
    /// Blocks the thread, for some seconds at most. Whoever has the descriptor disconnects before.
    func end() {
        // iOS and its relatives start no processes.
        #if os(macOS) || os(Linux)
        let (leader, folder) = (process.processIdentifier, folder)
        let stop = DispatchWorkItem {
            let text = try? String(contentsOfFile: folder + "/pid", encoding: .utf8)
            if let browser = text.flatMap({ pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }), browser > 1 {
                kill(browser, SIGKILL)
            }
            // Foundation on Linux makes the shell the leader of a process group.
            if getpgid(leader) == leader { kill(-leader, SIGKILL) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: stop)
        _ = process.exitStatusOfItself
        stop.cancel()
        // The shell does it, unless it was killed, too.
        if FileSystem.kind(of: folder) != nil { try? FileManager.default.removeItem(atPath: folder) }
        #endif
    }
}
