import Foundation
import LocalSubstitutionCache

/// Standard output, standard error and standard input.
///
/// Output is collected and written in large pieces; whoever reads it may close the pipe at any time, which ends the
/// tool quietly, as it ends others (SIGPIPE).
final class Console {
    private var buffer: [UInt8] = []

    /// Whether standard output is a terminal that may be given colours (https://no-color.org).
    let isColoured: Bool

    init() {
        signal(SIGPIPE, SIG_DFL)
        let environment = ProcessInfo.processInfo.environment
        isColoured = isatty(1) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes a line to standard output.
    func print(_ line: String) {
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 64 * 1024 { flush() }
    }

    /// Writes a line to standard error.
    func complain(_ line: String) {
        flush()
        Self.write(Array((line + "\n").utf8), to: 2)
    }

    /// Writes what was collected.
    func flush() {
        Self.write(buffer, to: 1)
        buffer.removeAll(keepingCapacity: true)
    }

    /// `text` in a colour, on a terminal that has some.
    func coloured(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// What terminals call "select graphic rendition" (ECMA-48 §8.3.117).
    enum Colour: Int {
        case bold = 1
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// All of standard input.
    func readAll() -> Data { FileHandle.standardInput.readDataToEndOfFile() }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Whoever made the pipe asked not to wait.
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&state, 1, -1)
            } else if errno != EINTR {
                let reason = "substitute: the output cannot be written: \(String(cString: strerror(errno)))\n"
                if descriptor == 1 { write(Array(reason.utf8), to: 2) }
                exit(1)
            }
        }
    }

    /// Writes a file, or says why that is not possible.
    static func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw ToolError(
                "\(quoted(path)) cannot be written; its folder must exist, and it must not be a folder itself"
            )
        }
    }
}
