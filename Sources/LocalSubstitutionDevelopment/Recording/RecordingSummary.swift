import Foundation
import SubstitutionStandards

/// The counts of a recording so far, and the URLs that the network answered.
///
/// The ``description`` is a text for a debug screen.
public struct RecordingSummary: Sendable, CustomStringConvertible {
    /// A URL that the network answered.
    public struct Miss: Sendable {
        /// The URL, without secrets.
        public let url: String
        /// The number of times that the URL was loaded.
        public fileprivate(set) var times = 0
        /// The total size of the responses in bytes; responses of unknown length count as 0.
        public fileprivate(set) var byteCount = 0
        /// The reason why no file answers, as a sentence.
        public let reason: String
    }

    /// The number of requests.
    ///
    /// In a chain of redirects, each request counts.
    public internal(set) var requests = 0
    /// The number of requests that a file or an archived copy answered.
    public private(set) var fromFiles = 0
    /// The number of bytes that were not loaded from the network, because a file or an archived copy answered.
    public private(set) var bytesFromFiles = 0
    /// The number of requests that are not in the file, because the file has reached its limit.
    public internal(set) var omitted = 0
    /// The number of the app's events that came too fast to be recorded.
    ///
    /// In the file, the requests of these events are missing or incomplete.
    public internal(set) var droppedEvents = 0
    /// The reason why the last attempt to write the file failed, as a sentence; nil if it succeeded.
    public internal(set) var problem: String?
    private var missed: [String: Miss] = [:]

    /// The URLs that the network answered, those with the most bytes first.
    ///
    /// A URL whose only responses are redirects that were followed is left out. So is a URL of which no request is in
    /// the file.
    public var misses: [Miss] {
        missed.values.sorted { ($0.byteCount, $0.times, $1.url) > ($1.byteCount, $1.times, $0.url) }
    }

    mutating func addFileResponse(byteCount count: Int) {
        fromFiles += 1
        bytesFromFiles.add(stated: count)
    }

    /// Adds an ended load that needs a separate entry in the file.
    ///
    /// If the file lacks the entry, the URL is not added to the misses.
    mutating func addLoad(_ load: RecordedLoad) {
        guard let (answer, url, isOmitted) = load.count else { return }
        switch answer.answeredBy {
        // The network was queried first, so the bytes of the file or copy do not count as saved.
        case .file, .archive: fromFiles += 1
        case .network:
            if isOmitted, missed[url] == nil { return }
            var miss = missed[url] ?? Miss(url: url, reason: answer.reason ?? "")
            miss.times += 1
            miss.byteCount.add(stated: answer.bytes)
            missed[url] = miss
        case .cache, .nobody: break
        }
    }

    /// A sentence that states the number of dropped events; nil if no events were dropped.
    var sentenceOnDroppedEvents: String? {
        guard droppedEvents > 0 else { return nil }
        return "\(droppedEvents) \(droppedEvents == 1 ? "event" : "events") came too fast to be recorded."
    }

    /// A few lines of text: the numbers, and the five URLs with the most bytes from the network.
    public var description: String {
        let format = ByteCountFormatter()
        var lines = [
            "\(requests) \(requests == 1 ? "request" : "requests"), \(fromFiles) answered by the app, "
                + "\(format.string(fromByteCount: Int64(bytesFromFiles))) not loaded"
        ]
        let misses = misses
        if !misses.isEmpty { lines.append("From the network:") }
        for miss in misses.prefix(5) {
            let bytes = format.string(fromByteCount: Int64(miss.byteCount))
            lines.append("  \(miss.times) × \(miss.url), \(bytes)")
        }
        if misses.count > 5 { lines.append("  and \(misses.count - 5) more") }
        if omitted > 0 { lines.append("\(omitted) requests are not in the file, which has reached its limit.") }
        if let sentenceOnDroppedEvents { lines.append(sentenceOnDroppedEvents) }
        if let problem { lines.append(problem) }
        return lines.joined(separator: "\n")
    }
}
