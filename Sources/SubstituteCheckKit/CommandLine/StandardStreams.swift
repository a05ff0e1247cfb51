package import Foundation
import LocalSubstitutionCache

/// The standard streams of the process.
package enum StandardStreams {
    /// The streams that a user reads as they are written.
    package static var terminals: Set<Console.Stream> {
        Set([Console.Stream.output, .errors].filter { isatty($0.rawValue) == 1 })
    }

    /// Writes all bytes to a stream.
    ///
    /// - Returns: False if that is no longer possible; for standard output, the reason is written to standard error.
    package static func write(_ bytes: [UInt8], to stream: Console.Stream) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(stream.rawValue, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // The pipe was made non-blocking by another process, so wait here until it takes more.
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
    /// - Parameter environment: The environment variables, in which a command plugin passes the verb it was called
    ///   with.
    /// - Returns: The bytes, or the reason why there are none.
    package static func read(_ environment: [String: String]) -> Result<Data, ToolError> {
        // The package manager gives a plugin no standard input, so the descriptor leads to something else.
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
    /// If the descriptor was closed, the runtime may have reused it for an event queue, which has no type.
    private static func isInput(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != 0
    }
}
