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

    @Test(
        "A shell reads each word of a printed command as it is",
        arguments: [
            "https://h/a.css?v=1&w=2", "a b", "it's", "$HOME", "~/x", "*.css", "https://h/%20!x", "ä;|<>`\"", "",
        ]
    )
    func printedCommand(word: String) async throws {
        let line = ToolName([:]).line(["add", word, "https://h/a.css"])
        #expect(line.hasSuffix(" https://h/a.css"))
        let script = line.replacingOccurrences(of: "substitute ", with: "printf '%s\\n' ")
        let result = try await Program.run("/bin/sh", ["-c", script])
        #expect(result.output == "add\n\(word)\nhttps://h/a.css\n")
    }
}
#endif
