// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Processes that the tool starts", .serialized)
struct ProcessTests {
    /// Foundation on Linux also waits for the process, and often receives the exit status before the tool does.
    @Test("The exit status is never lost", arguments: [("exit 3", Int32(3)), ("kill -9 $$", 9), ("", 0)])
    func exitStatus(command: String, status: Int32) async throws {
        let statuses = try await onThread {
            try (0..<(Program.isLongRun ? 100 : 20)).map { _ in
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/bin/sh")
                process.arguments = ["-c", command]
                try process.runWithoutBlockedSignals()
                return process.exitStatusOfItself
            }
        }
        #expect(Set(statuses) == [status])
    }

    @Test("The exit status is known while a child process of the process still runs")
    func child() async throws {
        let status = try await onThread {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let pipe = Pipe()
            process.standardOutput = pipe
            process.arguments = ["-c", "sleep 1000 > /dev/null & echo $!; exit 4"]
            try process.runWithoutBlockedSignals()
            let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
            let child = try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)))
            defer { kill(child, SIGKILL) }
            return process.exitStatusOfItself
        }
        #expect(status == 4)
    }

    @Test("A command is named as the user calls it, through the plugin or directly")
    func toolName() {
        #expect(ToolName([:]).words("check") == "substitute check")
        let plugin = ToolName(["SUBSTITUTE_VERB": "substitute"])
        #expect(plugin.words("check --all") == "swift package substitute check --all")
        #expect(plugin.words("check --fix") == "swift package substitute-edit check --fix")
        #expect(plugin.words("init") == "swift package substitute-edit init")
        #expect(plugin.words("--help") == "swift package substitute --help")
    }
}
#endif
