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

    /// What the server answers.
    package struct Response: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: Data

        package init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// A plain text.
        package static func text(_ text: String, status: Int = 200) -> Response {
            Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
        }
    }
}
