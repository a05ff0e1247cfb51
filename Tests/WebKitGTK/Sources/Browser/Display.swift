import Foundation

/// A virtual X11 display in memory (Xvfb); it ends with this process.
struct Display {
    let name: String

    init() throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/Xvfb")
        // Xvfb chooses a free display number, and writes the number to standard output.
        process.arguments = ["-displayfd", "1", "-screen", "0", "1280x1600x24", "-nolisten", "tcp", "-terminate"]
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = Data()
        while !text.contains(UInt8(ascii: "\n")) {
            let part = pipe.fileHandleForReading.availableData
            if part.isEmpty { throw BrowserError("Xvfb does not start") }
            text.append(part)
        }
        name = ":" + String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
