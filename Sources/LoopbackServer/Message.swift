package import Foundation

extension LoopbackServer {
    /// A client's request.
    package struct Request: Sendable {
        package let method: String
        /// The path and the query, as received.
        package let target: String
        /// The header fields by name, in lower case; of several fields with the same name, only the last.
        package let headers: [String: String]
        package let body: Data

        /// The target without its query.
        package var path: String { String(target.prefix { $0 != "?" }) }
    }

    /// The server's response.
    package struct Response: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: Data
        /// A function that sends the response in a way of its own; nil to send head and body at once.
        ///
        /// The function returns false if the connection cannot be used again. It is called on one of the server's
        /// threads, and may block.
        package var sending: (@Sendable (Response, Output) -> Bool)?

        package init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }

        /// Returns a response with a body that is created while it is sent.
        ///
        /// - Parameter nextPart: Returns the next part, or nil after the last one; may block.
        /// - Returns: A response that sends these parts in chunks.
        package static func stream(_ nextPart: @escaping @Sendable () -> Data?) -> Response {
            var response = Response()
            response.sending = { $1.sendChunks(of: $0, nextPart) }
            return response
        }

        /// A response that never comes; the connection stays open until the client disconnects or the server stops.
        package static var silent: Response {
            var response = Response()
            response.sending = { _, output in
                output.waitForEnd()
                return false
            }
            return response
        }

        /// Returns a plain-text response.
        package static func text(_ text: String, status: Int = 200) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }

        /// The head, for a body of the length of `body`, or in chunks (RFC 9112 §7.1).
        package func head(isChunked: Bool = false) -> Data {
            var headers = headers
            if isChunked {
                headers["Transfer-Encoding"] = "chunked"
            } else if headers["Content-Length"] == nil {
                headers["Content-Length"] = String(body.count)
            }
            let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
            let reason = Self.reasons[status] ?? "Status"
            return Data("HTTP/1.1 \(status) \(reason)\r\n\(fields.joined())\r\n".utf8)
        }

        private static let reasons = [
            200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
            304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
            404: "Not Found",
        ]
    }

    /// The way to the client, for a response that is sent in parts.
    package struct Output {
        let descriptor: Int32
        /// True if the response has no body, because it answers HEAD.
        package let isHead: Bool

        /// Sends bytes; returns false if the client has disconnected.
        package func send(_ data: Data) -> Bool { Socket.send(data, to: descriptor) }

        /// Sends a head, and the parts of a body in chunks.
        package func sendChunks(of response: Response, _ nextPart: () -> Data?) -> Bool {
            guard send(response.head(isChunked: true)) else { return false }
            if isHead { return true }
            while let part = nextPart() {
                guard send(Data("\(String(part.count, radix: 16))\r\n".utf8) + part + Data("\r\n".utf8)) else {
                    return false
                }
            }
            return send(Data("0\r\n\r\n".utf8))
        }

        /// Waits until the client closes the connection, or the server stops.
        package func waitForEnd() {
            var byte: UInt8 = 0
            while true {
                let count = recv(descriptor, &byte, 1, 0)
                guard count > 0 || count < 0 && errno == EINTR else { return }
            }
        }
    }
}
