import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the results for verified pages.
struct VerificationPrinter {
    private let format: ReportFormat
    private let limits: VerificationLimits
    private let console: Console

    init(_ format: ReportFormat, _ limits: VerificationLimits, _ console: Console) {
        (self.format, self.limits, self.console) = (format, limits, console)
    }

    /// Prints the settings that apply to all pages.
    func begin(_ settings: BrowserSettings) {
        guard format == .text else { return }
        console.print(settings.summary)
        console.flush()
    }

    func print(_ page: Verification, _ manifest: ManifestFile) throws {
        let page = page.harmless
        switch format {
        case .text: printText(page)
        case .json: try console.printJSON(JSONPage(page, limits))
        case .github: printGitHub(page, manifest)
        }
        console.flush()
    }

    /// Prints the error of a page that could not be loaded.
    func print(_ page: UnloadedPage) throws {
        switch format {
        case .text: console.printError("substitute verify: \(page.reason)")
        case .json: try console.printJSON(page)
        case .github:
            console.printMasked(
                WorkflowCommand("error", page.reason, title: VerificationLimits.Problem.Kind.pageFails.rawValue).text
            )
        }
        console.flush()
    }

    // MARK: - Text

    /// Prints the problems first; a page without problems takes one line, followed by what may be of interest.
    private func printText(_ page: Verification) {
        let (url, counts) = (console.coloured(page.title, .bold), page.counts)
        let problems = limits.problems(with: page)
        let verdict = limits.verdict(on: page)
        switch verdict {
        case .fits: console.print("\(url)  \(console.coloured("The files fit.", .green)) \(counts)")
        case .fitsExcept(let words):
            console.print("\(url)  \(console.coloured("The files fit, except for \(words).", .green)) \(counts)")
        case .nothingCompared: console.print("\(url)  Nothing was compared. \(counts)")
        case .fails:
            console.print(url)
            for problem in problems.prefix(Self.most) {
                console.print(console.coloured("  error: \(problem.sentence)", .red))
            }
            if problems.count > Self.most {
                console.print("  … and \(counted(problems.count - Self.most, "more error"))")
            }
            console.print("  \(counts)")
        }
        for remark in remarks(on: page) {
            let label = remark.label.padding(toLength: 8, withPad: " ", startingAt: 0)
            console.print("  \(label) \(remark.sentence)")
            if let command = remark.command { console.print("           Add it with: \(command)") }
        }
        guard verdict == .fails else { return }
        let sum = counted(problems.count, "error")
        let isJudged = page.comparedCount > 0 && !problems.contains { $0.kind == .pageFails }
        console.print(
            console.coloured(isJudged ? "  The files do not fit: \(sum)." : "  Nothing was verified: \(sum).", .red)
        )
    }

    /// The maximum number of problems that are printed for one page; the report has all of them.
    private static let most = 1000

    // MARK: - Remarks

    /// A sentence about a page that is no problem: a difference that the options allow, or what may be of interest.
    private struct Remark {
        /// The word before the sentence, for text.
        let label: String
        let sentence: String
        var command: String?
        /// The severity and the title of the annotation; nil if there is none.
        var annotation: (severity: String, title: String)?
    }

    private func remarks(on page: Verification) -> [Remark] {
        var remarks: [Remark] = []
        if limits.allowsChanges {
            remarks += page.changes.map { change in
                let size = "here \(ByteCount(change.count)), \(change.served.words)"
                let file = visible(change.substitution.file)
                return Remark(label: "changed", sentence: "\(shortened(change.url)) → \(file): \(size)")
            }
        }
        if limits.allowsErrors {
            func add(_ label: String, _ sentence: String, _ kind: VerificationLimits.Problem.Kind) {
                remarks.append(Remark(label: label, sentence: sentence, annotation: ("warning", kind.rawValue)))
            }
            for load in page.errors.loads { add("failed", load.sentence, .failedLoad) }
            for words in page.errors.complaints { add("error", "only with the files: \(shortened(words))", .pageError) }
        }
        if page.comparison.count > 0, page.comparison.share <= limits.tolerance {
            let places = page.comparison.places.map(\.words).joined(separator: "; ")
            remarks.append(
                Remark(label: "picture", sentence: "\(page.comparison.percentage) differs, at \(places)")
            )
        }
        remarks += page.misses.map {
            Remark(label: "network", sentence: $0.reason, command: $0.command, annotation: ("notice", "no-file"))
        }
        remarks += [page.redirectSentence].compactMap(\.self).map {
            Remark(label: "redirect", sentence: $0, annotation: ("notice", "redirected"))
        }
        remarks += page.onceSentences.map { Remark(label: "once", sentence: $0) }
        return remarks + page.notes.map { Remark(label: "note", sentence: visible($0)) }
    }

    // MARK: - JSON and GitHub

