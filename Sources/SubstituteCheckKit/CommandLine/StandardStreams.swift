package import Foundation
import LocalSubstitutionCache

/// The standard streams of the process.
package enum StandardStreams {
    /// The streams that are connected to a terminal.
    package static var terminals: Set<Console.Stream> {
        Set([Console.Stream.output, .errors].filter { isatty($0.rawValue) == 1 })
    }

    /// Writes all bytes to a stream.
    ///
    /// - Returns: False if the bytes cannot be written. If `stream` is standard output, the reason is then written to
    ///   standard error.
    package static func write(_ bytes: [UInt8], to stream: Console.Stream) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(stream.rawValue, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process has made the pipe non-blocking, so wait here until the pipe takes more bytes.
                var state = pollfd(fd: stream.rawValue, events: Int16(POLLOUT), revents: 0)
                poll(&state, 1, -1)
            } else if errno != EINTR {
                let reason = "substitute: the output cannot be written: \(String(cString: strerror(errno)))\n"
                if stream == .output { _ = write(Array(reason.utf8), to: .errors) }
                return false
            }
        }
        return true
    }

    /// Reads all of standard input.
    ///
    /// - Parameter environment: The environment variables; `SUBSTITUTE_VERB` is set if a command plugin runs the tool.
    /// - Returns: The bytes, or the reason why there are none.
    package static func read(_ environment: [String: String]) -> Result<Data, ToolError> {
        // The package manager gives a plugin no standard input. In a plugin, descriptor 0 is something else, so it is
        // not read.
        let isPlugin = environment["SUBSTITUTE_VERB"] != nil
        guard !isPlugin, isInput(0) else {
            let reason = isPlugin ? "the package manager gives a plugin no standard input" : "standard input is closed"
            return .failure(ToolError("\(reason); name a file instead of \"-\""))
        }
        if isatty(0) == 1 { _ = write(Array("Reading from the terminal; end with Control-D.\n".utf8), to: .errors) }
        do {
            return .success(try FileHandle.standardInput.readToEnd() ?? Data())
        } catch {
            return .failure(ToolError("standard input cannot be read: \(FileSystem.reason(error))"))
        }
    }

    /// True for a file, a pipe, a device or a socket.
    ///
    /// If the descriptor was closed, the runtime may have reused its number for an event queue. An event queue has no
    /// file type.
    private static func isInput(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != 0
    }
}
