import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A comparison of two loads of a live page: one from the network, and one with the files.
struct Verification: Sendable {
    let url: String
    /// The number of GET requests over http and https, including the request for the page itself.
    ///
    /// A request and its redirects count as one.
    let requestCount: Int
    /// The number of requests in ``requestCount`` that files answered.
    let answeredCount: Int
    /// The total size of the bodies that came from files, in bytes.
    let fileBytes: Int
    /// The total size of the bodies that came from the network, in bytes.
    let networkBytes: Int
    /// The mapped resources for which the server's response differs from the file.
    let changes: [ServedComparison.Change]
    var misses: [Miss]
    /// The URLs that failed only in the load with the files.
    var failures: [String]
    /// The errors that were reported only in the load with the files.
    var complaints: [String]
    /// Sentences for the user, for example about a refused download, a closed pop-up, or a cropped screenshot.
    var notes: [String]
    /// The status of the server's response for the page.
    let status: Int?
    /// Both screenshots, as PNG in base64; nil once they have been written.
    var pictures: (network: String, files: String)?
    var comparison: PictureComparison

    /// Loads a page twice, each time in a newly started browser, and compares the results.
    ///
    /// - Throws: ``ToolError`` if the page cannot be loaded.
    init(
        of url: String,
        with table: SubstitutionTable,
        _ explainer: MissExplainer,
        _ settings: BrowserSettings,
        _ manner: PageVisit.Manner
    ) async throws {
        let served = ServedComparison(table)
        let before = PageVisit.ReportedErrors()
        let first = try await Browser.run(settings, served, onEvent: { before.receive($0) }) { browser in
            try await PageVisit(url, in: browser, manner, before)
        }
        let loads = LoadList()
        let after = PageVisit.ReportedErrors()
        let live = LiveTable(table, countsBytes: true) { loads.append($0) }
        let (second, comparison) = try await Browser.run(settings, live, onEvent: { after.receive($0) }) {
            browser in
            let visit = try await PageVisit(url, in: browser, manner, after)
            let scale = settings.device?.scale ?? 1
            return (visit, try await PictureComparison(first.picture, visit.picture, scale: scale, in: browser))
        }
        let counted = loads.all.filter(\.isCounted)
        let answered = counted.compactMap(\.file)
        self.url = url
        (requestCount, answeredCount) = (counted.count, answered.count)
        (fileBytes, networkBytes) = (answered.reduce(0) { $0 + $1.count }, counted.compactMap(\.size).reduce(0, +))
        changes = served.changes
        misses = Self.unique(counted.filter { $0.file == nil }, by: \.url).map { load in
            explainer.miss(load, besides: Set(answered.map(\.substitution.url)), in: table)
        }
        let failedBefore = Set(served.loads.filter(\.hasFailed).map(\.url))
        failures = Self.unique(loads.all.filter { $0.hasFailed && !failedBefore.contains($0.url) }, by: \.url).map(
            \.url
        )
        complaints = Self.added(to: first.complaints, in: second.complaints)
        notes = Self.unique(first.notes + second.notes, by: \.self)
        (status, pictures) = (first.status, (first.picture, second.picture))
        self.comparison = comparison
    }

    /// Releases the screenshots, which are large.
    mutating func dropPictures() {
        pictures = nil
        comparison.picture = ""
    }

    /// The share of the requests that files answered, from 0 to 1.
    var share: Double { requestCount == 0 ? 0 : Double(answeredCount) / Double(requestCount) }

    private static func unique<Value, Key: Hashable>(_ values: [Value], by key: (Value) -> Key) -> [Value] {
        var seen: Set<Key> = []
        return values.filter { seen.insert(key($0)).inserted }
    }

    /// Returns the elements that occur more often in the second list than in the first.
    private static func added(to first: [String], in second: [String]) -> [String] {
        var counts = Dictionary(first.map { ($0, 1) }, uniquingKeysWith: +)
        return second.filter { text in
            counts[text, default: 0] -= 1
            return counts[text, default: 0] < 0
        }
    }

    /// The loads of one visit.
    // Mutable state is only accessed inside the lock.
    private final class LoadList: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [LiveTable.FinishedLoad] = []

        var all: [LiveTable.FinishedLoad] { lock.withLock { list } }

        func append(_ load: LiveTable.FinishedLoad) { lock.withLock { list.append(load) } }
    }
}

extension LiveTable.FinishedLoad {
    /// True for a GET request; the browser's own request for an icon counts only if a file answered it.
    fileprivate var isCounted: Bool {
        // The browser itself requests this icon; the page does not.
        let isOfBrowser = kind == "Other" && URL(ofBrowser: url)?.path == "/favicon.ico" && file == nil
        return method == "GET" && !isOfBrowser
    }
}
