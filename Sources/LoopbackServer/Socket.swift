package import Foundation

/// The differences between systems' stream sockets.
package enum Socket {
    /// The kind of a socket that carries a stream.
    package static var stream: Int32 {
        // Glibc alone makes an enumeration of the kinds of sockets.
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    /// Keeps a closed connection from raising SIGPIPE, which would end the process.
    package static func ignoreClosing(of descriptor: Int32) {
        // Darwin has no flag for send that does it, and the others have no option.
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Sends all bytes, and waits as long as the socket does.
    ///
    /// - Returns: False when the other side is gone, or takes no more within the socket's time.
    package static func send(_ data: Data, to descriptor: Int32) -> Bool {
        // The twin of the option above.
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = Foundation.send(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count,
                    flags
                )
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }
    }
}
