// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Runs whose parent process or standard input is gone", .serialized)
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
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line, Tool.url.path]
        process.currentDirectoryURL = folder.url
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        // A tool in the background must not read the tests' standard input.
        process.standardInput = FileHandle.nullDevice
        try process.runWithSignals()
        try pipe.fileHandleForWriting.close()
        return (process, pipe.fileHandleForReading)
    }

    @Test(
        "A run ends when the process that started it is gone, however that process ended",
        arguments: ["preview --serve", "check --watch"],
        [SIGKILL, SIGHUP]
    )
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
            let number = try output.read(until: "no errors").prefix { $0 != "." }
            let tool = try #require(pid_t(number))
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
        let path =
            folder.url.appendingPathComponent("bin").path + ":"
            + ProcessInfo.processInfo.environment["PATH", default: ""]
        // The tool does not remove the page that it opens, so the page goes to the test's own folder.
        let variables = "PATH='\(path)' TMPDIR='\(folder.url.path)' SUBSTITUTE_VERB=substitute-edit"
        let line = "\(variables) \"$0\" preview --open > out.txt; echo ended"
        try await onThread {
            let (shell, output) = try self.shell(line)
            #expect(try output.read(until: "ended") == "ended\n")
            kill(shell.processIdentifier, SIGKILL)
        }
        #expect(try String(contentsOf: folder.url.appendingPathComponent("out.txt"), encoding: .utf8).contains("1 URL"))
        let received = try String(contentsOf: folder.url.appendingPathComponent("env.txt"), encoding: .utf8)
        #expect(received.contains("PATH=") && !received.contains("SUBSTITUTE_"))
    }

    @Test("Closed standard input is reported", arguments: ["check -", "explain -", "add -"])
    func closedInput(command: String) async throws {
        let result = try await Program.run("/bin/sh", ["-c", "\"$0\" \(command) <&-", Tool.url.path], in: folder.url)
        #expect(result.status == 1)
        let name = command.prefix { $0 != " " }
        #expect(result.errors == "substitute \(name): standard input is closed; name a file instead of \"-\"\n")
    }

    @Test("Through the package manager, standard input is refused, even if it could be read")
    func plugin() async throws {
        let environment = ["SUBSTITUTE_VERB": "substitute"]
        let result = try await Tool.start(["check", "-"], input: Data("{}".utf8), environment: environment)
        #expect(result.status == 1)
        #expect(result.errors.contains("the package manager gives a plugin no standard input; name a file"))
    }
}
#endif
