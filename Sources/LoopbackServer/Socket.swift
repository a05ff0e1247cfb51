package import Foundation

/// The differences between the systems' stream sockets.
package enum Socket {
    /// The type of a socket that carries a stream.
    package static var stream: Int32 {
        // Only Glibc declares the socket types as an enumeration.
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    /// Keeps a closed connection from raising SIGPIPE, which would kill the process.
    package static func ignoreClosing(of descriptor: Int32) {
        // Against SIGPIPE, Darwin has a socket option, and the other systems have a flag of `send`.
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Sends all bytes, and blocks while the socket blocks.
    ///
    /// - Returns: False if the peer has disconnected, or takes no more bytes within the socket's timeout.
    package static func send(_ data: Data, to descriptor: Int32) -> Bool {
        // Darwin has no flag against SIGPIPE; there, `ignoreClosing` sets a socket option.
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
