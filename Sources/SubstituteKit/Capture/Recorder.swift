import Foundation
import SubstitutionRules
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

/// Records the loads of a browser as the entries of an HTTP Archive (HAR 1.2).
///
/// The bodies are the bytes that the browser receives from the network, with their content codings removed. Recordings
/// that are exported from a browser's developer tools contain decoded text instead. Values of header fields are kept
/// only if they reveal nothing about the user.
// Mutable state is only accessed inside the lock.
final class Recorder: Interceptor, @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [Recorded] = []
    /// An entry without its body, and a function that reads the body; nil if there is none.
    typealias Recorded = (entry: HAREntry, body: (@Sendable () throws -> Data)?)
    /// Every load with a recorded body, kept to find out later whether the load broke off.
    private var loads: [(url: String, identifier: String, isDocument: Bool, traffic: Traffic)] = []
    private var seen: Set<String> = []
    /// The first error of a body that could not be written.
    private var problem: (any Error)?
    private let whenRecorded: @Sendable (_ count: Int, _ bytes: Int) -> Void
    private var bytes = 0
    /// The bodies, in a file without a name.
    ///
    /// A body may be for one person: nothing of the file remains when the process ends, even if it is killed.
    private let file: FileHandle
    /// The maximum size of a body, in bytes; a larger body is not recorded.
    let limit: Int
    /// The loads of the current browser, with their credentials.
    var traffic: Traffic? {
        get { lock.withLock { currentTraffic } }
        set { lock.withLock { currentTraffic = newValue } }
    }
    private var currentTraffic: Traffic?

    /// - Parameters:
    ///   - staging: The folder for the bodies.
    ///   - limit: The maximum size of a recorded body, in bytes.
    ///   - whenRecorded: Called after each recorded response, with the number of responses so far, and the number of
    ///     their bytes.
    /// - Throws: An error if nothing can be written to the folder.
    init(in staging: StagingFolder, limit: Int, whenRecorded: @escaping @Sendable (Int, Int) -> Void) throws {
        (self.limit, self.whenRecorded) = (min(limit, BrowserSettings.largestBody), whenRecorded)
        let url = try staging.write(Data())
        file = try FileHandle(forUpdating: url)
        unlink(url.path)
    }

    /// The maximum size of all bodies together, in bytes: a page can send without end.
    private static let maximumTotal = 1_000_000_000

    /// Returns what was recorded, in the order of the responses.
    ///
    /// - Throws: An error if a body could not be written.
    func finish() throws -> [Recorded] {
        try lock.withLock {
            if let problem { throw problem }
            return entries
        }
    }

    /// The reasons why bodies that had seemed good are of no use, keyed by URL.
    var leftOut: [String: String] {
        lock.withLock {
            var reasons: [String: String] = [:]
            for load in loads where load.traffic.isIncomplete(load.identifier) {
                reasons[load.url] = "the connection was lost before it was complete"
            }
            // The page may also show the resource, for example as an image.
            let shown = Set(loads.filter { !$0.isDocument }.map(\.url))
            for load in loads where load.traffic.isDownload(load.url) && !shown.contains(load.url) {
                reasons[load.url] = "it is a download"
            }
            return reasons
        }
    }

    // MARK: - Requests

    func decide(on held: HeldRequest) async -> Decision {
        // A media player requests byte ranges, but the file has to contain the whole resource. Without the `Range`
        // field, the server sends all of it.
        let fields = held.request.headers.filter { $0.key.lowercased() != "range" }
        return held.request.method == "GET" && fields.count < held.request.headers.count
            ? .proceedWith(fields) : .proceed
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        // An app has no service worker, so what such a worker caches is not recorded.
        guard held.request.url.hasPrefix("http"), !held.isOfServiceWorker else { return .proceed }
        var (data, comment) = (Data?.none, String?.none)
        if held.isStream {
            comment = "it is a stream without an end"
        } else if held.hasBody, held.request.method == "GET" {
            (data, comment) = await self.data(of: held, body)
        }
        record(HAREntry(held, comment, carried(by: held)), data)
        return .proceed
    }

    /// Returns the body, or the reason why there is none.
    private func data(
        of held: HeldRequest,
        _ body: @Sendable () async throws -> String
    ) async -> (Data?, comment: String?) {
        if let length = held.responseLength, length > limit {
            return (nil, "it has \(ByteCount(length)), more than \(ByteCount(limit))")
        }
        do {
            guard let data = Data(base64Encoded: try await body()) else { return (nil, "it is not in base64") }
            let count = data.count
            if let length = held.plainLength, count < length {
                return (nil, "only \(count) of its \(counted(length, "byte")) came")
            }
            if let traffic {
                let isDocument = held.resourceType == "Document"
                lock.withLock { loads.append((held.request.url, held.identifier, isDocument, traffic)) }
            }
            if count > limit { return (nil, "it has \(ByteCount(count)), more than \(ByteCount(limit))") }
            if count + lock.withLock({ bytes }) > Self.maximumTotal {
                return (nil, "the recording would have more than \(ByteCount(Self.maximumTotal))")
            }
            return (data, nil)
        } catch is Browser.EndlessBody {
            return (nil, Browser.EndlessBody.reason)
        } catch {
            return (nil, "it did not come to its end")
        }
    }

    private func carried(by held: HeldRequest) -> Traffic.Credentials {
        traffic?.credentials(of: held.networkId ?? "", held.request.url) ?? Traffic.Credentials()
    }

    private func record(_ entry: HAREntry, _ data: Data?) {
        lock.withLock {
            // If a page is loaded for several devices, most of its resources are loaded several times, but recorded
            // once.
            let content = Fingerprint(data ?? Data()).rawValue
            guard seen.insert("\(entry.method) \(entry.url) \(entry.status) \(content)").inserted else { return }
            var entry = entry
            entry.size = data?.count ?? 0
            do {
                entries.append((entry, try data.map(written)))
            } catch {
                problem = problem ?? error
            }
            bytes += entry.size
            whenRecorded(entries.count, bytes)
        }
    }

    /// Writes a body to the file.
    private func written(_ data: Data) throws -> @Sendable () throws -> Data {
        let (start, count) = (try file.seekToEnd(), data.count)
        try file.write(contentsOf: data)
        return { [file, lock] in
            try lock.withLock {
                try file.seek(toOffset: start)
                return try count == 0 ? Data() : file.read(upToCount: count) ?? Data()
            }
        }
    }
}

