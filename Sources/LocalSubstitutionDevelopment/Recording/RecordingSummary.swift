import Foundation
public import LocalSubstitutionCache

/// The counts of a recording so far, and the URLs that the network answered.
///
/// The ``description`` is a text for a debug screen.
public struct RecordingSummary: Sendable, CustomStringConvertible {
    /// A URL of a named host, which the network answered.
    public struct Miss: Sendable {
        /// The URL; it prints without values.
        public let url: RequestedURL
        /// The number of times that the URL was loaded.
        package fileprivate(set) var loadCount = 0
        /// The total size of the responses in bytes; responses of unknown length count as 0.
        package fileprivate(set) var byteCount = 0
        /// The reason why no file answers, as a sentence.
        public let reason: String
    }

    /// The number of requests.
    ///
    /// In a chain of redirects, each request counts.
    public internal(set) var requestCount = 0
    /// The number of requests that a file or an archived copy answered.
    public private(set) var fileResponseCount = 0
    /// The number of bytes that were not loaded from the network, because a file or an archived copy answered.
    package private(set) var fileByteCount = 0
    /// The number of requests that are not in the file, because the file has reached its limit.
    package internal(set) var omittedRequestCount = 0
    /// The reason why the last attempt to write the file failed, as a sentence; nil if it succeeded.
    package internal(set) var problem: String?
    /// The numbers of requests to the hosts that neither the manifest nor the options name, keyed by host.
    package private(set) var unnamedHostCounts: [String: Int] = [:]
    private var missed: [RequestedURL: Miss] = [:]

    /// The URLs that the network answered, those with the most bytes first.
    ///
    /// A URL whose only responses are redirects that were followed is left out. So is a URL of which no request is in
    /// the file, and a URL of an unnamed host.
    public var misses: [Miss] {
        missed.values.sorted {
            ($0.byteCount, $0.loadCount, $1.url.description) > ($1.byteCount, $1.loadCount, $0.url.description)
        }
    }

    mutating func addFileResponse(byteCount count: Int) {
        fileResponseCount += 1
        fileByteCount.add(stated: count)
    }

    mutating func addLoad(ofUnnamed host: String) { unnamedHostCounts[host, default: 0] += 1 }

    mutating func addMiss(_ url: RequestedURL, byteCount: Int, _ reason: @autoclosure () -> String?) {
        var miss = missed[url] ?? Miss(url: url, reason: reason() ?? "")
        miss.loadCount += 1
        miss.byteCount.add(stated: byteCount)
        missed[url] = miss
    }

    /// Says how the requests to a host are shown.
    static func remedy(_ host: String) -> String { "hosts: [\(quoted(host))] shows them" }

    /// A few lines of text: the numbers, and the five URLs with the most bytes from the network.
    public var description: String {
        let format = ByteCountFormatter()
        var lines = [
            "\(requestCount) \(requestCount == 1 ? "request" : "requests"), \(fileResponseCount) answered by the app, "
                + "\(format.string(fromByteCount: Int64(fileByteCount))) not loaded"
        ]
        let misses = misses
        if !misses.isEmpty { lines.append("From the network:") }
        for miss in misses.prefix(5) {
            let bytes = format.string(fromByteCount: Int64(miss.byteCount))
            lines.append("  \(miss.loadCount) × \(miss.url), \(bytes)")
        }
        if misses.count > 5 { lines.append("  and \(misses.count - 5) more") }
        for (host, count) in unnamedHostCounts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(5) {
            lines.append("\(visible(host)): \(count) \(count == 1 ? "request" : "requests"); \(Self.remedy(host))")
        }
        if omittedRequestCount > 0 {
            lines.append("\(omittedRequestCount) requests are not in the file, which has reached its limit.")
        }
        if let problem { lines.append(problem) }
        return lines.joined(separator: "\n")
    }
}
