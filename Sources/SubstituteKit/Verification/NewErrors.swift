import Foundation
import LocalSubstitutionCache

/// The errors that occurred in a load with the files, and not in loads without them.
struct NewErrors: Sendable {
    /// A load that failed.
    struct FailedLoad: Sendable {
        let url: String
        /// The server's status; nil if no server answered.
        let status: Int?
        /// Chromium's reason; nil if a server answered.
        let failure: String?
        /// True if the page also asked for the URL without the files, and got it.
        let wasAskedBefore: Bool
    }

    let loads: [FailedLoad]
    /// The errors that scripts and the browser reported, one line each.
    let complaints: [String]

    var isEmpty: Bool { loads.isEmpty && complaints.isEmpty }

    /// The observations from one or more loads of a page.
    struct Observations {
        var asked: Set<String> = []
        var loads: [LiveTable.FinishedLoad] = []
        var complaints: [ReportedError] = []

        mutating func add(_ other: Observations) {
            asked.formUnion(other.asked)
            loads += other.loads
            complaints += other.complaints
        }
    }

    /// Compares a load with the files with the loads without them.
    ///
    /// Two loads count as the same if their URLs differ only in their queries, because many pages write a new number
    /// into some queries each time.
    init(in loads: [LiveTable.FinishedLoad], _ complaints: [ReportedError], notIn before: Observations) {
        let failed = loads.filter(\.hasFailed)
        let failedBefore = Set(before.loads.filter(\.hasFailed).map { Self.withoutQuery($0.url) })
            .union(before.complaints.compactMap { $0.failedURL.map(Self.withoutQuery) })
        let loadedBefore = Set(before.loads.filter { !$0.hasFailed && !$0.isCancelled }.map(\.url))
        var seen: Set<String> = []
        self.loads = failed.filter { load in
            // Without the files, the request may still have been waiting for its response.
            let isKnown = loadedBefore.contains(load.url) || !before.asked.contains(load.url)
            return isKnown && !load.isOfBrowser && !failedBefore.contains(Self.withoutQuery(load.url))
                && seen.insert(load.url).inserted
        }
        .map {
            let wasAsked = loadedBefore.contains($0.url)
            return FailedLoad(url: $0.url, status: $0.status, failure: $0.failure, wasAskedBefore: wasAsked)
        }

        // The list of loads already has the failed loads that the browser reports in addition.
        let reported = Set(failed.map { Self.withoutQuery($0.url) }).union(failedBefore)
        // A list that has reached its limit does not say what else occurred.
        let isWhole = before.complaints.count < DevTools.maximumComplaints
        var counts = Dictionary(before.complaints.map { ($0.words, 1) }, uniquingKeysWith: +)
        self.complaints = complaints.filter { complaint in
            if let url = complaint.failedURL, reported.contains(Self.withoutQuery(url)) { return false }
            counts[complaint.words, default: 0] -= 1
            return isWhole && counts[complaint.words, default: 0] < 0
        }
        .map(\.words)
    }

    private static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
}

extension LiveTable.FinishedLoad {
    /// True for the icon that the browser itself requests, and not the page.
    var isOfBrowser: Bool { kind == "Other" && URL(ofBrowser: url)?.path == "/favicon.ico" }
}
