package import Foundation

/// A small HTTP/1.1 server on 127.0.0.1, for the Demo, the tool's preview, tests and benchmarks.
///
/// It keeps connections open, answers HEAD without a body, reads bodies with a `Content-Length`, and records every
/// request, so that a test can check which requests reached the network. It is not meant to be used on a network.
///
/// ```swift
/// let server = try LoopbackServer { request in .text("You asked for \(request.target)") }
/// defer { server.stop() }
/// let (data, _) = try await URLSession.shared.data(from: server.url)
/// ```
// Mutable state is only accessed inside the lock.
package final class LoopbackServer: @unchecked Sendable {
    /// The URL of the server: `http://127.0.0.1:port`.
    package let url: URL

    private let listener: Int32
    /// A pipe that wakes the thread that waits for connections.
    ///
    /// On Apple's systems, `shutdown` of a listening socket does not wake this thread.
    private let wake = Pipe()
    private let respond: @Sendable (Request) -> Response
    private let maximumBody: Int
    private let remembersRequests: Bool
    private let lock = NSLock()
    private var connections: Set<Int32> = []
    private var received: [Request] = []
    private var isStopped = false

    /// Starts listening on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - maximumBody: The maximum size of a request's body, in bytes; a larger body closes the connection.
    ///   - remembersRequests: True to record the requests in ``requests``.
    ///   - respond: Returns the response to a request; called on the thread of the request's connection.
    /// - Throws: `POSIXError` if no socket is available.
    package init(
        maximumBody: Int = 256 * 1024 * 1024,
        remembersRequests: Bool = true,
        _ respond: @escaping @Sendable (Request) -> Response
    ) throws {
        listener = socket(AF_INET, Socket.stream, 0)
        guard listener >= 0 else { throw Self.lastError() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
            let error = Self.lastError()
            close(listener)
            throw error
        }
        self.url = url
        (self.respond, self.maximumBody, self.remembersRequests) = (respond, maximumBody, remembersRequests)
        Thread.detachNewThread { [self] in acceptConnections() }
    }

    /// The requests since the start or the last ``forgetRequests()``, in the order in which they were received.
    package var requests: [Request] { lock.withLock { received } }

    /// Removes all recorded requests.
    package func forgetRequests() {
        lock.withLock { received = [] }
    }

    /// Closes all connections and stops listening.
    ///
    /// The server's threads close their sockets soon after this call returns; then the port is free.
    package func stop() {
        lock.withLock {
            guard !isStopped else { return }
            isStopped = true
            // Refuse new connections, if the system supports that. Then wake the threads that wait in poll and recv;
            // each of these threads closes its own descriptor.
            shutdown(listener, Int32(SHUT_RDWR))
            try? wake.fileHandleForWriting.close()
            for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func acceptConnections() {
        while true {
            let descriptor = waitForConnection() ? accept(listener, nil, nil) : -1
            if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
            // Descriptors or memory are used up. A connection releases some when it ends, so try again later.
            if descriptor < 0, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                Thread.sleep(forTimeInterval: 0.05)
                continue
            }
            let isWanted = lock.withLock {
                guard descriptor >= 0, !isStopped else { return false }
                connections.insert(descriptor)
                return true
            }
            guard isWanted else {
                if descriptor >= 0 { close(descriptor) }
                close(listener)
                return
            }
            Thread.detachNewThread { [self] in
                serve(Connection(descriptor: descriptor, maximumBody: maximumBody))
                lock.withLock {
                    connections.remove(descriptor)
                    _ = close(descriptor)
                }
            }
        }
    }

    /// Waits for a connection to accept; returns false if the server was stopped.
    private func waitForConnection() -> Bool {
        var descriptors = [
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        errno = 0
        let count = poll(&descriptors, nfds_t(descriptors.count), -1)
        return count > 0 && descriptors[1].revents == 0
    }

    private func serve(_ connection: consuming Connection) {
        while let request = connection.readRequest() {
            if remembersRequests { lock.withLock { received.append(request) } }
            guard connection.write(respond(request), to: request) else { return }
        }
    }

    private static func lastError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
