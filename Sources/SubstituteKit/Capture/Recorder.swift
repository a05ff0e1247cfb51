import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Writes what a browser loads as an HTTP Archive (HAR 1.2), with the body of each answer as its server sent it.
///
/// The bodies are those that the browser gets from the network, once the codings of their content are undone: bytes,
/// where the developer tools export decoded text. Of header fields only the values are kept that tell of nobody.
// Mutable state is only accessed inside the lock.
final class Recorder: Interceptor, @unchecked Sendable {
    private let lock = NSLock()
    private let file: FileHandle
    /// Every load with a body, by which it is known afterwards whether it broke off.
    private var loads: [(url: String, identifier: String, traffic: Traffic)] = []
    private var seen: Set<String> = []
    private var problem: (any Error)?
    private let whenRecorded: @Sendable (_ count: Int, _ bytes: Int) -> Void
    private var (count, bytes) = (0, 0)
    /// In bytes: a larger body is not taken.
    private let limit: Int
    /// The loads of the browser that runs now, with their credentials.
    var traffic: Traffic? {
        get { lock.withLock { currentTraffic } }
        set { lock.withLock { currentTraffic = newValue } }
    }
    private var currentTraffic: Traffic?

    /// Begins a recording, in a file that has no name, so that nobody else reads it and nothing of it is left.
    ///
    /// - Parameters:
    ///   - limit: The largest body that is taken, in bytes.
    ///   - whenRecorded: Called with the number of answers and of their bytes so far.
    /// - Throws: ``ToolError`` when it cannot be written.
    init(limit: Int, whenRecorded: @escaping @Sendable (Int, Int) -> Void) throws {
        (self.limit, self.whenRecorded) = (min(limit, Self.maximumBody), whenRecorded)
        var path = Array("\(FileManager.default.temporaryDirectory.path)/substitute-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw ToolError("nothing can be recorded: \(String(cString: strerror(errno)))") }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let creator = "{\"name\":\"substitute\",\"version\":\"\(toolVersion)\"}"
        try write(Data("{\"log\":{\"version\":\"1.2\",\"creator\":\(creator),\"entries\":[".utf8))
    }

    /// The largest body that a browser can hand over.
    private static let maximumBody = 200_000_000

    /// Ends the recording.
    ///
    /// - Returns: The whole of it.
    /// - Throws: What kept a part of it from being written.
    func finish() throws -> Data {
        try lock.withLock {
            if let problem { throw problem }
            try write(Data("]}}\n".utf8))
            do {
                try file.seek(toOffset: 0)
                return try file.readToEnd() ?? Data()
            } catch {
                throw ToolError("the recording cannot be read: \(FileSystem.reason(error))")
            }
        }
    }

    private func write(_ data: Data) throws {
        do {
            try file.write(contentsOf: data)
        } catch {
            throw ToolError("the recording cannot be written: \(FileSystem.reason(error))")
        }
    }

    /// The URLs whose loads broke off after their bodies seemed to be there.
    var incomplete: Set<String> {
        lock.withLock { Set(loads.filter { $0.traffic.isLost($0.identifier) }.map(\.url)) }
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
            let text = try await body()
            if text.isEmpty { return (nil, "it is empty") }
            let count = Base64.byteCount(of: text)
            if let length = held.plainLength, count < length {
                return (nil, "only \(count) of its \(counted(length, "byte")) came")
            }
            if count > limit { return (nil, "it has \(ByteCount(count)), more than \(ByteCount(limit))") }
            if let identifier = held.networkId, let traffic {
                lock.withLock { loads.append((held.request.url, identifier, traffic)) }
            }
            return (text, nil)
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
                try write((count > 0 ? Data(",\n".utf8) : Data("\n".utf8)) + json)
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
        let url = UserInformation.removed(from: held.request.url)
        request = Request(method: held.request.method, url: url, headers: asked.map(\.withoutSecret))
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
            // Where it leads may hold a token; the next entry has it, if it was loaded.
            redirectURL: ""
        )
    }

    /// A key that is the same for two recordings of one answer.
    var identity: String {
        var hash = FNV1a()
        hash.combine(Data((response.content.text ?? "").utf8))
        return "\(request.method) \(request.url) \(response.status) \(response.content.size) \(hash)"
    }
}

extension HeldRequest.Field {
    /// The fields whose values `import` reads, or which tell of nobody; of all others the names are enough.
    private static let kept: Set = [
        "accept", "accept-encoding", "accept-ranges", "access-control-allow-origin", "age", "cache-control",
        "content-encoding", "content-language", "content-length", "content-type", "date", "etag", "expires",
        "last-modified", "server", "vary",
    ]

    /// The field, without a value that may tell who somebody is.
    fileprivate var withoutSecret: HeldRequest.Field {
        Self.kept.contains(name.lowercased()) ? self : HeldRequest.Field(name: name, value: "")
    }
}