    private func printGitHub(_ page: Verification, _ manifest: ManifestFile) {
        for problem in limits.problems(with: page) {
            let place = problem.change.map { (manifest.name, $0.substitution.line, 1) }
            let command = WorkflowCommand("error", problem.sentence, title: problem.kind.rawValue, at: place)
            console.printMasked(command.text)
        }
        for remark in remarks(on: page) {
            guard let (severity, title) = remark.annotation else { continue }
            let sentence = remark.sentence + (remark.command.map { " Add it with: \($0)" } ?? "")
            console.printMasked(WorkflowCommand(severity, sentence, title: title).text)
        }
        console.print("\(page.title): \(page.counts)")
    }

    /// The JSON object for one page: sizes in bytes, shares from 0 to 1, positions in CSS pixels.
    private struct JSONPage: Encodable {
        struct Change: Encodable {
            let url: String
            let file: String
            let line: Int
            let size: Int
            let servedSize: Int?
            let servedStatus: Int?
        }

        struct Picture: Encodable {
            let differs: Double
            let places: [PictureComparison.Region]
        }

        let url: String
        let device: String?
        let fits: Bool
        let requests: Int
        let fromFiles: Int
        let compared: Int
        let redirected: Int
        let fileBytes: Int
        let networkBytes: Int
        let changed: [Change]
        let missed: [Miss]
        let failed: [String]
        let errors: [String]
        let picture: Picture
        let notes: [String]
        let problems: [String]

        init(_ page: Verification, _ limits: VerificationLimits) {
            let problems = limits.problems(with: page).map(\.sentence)
            (url, device) = (visible(page.url), page.device)
            (requests, fromFiles) = (page.requestCount, page.answeredCount)
            (compared, redirected) = (page.comparedCount, page.redirectCount)
            (fileBytes, networkBytes) = (page.fileBytes, page.networkBytes)
            changed = page.changes.map { change in
                var (size, status) = (Int?.none, Int?.none)
                switch change.served {
                case .body(let data): size = data.count
                case .status(let code): status = code
                case .nothing: break
                }
                return Change(
                    url: visible(change.url),
                    file: visible(change.substitution.file),
                    line: change.substitution.line,
                    size: change.count,
                    servedSize: size,
                    servedStatus: status
                )
            }
            missed = page.misses.map { Miss(url: visible($0.url), reason: $0.reason, command: $0.command) }
            failed = page.errors.loads.map { visible($0.url) }
            errors = page.errors.complaints.map { visible($0) }
            picture = Picture(differs: page.comparison.share, places: page.comparison.places)
            notes = page.notes.map { visible($0) }
            self.problems = problems
            // If nothing was compared, it is unknown whether the files fit.
            fits = problems.isEmpty && page.comparedCount > 0
        }
    }
}

extension Verification {
    /// A copy whose texts the GitHub runner cannot mistake for commands.
    ///
    /// The runner looks for "##[" anywhere in a line.
    fileprivate var harmless: Verification {
        func harmless(_ text: String) -> String { text.replacingOccurrences(of: "##[", with: "## [") }
        var page = self
        page.misses = misses.map {
            Miss(url: harmless($0.url), reason: harmless($0.reason), command: $0.command.map(harmless))
        }
        page.errors = errors.map(harmless)
        page.askedOnce = (askedOnce.network.map(harmless), askedOnce.files.map(harmless))
        page.incompleteness = incompleteness.map(harmless)
        page.notes = notes.map(harmless)
        return page
    }
}

extension Verification {
    /// A sentence about the requests that are redirected to a URL with an entry; nil if there are none.
    var redirectSentence: String? {
        guard redirectCount > 0 else { return nil }
        return
            "\(counted(redirectCount, "request")) \(redirectCount == 1 ? "is" : "are") redirected to a URL that a file "
            + "would answer; in the app, the network answers both, until an entry has the first URL"
    }

    /// The screen behind the page's URL; empty if there is only one.
    var screen: String { device.map { " (\($0))" } ?? "" }
    /// The page's URL in a short form, with the screen if there are several.
    var title: String { shortened(url) + screen }

    /// The numbers of requests and bytes, in words.
    var counts: String {
        "\(answeredCount) of \(counted(requestCount, "request")) came from files, "
            + "\(VerificationLimits.percent(share)): \(ByteCount(fileBytes)), and \(ByteCount(networkBytes)) from the network"
    }

    /// Sentences about the URLs that the page requested in only one of its two loads.
    var onceSentences: [String] {
        [("without", askedOnce.network), ("with", askedOnce.files)].compactMap { words, urls in
            guard let first = urls.first else { return nil }
            let example = urls.count == 1 ? "" : "\(counted(urls.count, "request")), such as "
            return "asked only \(words) the files: \(example)\(shortened(first))"
        }
    }
}

/// A page that could not be loaded.
struct UnloadedPage: Encodable {
    let url: String
    let fits = false
    let problems: [String]

    init(url: String, reason: String) { (self.url, problems) = (url, [reason]) }

    var reason: String { problems[0] }
}
