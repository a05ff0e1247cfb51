// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Runs whose parent or standard input is gone, and processes that a run starts", .serialized)
struct LeftRunsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(#"{ "https://h/a": "a.txt" }"#, to: "manifest.json")
        try folder.write("a", to: "a.txt")
    }

    /// Starts a shell that runs a command line with the tool as `$0`.
    ///
    /// The returned handle reads the output, which ends once no process has the pipe open. Do not wait for the shell
    /// itself: on Linux, Foundation would also wait for every process that the shell has started.
    private func shell(_ line: String) throws -> (shell: Process, output: FileHandle) {
        let (process, pipe) = (Self.process(line), Pipe())
        process.currentDirectoryURL = folder.url
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        // A tool in the background must not read the tests' standard input.
        process.standardInput = FileHandle.nullDevice
        try process.runWithSignals()
        try pipe.fileHandleForWriting.close()
        return (process, pipe.fileHandleForReading)
    }

    private static let ends = [("preview --serve", SIGKILL), ("check --watch", SIGHUP)]

    @Test("A run ends when the process that started it is gone, however that process ended", arguments: ends)
    func orphan(command: String, signal: Int32) async throws {
        try await onThread {
            // The second shell prints its process ID, which the tool then has.
            let (shell, output) = try self.shell("sh -c 'echo $$.; exec \"$0\" \(command)' \"$0\" & wait")
            let tool = try #require(pid_t(output.read(until: "1 URL").prefix { $0 != "." }))
            kill(shell.processIdentifier, signal)
            // The end of the pipe is reached only when no process has the pipe open.
            #expect(throws: Never.self, "the tool \(tool) still runs") { try output.read(until: nil) }
        }
    }

    @Test("Under nohup, a run continues without its parent")
    func nohup() async throws {
        try await onThread {
            let (shell, output) = try self.shell("nohup \"$0\" check --watch & echo \"$!.\"; wait")
            let tool = try #require(pid_t(output.read(until: "no errors").prefix { $0 != "." }))
            defer { kill(tool, SIGKILL) }
            kill(shell.processIdentifier, SIGKILL)
            // The tool usually notices the end of its parent within this time. On a busy machine it may take longer;
            // the test then proves less, but does not fail.
            usleep(1_000_000)
            try self.folder.write("{}", to: "manifest.json")
            #expect(try output.read(until: "\n\n").contains("0 URLs"))
        }
    }

    @Test("--open does not wait for the browser or pass it the plugin's variables", .timeLimit(.minutes(10)))
    func browser() async throws {
        // This `xdg-open` starts a stand-in for a browser, which runs until the pipe ends.
        try folder.write("#!/bin/sh\nenv > env.txt\ncat pipe &\n", to: "bin/xdg-open")
        chmod(folder.url.appendingPathComponent("bin/xdg-open").path, 0o755)
        let pipe = folder.url.appendingPathComponent("pipe").path
        mkfifo(pipe, 0o600)
        // Open both ends, so that neither side waits for the other to open its end.
        let descriptor = open(pipe, O_RDWR)
        defer { close(descriptor) }
        let path = "\(folder.url.path)/bin:" + ProcessInfo.processInfo.environment["PATH", default: ""]
        // The tool does not remove the page that it opens, so the page goes to the test's own folder.
        let variables = "PATH='\(path)' TMPDIR='\(folder.url.path)' SUBSTITUTE_VERB=substitute-edit"
        try await onThread {
            let (shell, output) = try self.shell("\(variables) \"$0\" preview --open > out.txt; echo ended")
            #expect(try output.read(until: "ended") == "ended\n")
            kill(shell.processIdentifier, SIGKILL)
        }
        #expect(try String(contentsOf: folder.url.appendingPathComponent("out.txt"), encoding: .utf8).contains("1 URL"))
        let received = try String(contentsOf: folder.url.appendingPathComponent("env.txt"), encoding: .utf8)
        #expect(received.contains("PATH=") && !received.contains("SUBSTITUTE_"))
    }

    @Test("Closed standard input is reported, and through the package manager it is refused even if it could be read")
    func closedInput() async throws {
        for verb in ["check", "explain", "add"] {
            let words = ["-c", "\"$0\" \(verb) - <&-", Tool.url.path]
            let result = try await Program.run("/bin/sh", words, in: folder.url)
            let message = "substitute \(verb): standard input is closed; name a file instead of \"-\"\n"
            #expect(result.status == 1 && result.errors == message, "\(result)")
        }
        let environment = ["SUBSTITUTE_VERB": "substitute"]
        let result = try await Tool.start(["check", "-"], input: Data("{}".utf8), environment: environment)
        #expect(result.status == 1)
        #expect(result.errors.contains("the package manager gives a plugin no standard input; name a file"))
    }

    // MARK: - Processes that the tool starts

    private static func process(_ command: String) -> Process {
        let process = Process()
        (process.executableURL, process.arguments) = (URL(fileURLWithPath: "/bin/sh"), ["-c", command, Tool.url.path])
        return process
    }

    /// Foundation on Linux also waits for the process, and often receives the exit status before the tool does.
    @Test("The exit status is never lost", arguments: [("exit 3", Int32(3)), ("kill -9 $$", 9), ("", 0)])
    func exitStatus(command: String, status: Int32) async throws {
        let statuses = try await onThread {
            try (0..<(Program.isLongRun ? 100 : 15)).map { _ in
                let process = Self.process(command)
                try process.runWithoutBlockedSignals()
                return process.exitStatusOfItself
            }
        }
        #expect(Set(statuses) == [status])
    }

    @Test("The exit status is known while a child process of the process still runs")
    func child() async throws {
        let status = try await onThread {
            let (process, pipe) = (Self.process("sleep 1000 > /dev/null & echo $!; exit 4"), Pipe())
            process.standardOutput = pipe
            try process.runWithoutBlockedSignals()
            let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
            let child = try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)))
            defer { kill(child, SIGKILL) }
            return process.exitStatusOfItself
        }
        #expect(status == 4)
    }

    @Test("A command is named as the user calls it, through the plugin or directly")
    func calledName() {
        #expect(ToolName([:]).words("check") == "substitute check")
        let plugin = ToolName(["SUBSTITUTE_VERB": "substitute"])
        for line in ["substitute check --all", "substitute-edit check --fix", "substitute-edit init"] {
            let words = line.drop { $0 != " " }.dropFirst()
            #expect(plugin.words(String(words)) == "swift package \(line)")
        }
    }
}
#endif