extension Data {
    /// Creates a recording (HAR) with its bodies.
    init(_ recorded: [Recorder.Recorded]) throws {
        let entries = try recorded.map { entry, body in
            var whole = entry
            whole.base64 = try body?().base64EncodedString()
            return try whole.json
        }
        self = HAREntry.beginning(creator: "substitute", version: libraryVersion)
        self += Data("\n".utf8) + entries.joined(separator: Data(",\n".utf8)) + HAREntry.end
    }
}

extension HAREntry {
    /// Creates an entry without a body from a request that the browser holds.
    ///
    /// - Parameters:
    ///   - held: The request, with the response head.
    ///   - comment: The reason why the body is left out.
    ///   - carried: The credentials that the browser added.
    fileprivate init(_ held: HeldRequest, _ comment: String?, _ carried: Traffic.Credentials) {
        let url = held.request.url
        let plain = hasUserInformation(url) ? URL(string: url).map(Redirect.plain)?.absoluteString ?? url : url
        let status = held.responseErrorReason == nil ? held.responseStatusCode ?? 0 : 0
        self.init(Date(), held.request.method, plain, status: status)
        // These fields decide between versions, and reveal the browser and its language.
        var asked = RemoteVersion.asked(held.request.headers)
        asked["accept-language"] = carried.language ?? asked["accept-language"]
        requestFields = asked.map { ($0, $1) }
        requestFields += held.request.headers.keys.filter { asked[$0.lowercased()] == nil }.map { ($0, "") }
        resourceType = held.resourceType.lowercased()
        for (name, isCarried) in [("Authorization", carried.hasAuthorization), ("Cookie", carried.hasCookies)]
        where isCarried && !requestFields.contains(where: { $0.name.lowercased() == name.lowercased() }) {
            requestFields.append((name, ""))
        }
        // The target of a redirect may contain a token, so this entry omits the target. If the target was loaded, it
        // has a separate entry.
        responseFields = (held.responseHeaders ?? []).map { ($0.name, $0.value) }
        (type, self.comment) = (held.responseField("content-type"), comment)
    }
}
