import Foundation
import LocalSubstitutionCache

/// Standard output, standard error and standard input, or what stands in for them.
///
/// Output is collected and written in large pieces.
package final class Console {
    /// A stream that a command writes to.
    enum Stream: Int32 {
        case output = 1
        case errors = 2
    }

    private var buffer: [UInt8] = []
    private let sink: (Stream, [UInt8]) -> Void
    private let source: () -> Result<Data, ToolError>

    /// Whether standard output is a terminal that may be given colours (https://no-color.org).
    let isColoured: Bool

    /// The streams of the process.
    package convenience init() {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            isColoured: isatty(1) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb",
            sink: { Self.write($1, to: $0.rawValue) },
            source: Self.readStandardInput
        )
    }

    /// Streams that a test or another program hands in.
    ///
    /// - Parameters:
    ///   - isColoured: Whether output may have colours.
    ///   - sink: Takes what is written, in large pieces.
    ///   - source: Gives all of the input.
    init(
        isColoured: Bool = false,
        sink: @escaping (Stream, [UInt8]) -> Void,
        source: @escaping () -> Result<Data, ToolError>
    ) {
        (self.isColoured, self.sink, self.source) = (isColoured, sink, source)
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
        sink(.errors, Array((line + "\n").utf8))
    }

    /// Writes what was collected.
    func flush() {
        sink(.output, buffer)
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
    ///
    /// - Throws: ``ToolError`` when there is none.
    func readAll() throws(ToolError) -> Data { try source().get() }

    private static func readStandardInput() -> Result<Data, ToolError> {
        // The package manager gives plugins none; what the descriptor leads to there is nobody's input.
        let isPlugin = ProcessInfo.processInfo.environment["SUBSTITUTE_VERB"] != nil
        guard !isPlugin, isInput(0) else {
            let reason = isPlugin ? "the package manager gives a plugin no standard input" : "standard input is closed"
            return .failure(ToolError("\(reason); name a file instead of \"-\""))
        }
        if isatty(0) == 1 { write(Array("Reading from the terminal; end with Control-D.\n".utf8), to: 2) }
        do {
            return .success(try FileHandle.standardInput.readToEnd() ?? Data())
        } catch {
            return .failure(ToolError("standard input cannot be read: \(FileSystem.reason(error))"))
        }
    }

    /// True for a file, a pipe, a device or a socket.
    ///
    /// Where the descriptor was closed, the runtime may have it by now for an event queue, which has no type.
    private static func isInput(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != 0
    }

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
