// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("Reading recordings", .serialized)
struct HARFileTests {
    @Test("A recording that Foundation's JSON parser reads is read, and no other makes the tool crash")
    func mistakes() throws {
        let entry = HAREntry(text: #"a "b" \ é"#, size: "12", asked: [.init("A", "b")]).json
        let recording = Array(HAR.text(of: [entry, "null", #"{"response":{"content":{"text":"\u0041"}}}"#]).utf8)
        var (taken, refused) = (0, 0)
        for index in stride(from: 0, to: recording.count, by: Program.isLongRun ? 1 : 7) {
            for mistake in [[], Array("\"".utf8), Array("\\".utf8)] + "{}[],: 0\n\u{1}".utf8.map({ [$0] }) {
                let changed = Data(recording[..<index] + mistake + recording[(index + 1)...])
                // The reader takes a body with invalid UTF-8 for broken, and Foundation refuses the whole text.
                guard String(data: changed, encoding: .utf8) != nil else { continue }
                let isJSON = (try? JSONSerialization.jsonObject(with: changed)) != nil
                do {
                    _ = try HARFile(changed, name: "page.har")
                    taken += 1
                } catch {
                    let isOther = error.message.contains("it has no \"log\"")
                    #expect(!isJSON || isOther, "\(String(decoding: changed, as: UTF8.self)): \(error.message)")
                    refused += 1
                }
            }
        }
        #expect(taken > 100 && refused > 100)
    }

    @Test(
        "The memory for importing does not grow with the number of exchanges",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "needs the proc file system of Linux")
    )
    func memory() async throws {
        let site = try SiteFolder()
        let fields = (0..<40).map { HAREntry.Field("Sec-Field-\($0)", "value") }
        let count = Program.isLongRun ? 1500 : 300
        let entries = (0..<count).map { HAREntry(url: "https://h/\($0).css", asked: fields, sent: fields) }
        let recording = Data(HAR.text(entries).utf8)
        try site.folder.write(recording, to: "page.har")
        // Fill the pipe, so that the process blocks when it prints its last line, and cannot exit.
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        while write(descriptor, " ", 1) == 1 {}
        _ = fcntl(descriptor, F_SETFL, flags)
        let process = Process()
        process.executableURL = Tool.url
        process.arguments = ["add", "manifest.json", "page.har"]
        process.currentDirectoryURL = site.url
        process.standardOutput = pipe
        try process.run()
        try pipe.fileHandleForWriting.close()
        while process.isRunning, try site.entries.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        let peak = try #require(Self.peakMemory(of: process.processIdentifier))
        try await onThread {
            _ = try pipe.fileHandleForReading.readToEnd()
            process.waitUntilExit()
        }
        #expect(process.terminationStatus == 0)
        #expect(try site.entries.count == count)
        // The tool itself uses about 50 MB in a debug build.
        #expect(peak < 100_000_000 + 8 * recording.count, "\(peak) for \(recording.count)")
    }

    /// Returns the peak memory of a process so far, in bytes; nil if the process has exited.
    private static func peakMemory(of process: Int32) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 }
    }
}
#endif
