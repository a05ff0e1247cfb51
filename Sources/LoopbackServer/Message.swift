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

    /// The head of an interim response.
    package struct Interim: Sendable {
        package let status: Int
        package let headers: [String: String]

        package init(status: Int, headers: [String: String] = [:]) {
            self.status = status
            self.headers = headers
        }
    }

    /// The server's response.
    package struct Response: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: Data
        package var transfer: Transfer
        /// The interim responses that are sent before this response (RFC 9110 §15.2).
        package var interim: [Interim] = []
        /// A function that creates the body in parts while the body is sent; nil if `body` is the whole body.
        ///
        /// The function returns nil after the last part.
        package var nextPart: (@Sendable () -> Data?)?

        package init(
            status: Int = 200,
            headers: [String: String] = [:],
            body: Data = Data(),
            transfer: Transfer = .whole,
            interim: [Interim] = []
        ) {
            self.interim = interim
            self.status = status
            self.headers = headers
            self.body = body
            self.transfer = transfer
        }

        /// Returns a response with a body that is created while it is sent.
        ///
        /// - Parameter nextPart: Returns the next part, or nil after the last one. The function is called on one of the
        ///   server's threads, and may block.
        /// - Returns: A response that sends these parts in chunks.
        package static func stream(_ nextPart: @escaping @Sendable () -> Data?) -> Response {
            var response = Response(transfer: .chunked(Int.max))
            response.nextPart = nextPart
            return response
        }

        /// Returns a plain-text response.
        package static func text(_ text: String, status: Int = 200) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }

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
