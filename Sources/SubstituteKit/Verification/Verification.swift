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
    /// The screen; nil if there is only one.
    var device: String?
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
    /// The number of URLs for which the server's response was compared with the file.
    let comparedCount: Int
    /// The number of requests that are redirected to a URL that a file would answer.
    let redirectCount: Int
    /// The errors that occurred only in the load with the files.
    var errors: NewErrors
    /// Sentences for the user, for example about a refused download, a closed pop-up, or a cropped screenshot.
    var notes: [String]
    /// The status of the server's response for the page.
    let status: Int?
    /// The sentence that says why one of the two loads is not complete; nil if both are.
    var incompleteness: String?
    /// Both screenshots, as PNG in base64; nil once they have been written.
    var pictures: (network: String, files: String)?
    var comparison: PictureComparison
    /// The files that may be the reason for a different picture: those that differ, and those that nothing was
    /// compared with.
    let suspects: [String]

    /// Loads a page twice, each time in a newly started browser, and compares the results.
    ///
    /// - Throws: ``ToolError`` if the page cannot be loaded.
    init(
        of url: String,
        with table: SubstitutionTable,
        _ remote: (check: RemoteCheck, staging: StagingFolder, network: Network),
        _ explainer: MissExplainer,
        _ settings: BrowserSettings,
        _ manner: PageVisit.Manner,
        showing progress: (String) -> Void = { _ in }
    ) async throws {
        progress("from the network")
        let served = ServedComparison(table, remote.check)
        let (first, observed) = try await Self.visit(url, served, settings, manner)
        progress("with the files")
        let loads = LoadList()
        let live = LiveTable(table, countsBytes: true, loads: loads) { load, _ in loads.append(load) }
        let (second, comparison) = try await Browser.run(settings, live) { browser in
            let visit = try await PageVisit(url, in: browser, manner, loads)
            let scale = settings.device?.scale ?? 1
            return (visit, try await PictureComparison(first.picture, visit.picture, scale: scale, in: browser))
        }
        // A page uses nothing of what a bypassed service worker loads, and `add --in-browser` does not record it.
        let counted = loads.counted.filter { $0.isCounted && !$0.isOfServiceWorker }
        let answered = counted.compactMap(\.file)
        self.url = url
        (requestCount, answeredCount) = (counted.count, answered.count)
        (fileBytes, networkBytes) = (answered.reduce(0) { $0 + $1.count }, counted.compactMap(\.size).reduce(0, +))
        redirectCount = counted.count { $0.redirectedFrom != nil && table.file(at: $0.url) != nil }
        let changes = await served.changes(in: remote.staging, remote.network)
        (self.changes, comparedCount) = (changes, served.compared.count)
        misses = counted.filter { $0.file == nil }.grouped(by: \.url).map { _, same in
            explainer.miss(same[0], besides: Set(answered.map(\.substitution.url)), in: table)
        }
        var errors = NewErrors(in: loads.counted, second.complaints, notIn: observed)
        if !errors.isEmpty {
            // Some errors seem new only because the page came to them later. So load it again, and wait longer.
            progress("from the network once more")
            var (manner, before) = (manner, observed)
            manner.load.pause += 2
            before.add(try await Self.visit(url, ServedComparison(table, remote.check), settings, manner).1)
            errors = NewErrors(in: loads.counted, second.complaints, notIn: before)
        }
        self.errors = errors
        notes = (first.notes + second.notes).grouped(by: \.self).map(\.key)
        incompleteness =
            first.incompleteness.map { "\($0) (without the files)" }
            ?? second.incompleteness.map { "\($0) (with the files)" }
        let uncompared = counted.filter { load in
            let urls = [load.url, load.redirectedFrom].compactMap(\.self)
            return load.file != nil && served.compared.isDisjoint(with: urls)
        }
        suspects = (changes.map(\.substitution) + uncompared.compactMap(\.file?.substitution))
            .grouped(by: \.path).map(\.key)
        if comparison.count > 0, suspects.isEmpty, errors.isEmpty {
            // No file can be the reason, so ask the network whether the page looks the same twice.
            progress("from the network once more")
            let again = try await Self.visit(url, ServedComparison(table, remote.check), settings, manner).0
            notes.append(
                again.picture == first.picture
                    ? "the picture differs, although each file is what its server sends"
                    : "the page looks different each time, also without the files"
            )
        }
        (status, pictures) = (first.status, (first.picture, second.picture))
        self.comparison = comparison
    }

    /// Loads a page without the files.
    private static func visit(
        _ url: String,
        _ served: ServedComparison,
        _ settings: BrowserSettings,
        _ manner: PageVisit.Manner
    ) async throws -> (PageVisit, NewErrors.Observations) {
        let (visit, complaints) = try await Browser.run(settings, served) { browser in
            let visit = try await PageVisit(url, in: browser, manner, served.loads)
            // Those that came while the screenshot was taken are known, too.
            return (visit, await browser.complaints)
        }
        let loads = served.loads
        return (visit, NewErrors.Observations(asked: loads.asked, loads: loads.all, complaints: complaints))
    }

    /// Releases the screenshots, which are large.
    mutating func dropPictures() {
        pictures = nil
        comparison.picture = ""
    }

    /// The share of the requests that files answered, from 0 to 1.
    var share: Double { requestCount == 0 ? 0 : Double(answeredCount) / Double(requestCount) }
}

extension LiveTable.FinishedLoad {
    /// True for a GET request; the browser's own request for an icon counts only if a file answered it.
    fileprivate var isCounted: Bool { method == "GET" && (file != nil || !isOfBrowser) }
}
