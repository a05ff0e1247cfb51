import Foundation
import SubstitutionRules
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

/// Records the loads of a browser as an HTTP Archive (HAR 1.2), with the bytes of each response's body.
///
/// The bodies are the bytes that the browser receives from the network, with their content codings removed. Recordings
/// that are exported from a browser's developer tools contain decoded text instead. Values of header fields are kept
/// only if they reveal nothing about the user.
// Mutable state is only accessed inside the lock.
final class Recorder: Interceptor, @unchecked Sendable {
    private let lock = NSLock()
    private var recording = HAREntry.beginning(creator: "substitute", version: libraryVersion)
    /// Every load with a recorded body, kept to find out later whether the load broke off.
    private var loads: [(url: String, identifier: String, isDocument: Bool, traffic: Traffic)] = []
    private var seen: Set<String> = []
    private var problem: (any Error)?
    private let whenRecorded: @Sendable (_ count: Int, _ bytes: Int) -> Void
    private var (count, bytes) = (0, 0)
    /// The maximum size of a body, in bytes; a larger body is not recorded.
    let limit: Int
    /// The loads of the current browser, with their credentials.
    var traffic: Traffic? {
        get { lock.withLock { currentTraffic } }
        set { lock.withLock { currentTraffic = newValue } }
    }
    private var currentTraffic: Traffic?

    /// - Parameters:
    ///   - limit: The maximum size of a recorded body, in bytes.
    ///   - whenRecorded: Called after each recorded response, with the number of responses so far, and the number of
    ///     their bytes.
    init(limit: Int, whenRecorded: @escaping @Sendable (Int, Int) -> Void) {
        (self.limit, self.whenRecorded) = (min(limit, BrowserSettings.largestBody), whenRecorded)
    }

    /// The maximum size of all bodies together, in bytes, because the import holds the recording in memory.
    private static let maximumTotal = 1_000_000_000

    /// Ends the recording, and returns it.
    ///
    /// - Throws: An error if a part of the recording could not be encoded.
    func finish() throws -> Data {
        try lock.withLock {
            if let problem { throw problem }
            recording += HAREntry.end
            return recording
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
        var (text, comment) = (String?.none, String?.none)
        if held.isStream {
            comment = "it is a stream without an end"
        } else if held.hasBody, held.request.method == "GET" {
            (text, comment) = await self.text(of: held, body)
        }
        record(HAREntry(held, text, comment, carried(by: held)))
        return .proceed
    }

    /// Returns the body in base64, or the reason why there is none.
    private func text(
        of held: HeldRequest,
        _ body: @Sendable () async throws -> String
    ) async -> (String?, comment: String?) {
        if let length = held.responseLength, length > limit {
            return (nil, "it has \(ByteCount(length)), more than \(ByteCount(limit))")
        }
        do {
            let text = try await body()
            let count = text.bytesInBase64
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
            return (text, nil)
        } catch is Browser.EndlessBody {
            return (nil, Browser.EndlessBody.reason)
        } catch {
            return (nil, "it did not come to its end")
        }
    }

    private func carried(by held: HeldRequest) -> Traffic.Credentials {
        traffic?.credentials(of: held.networkId ?? "", held.request.url) ?? Traffic.Credentials()
    }

    private func record(_ entry: HAREntry) {
        lock.withLock {
            // If a page is loaded for several devices, most of its resources are loaded several times, but recorded
            // once.
            guard seen.insert(entry.identity).inserted else { return }
            do {
                let json = try entry.json
                recording += Data((count > 0 ? ",\n" : "\n").utf8) + json
            } catch {
                problem = problem ?? error
            }
            count += 1
            bytes += entry.size
            whenRecorded(count, bytes)
        }
    }
}

extension HAREntry {
    /// Creates an entry from a request that the browser holds, and from the body of its response.
    ///
    /// - Parameters:
    ///   - held: The request, with the response head.
    ///   - text: The body in base64; nil if it is left out.
    ///   - comment: The reason why the body is left out.
    ///   - carried: The credentials that the browser added.
    fileprivate init(_ held: HeldRequest, _ text: String?, _ comment: String?, _ carried: Traffic.Credentials) {
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
        (type, base64, self.comment) = (held.responseField("content-type"), text, comment)
        size = text?.bytesInBase64 ?? 0
    }

    /// A key that is the same if one response is recorded twice.
    fileprivate var identity: String {
        "\(method) \(url) \(status) \(size) \(FNV1a(of: base64 ?? ""))"
    }
}

extension String {
    /// The number of bytes that this base64 encodes (RFC 4648 §4): three for every four characters, less padding.
    fileprivate var bytesInBase64: Int { utf8.count / 4 * 3 - utf8.suffix(2).count { $0 == UInt8(ascii: "=") } }
}
