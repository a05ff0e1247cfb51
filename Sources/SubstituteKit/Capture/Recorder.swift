import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Writes what a browser loads as an HTTP Archive (HAR 1.2), with the body of each answer as its server sent it.
///
/// The bodies are those that the browser gets from the network, once the codings of their content are undone: bytes,
/// where the developer tools export decoded text. Values of `Authorization`, `Cookie` and the like are left out.
// Mutable state is only accessed inside the lock.
final class Recorder: Interceptor, @unchecked Sendable {
    private let lock = NSLock()
    private var file: FileHandle?
    private var seen: Set<String> = []
    private var problem: (any Error)?
    private let whenRecorded: @Sendable (_ count: Int, _ bytes: Int) -> Void
    private var (count, bytes) = (0, 0)
    /// In bytes: a larger body is not taken.
    private let limit: Int
    /// What each load carried of somebody, of the browser that runs now.
    var traffic: Traffic? {
        get { lock.withLock { currentTraffic } }
        set { lock.withLock { currentTraffic = newValue } }
    }
    private var currentTraffic: Traffic?

    /// Begins a recording.
    ///
    /// - Parameters:
    ///   - url: A file, which is made or replaced.
    ///   - limit: The largest body that is taken, in bytes.
    ///   - whenRecorded: Called with the number of answers and of their bytes so far.
    /// - Throws: Foundation's error when it cannot be written.
    init(to url: URL, limit: Int, whenRecorded: @escaping @Sendable (Int, Int) -> Void) throws {
        (self.limit, self.whenRecorded) = (limit, whenRecorded)
        try Data().write(to: url)
        file = try FileHandle(forWritingTo: url)
        let creator = "{\"name\":\"substitute\",\"version\":\"\(CommandLineTool.version)\"}"
        try file?.write(contentsOf: Data("{\"log\":{\"version\":\"1.2\",\"creator\":\(creator),\"entries\":[".utf8))
    }

    /// Ends the recording.
    ///
    /// - Throws: What kept a part of it from being written.
    func finish() throws {
        try lock.withLock {
            if let problem { throw problem }
            try file?.write(contentsOf: Data("]}}\n".utf8))
            try file?.close()
            file = nil
        }
    }

    // MARK: - Requests

    func decide(on held: HeldRequest) async -> Decision {
        // A player asks for parts; without the field its server sends the whole, as a file has to be.
        held.request.method == "GET" && held.request.headers.keys.contains { $0.lowercased() == "range" }
            ? .goOnWithout("Range") : .goOn
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        guard held.request.url.hasPrefix("http") else { return .goOn }
        var (text, comment) = (String?.none, String?.none)
        if held.isStream {
            comment = "it is a stream without an end"
        } else if held.hasBody, held.request.method == "GET" {
            (text, comment) = await self.text(of: held, body)
        }
        record(HAREntry(held, text, comment, carried(by: held)))
        return .goOn
    }

    /// The body in base64, or why there is none.
    private func text(
        of held: HeldRequest,
        _ body: @Sendable () async throws -> String
    ) async -> (String?, comment: String?) {
        if let length = held.responseLength, length > limit {
            return (nil, "it has \(ByteCount(length)), more than \(ByteCount(limit))")
        }
        do {
            return (try await body(), nil)
        } catch {
            return (nil, "it did not come to its end")
        }
    }

    private func carried(by held: HeldRequest) -> Traffic.Credentials {
        held.networkId.flatMap { traffic?.credentials(of: $0) } ?? Traffic.Credentials()
    }

    private func record(_ entry: HAREntry) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        lock.withLock {
            // A page that is loaded for several devices loads most of it again.
            guard seen.insert(entry.identity).inserted else { return }
            do {
                let json = try encoder.encode(entry)
                try file?.write(contentsOf: (count > 0 ? Data(",\n".utf8) : Data("\n".utf8)) + json)
            } catch {
                problem = problem ?? error
            }
            count += 1
            bytes += entry.response.content.size
            whenRecorded(count, bytes)
        }
    }
}

/// One request and its answer, as HAR 1.2 writes them.
private struct HAREntry: Encodable {
    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion = "HTTP/1.1"
        let cookies: [HeldRequest.Field] = []
        let headers: [HeldRequest.Field]
        let queryString: [HeldRequest.Field] = []
        let headersSize = -1
        let bodySize = -1
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        let text: String?
        let encoding: String?
        let comment: String?
    }

    struct Response: Encodable {
        let status: Int
        let statusText = ""
        let httpVersion = "HTTP/1.1"
        let cookies: [HeldRequest.Field] = []
        let headers: [HeldRequest.Field]
        let content: Content
        let redirectURL: String
        let headersSize = -1
        let bodySize = -1
    }

    struct Timings: Encodable {
        let send = 0
        let wait = 0
        let receive = 0
    }

    struct Cache: Encodable {}

    let startedDateTime: String
    let time = 0
    let request: Request
    let response: Response
    let cache = Cache()
    let timings = Timings()

    init(_ held: HeldRequest, _ text: String?, _ comment: String?, _ carried: Traffic.Credentials) {
        startedDateTime = Date().formatted(.iso8601)
        var asked = held.request.headers.map { HeldRequest.Field(name: $0.key, value: $0.value) }
        for (name, isCarried) in [("Authorization", carried.hasAuthorization), ("Cookie", carried.hasCookies)]
        where isCarried && !asked.contains(where: { $0.name.lowercased() == name.lowercased() }) {
            asked.append(HeldRequest.Field(name: name, value: ""))
        }
        request = Request(method: held.request.method, url: held.request.url, headers: asked.map(\.withoutSecret))
        let size = text.map(Base64.byteCount(of:))
        response = Response(
            status: held.responseErrorReason == nil ? held.responseStatusCode ?? 0 : 0,
            headers: (held.responseHeaders ?? []).map(\.withoutSecret),
            content: Content(
                size: size ?? 0,
                mimeType: held.responseField("content-type") ?? "x-unknown",
                text: text,
                encoding: text == nil ? nil : "base64",
                comment: comment
            ),
            redirectURL: held.responseField("location") ?? ""
        )
    }

    /// What two recordings of the same answer have in common.
    var identity: String {
        var hash = FNV1a()
        hash.combine(Data((response.content.text ?? "").utf8))
        return "\(request.method) \(request.url) \(response.status) \(response.content.size) \(hash)"
    }
}

extension HeldRequest.Field {
    /// The field without its value, where that tells who somebody is.
    fileprivate var withoutSecret: HeldRequest.Field {
        let secret: Set = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
        return secret.contains(name.lowercased()) ? HeldRequest.Field(name: name, value: "") : self
    }
}
