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
            _ = send(Self.head(of: LoopbackServer.Response(status: 400, headers: ["Connection": "close"])))
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
        let interim = response.interim.map { interim in
            let fields = interim.headers.map { "\($0): \($1)\r\n" }.sorted().joined()
            return "HTTP/1.1 \(interim.status) Interim\r\n\(fields)\r\n"
        }
        .joined()
        let head = Data(interim.utf8) + Self.head(of: response)
        let body = request.method == "HEAD" ? Data() : response.body
        switch response.transfer {
        case .whole:
            guard send(head), send(body) else { return false }
        case .chunked(let size):
            guard send(head) else { return false }
            if request.method == "HEAD" { break }
            while let part = response.nextPart?() {
                guard sendChunk(part) else { return false }
            }
            guard sendChunks(of: body, size) else { return false }
        case .closingInHead:
            // Foundation on Linux crashes if a head has no header fields, so send all header fields before closing.
            _ = send(head.dropLast(2))
            return false
        case .closing(let count):
            _ = send(head) && send(body.prefix(count))
            return false
        case .stalling(let count):
            if send(head), send(body.prefix(count)) { waitForEnd() }
            return false
        case .silent:
            waitForEnd()
            return false
        }
        return request.headers["connection"]?.lowercased() != "close"
    }

    private static func head(of response: LoopbackServer.Response) -> Data {
        var headers = response.headers
        if case .chunked = response.transfer {
            headers["Transfer-Encoding"] = "chunked"
        } else if headers["Content-Length"] == nil {
            headers["Content-Length"] = String(response.body.count)
        }
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
        let reason = reasons[response.status] ?? "Status"
        return Data("HTTP/1.1 \(response.status) \(reason)\r\n\(fields.joined())\r\n".utf8)
    }

    private func sendChunks(of body: Data, _ size: Int) -> Bool {
        var rest = body
        while !rest.isEmpty {
            let chunk = rest.prefix(size)
            rest = rest.dropFirst(size)
            guard sendChunk(chunk) else { return false }
        }
        return send(Data("0\r\n\r\n".utf8))
    }

    private func sendChunk(_ chunk: Data) -> Bool {
        send(Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8))
    }

    /// Waits until the client closes the connection, or the server stops.
    private func waitForEnd() {
        var byte: UInt8 = 0
        while true {
            let count = recv(descriptor, &byte, 1, 0)
            guard count > 0 || count < 0 && errno == EINTR else { return }
        }
    }

    private static let reasons = [
        200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        404: "Not Found",
    ]

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
