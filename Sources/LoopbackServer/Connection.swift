import Foundation

/// A connection to a client, over which the server reads requests and writes responses.
struct Connection: ~Copyable {
    let descriptor: Int32
    private var buffer: [UInt8] = []

    /// The maximum size of a request's head, in bytes.
    private static let maximumHead = 64 * 1024
    /// The maximum size of a request's body, in bytes.
    private let maximumBody: Int

    init(descriptor: Int32, maximumBody: Int) {
        (self.descriptor, self.maximumBody) = (descriptor, maximumBody)
        // Send small responses at once. By default, the system delays them to send several together.
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        Socket.ignoreClosing(of: descriptor)
    }

    /// Reads the next request; nil if the client has disconnected, or has sent no valid request.
    mutating func readRequest() -> LoopbackServer.Request? {
        guard let head = readHead() else { return nil }
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        var hosts = 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].lowercased()
            if name == "host" { hosts += 1 }
            headers[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        // RFC 9112 §3.2: without exactly one `Host`, two readers of a request may disagree about its server.
        if hosts > 1 || hosts == 0 && words[2] == "HTTP/1.1" {
            _ = send(LoopbackServer.Response(status: 400, headers: ["Connection": "close"]).head())
            return nil
        }
        if headers["expect"]?.lowercased() == "100-continue" { _ = send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        let length = Int(headers["content-length"] ?? "0") ?? 0
        guard (0...maximumBody).contains(length), let body = read(length) else { return nil }
        return LoopbackServer.Request(
            method: String(words[0]),
            target: String(words[1]),
            headers: headers,
            body: body
        )
    }

    /// Sends a response; returns false if the connection cannot be used again.
    func write(_ response: LoopbackServer.Response, to request: LoopbackServer.Request) -> Bool {
        let output = LoopbackServer.Output(descriptor: descriptor, isHead: request.method == "HEAD")
        let isSent =
            response.sending?(response, output)
            ?? (send(response.head()) && (output.isHead || send(response.body)))
        return isSent && request.headers["connection"]?.lowercased() != "close"
    }

    private mutating func readHead() -> String? {
        let end = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            if let range = buffer[max(0, searched - 3)...].firstRange(of: end) {
                let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer.removeSubrange(..<range.upperBound)
                return head
            }
            searched = buffer.count
            guard buffer.count < Self.maximumHead, receive() else { return nil }
        }
    }

    private mutating func read(_ count: Int) -> Data? {
        while buffer.count < count {
            guard receive() else { return nil }
        }
        let body = Data(buffer[..<count])
        buffer.removeSubrange(..<count)
        return body
    }

    private mutating func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer.append(contentsOf: chunk[..<count])
            return true
        }
    }

    private func send(_ data: Data) -> Bool { Socket.send(data, to: descriptor) }
}
