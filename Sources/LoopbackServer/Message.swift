package import Foundation

extension LoopbackServer {
    /// What a client asked for.
    package struct Request: Sendable {
        package let method: String
        /// Path and query, as they came.
        package let target: String
        /// Names in lower case; of several fields of one name the last.
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

    /// What the server answers.
    package struct Response: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: Data
        package var transfer: Transfer
        /// Interim responses, which are sent before (RFC 9110 §15.2).
        package var interim: [Interim] = []
        /// The parts of a body that is made while it is sent, in chunks; nil where `body` is all.
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

        /// A stream.
        ///
        /// - Parameter nextPart: Called on a thread of the server's for each part, until it returns nil; it may wait.
        /// - Returns: An answer with these parts in chunks.
        package static func stream(_ nextPart: @escaping @Sendable () -> Data?) -> Response {
            var response = Response(transfer: .chunked(Int.max))
            response.nextPart = nextPart
            return response
        }

        /// A plain text.
        package static func text(_ text: String, status: Int = 200) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }

    /// How an answer travels.
    package enum Transfer: Hashable, Sendable {
        /// With its length, at once.
        case whole
        /// In chunks (RFC 9112 §7.1) of so many bytes.
        case chunked(Int)
        /// The connection is closed in the middle of the head.
        case closingInHead
        /// The connection is closed after so many bytes of the body.
        case closing(after: Int)
        /// Nothing follows after so many bytes of the body, until the client is gone or the server stops.
        case stalling(after: Int)
        /// Nothing is answered at all, until the client is gone or the server stops.
        case silent
    }
}
