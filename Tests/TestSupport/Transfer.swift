package import Foundation
package import LoopbackServer

extension LoopbackServer {
    /// The way in which a response is sent.
    package enum Transfer: Hashable, Sendable {
        /// At once, with a `Content-Length`.
        case whole
        /// In chunks of this many bytes (RFC 9112 §7.1).
        case chunked(Int)
        /// The connection is closed in the middle of the head.
        case closingInHead
        /// The connection is closed after this many bytes of the body.
        case closing(after: Int)
        /// Nothing follows after this many bytes of the body, but the connection stays open.
        case stalling(after: Int)
        /// No response is sent at all, but the connection stays open until the client disconnects or the server stops.
        case silent
    }
}

extension LoopbackServer.Response {
    package init(
        status: Int = 200,
        headers: [String: String] = [:],
        body: Data = Data(),
        transfer: LoopbackServer.Transfer
    ) {
        self.init(status: status, headers: headers, body: body)
        switch transfer {
        case .whole: break
        case .chunked(let size):
            sending = { response, output in
                var rest = response.body
                return output.sendChunks(of: response) {
                    defer { rest = rest.dropFirst(size) }
                    return rest.isEmpty ? nil : rest.prefix(size)
                }
            }
        case .closingInHead:
            // Foundation on Linux crashes if a head has no header fields, so send all header fields before closing.
            sending = { response, output in
                _ = output.send(response.head().dropLast(2))
                return false
            }
        case .closing(let count):
            sending = { response, output in
                _ = output.send(response.head()) && output.send(response.body.prefix(count))
                return false
            }
        case .stalling(let count):
            sending = { response, output in
                if output.send(response.head()), output.send(response.body.prefix(count)) { output.waitForEnd() }
                return false
            }
        case .silent: sending = Self.silent.sending
        }
    }

    /// Returns this response after an interim one (RFC 9110 §15.2).
    package func after(interim status: Int, _ headers: [String: String] = [:]) -> Self {
        var later = self
        later.sending = { response, output in
            let fields = headers.map { "\($0): \($1)\r\n" }.sorted().joined()
            let head = Data("HTTP/1.1 \(status) Interim\r\n\(fields)\r\n".utf8)
            return output.send(head + response.head()) && (output.isHead || output.send(response.body))
        }
        return later
    }
}
