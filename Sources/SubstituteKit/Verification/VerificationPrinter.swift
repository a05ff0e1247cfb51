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
            console.printMasked(WorkflowCommand("error", page.reason, title: Self.title(.pageFails)).text)
        }
        console.flush()
    }

    // MARK: - Text

    /// Prints the problems first; a page without problems takes one line, followed by what may be of interest.
    private func printText(_ page: Verification) {
        let (url, counts) = (console.coloured(shortened(page.url), .bold), page.counts)
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
        printAllowed(page, problems)
        printDetails(page)
        guard verdict == .fails else { return }
        let sum = counted(problems.count, "error")
        let isJudged = page.comparedCount > 0 && !problems.contains { $0.kind == .pageFails }
        console.print(
            console.coloured(isJudged ? "  The files do not fit: \(sum)." : "  Nothing was verified: \(sum).", .red)
        )
    }

    /// The maximum number of problems that are printed for one page; the report has all of them.
    private static let most = 1000

    /// Prints the differences that the options allow.
    private func printAllowed(_ page: Verification, _ problems: [VerificationLimits.Problem]) {
        let kinds = Set(problems.map(\.kind))
        if limits.allowsChanges {
            for change in page.changes {
                let size = "here \(ByteCount(change.count)), \(change.served.words)"
                console.print("  changed  \(shortened(change.url)) → \(visible(change.substitution.file)): \(size)")
            }
        }
        if limits.allowsErrors {
            for load in page.errors.loads { console.print("  failed   \(load.sentence)") }
            for words in page.errors.complaints { console.print("  error    only with the files: \(shortened(words))") }
        }
        if page.comparison.count > 0, !kinds.contains(.pictureDiffers) {
            let places = page.comparison.places.map(\.words).joined(separator: "; ")
            console.print("  picture  \(page.comparison.percentage) differs, at \(places)")
        }
    }

    private func printDetails(_ page: Verification) {
        for miss in page.misses {
            console.print("  network  \(miss.reason)")
            if let command = miss.command { console.print("           Add it with: \(command)") }
        }
        if let sentence = page.redirectSentence { console.print("  redirect \(sentence)") }
        for sentence in page.onceSentences { console.print("  once     \(sentence)") }
        for note in page.notes { console.print("  note     \(visible(note))") }
    }

    // MARK: - JSON and GitHub

    private static func title(_ kind: VerificationLimits.Problem.Kind) -> String { kind.rawValue }

    private func printGitHub(_ page: Verification, _ manifest: ManifestFile) {
        for problem in limits.problems(with: page) {
            let place = problem.change.map { (manifest.name, $0.substitution.line, 1) }
            let command = WorkflowCommand("error", problem.sentence, title: Self.title(problem.kind), at: place)
            console.printMasked(command.text)
        }
        if limits.allowsErrors {
            for load in page.errors.loads {
                console.printMasked(WorkflowCommand("warning", load.sentence, title: Self.title(.failedLoad)).text)
            }
            for words in page.errors.complaints {
                let sentence = "only with the files: \(shortened(words))"
                console.printMasked(WorkflowCommand("warning", sentence, title: Self.title(.pageError)).text)
            }
        }
        for miss in page.misses {
            let sentence = miss.reason + (miss.command.map { " Add it with: \($0)" } ?? "")
            console.printMasked(WorkflowCommand("notice", sentence, title: "no-file").text)
        }
        if let sentence = page.redirectSentence {
            console.printMasked(WorkflowCommand("notice", sentence, title: "redirected").text)
        }
        console.print("\(shortened(page.url)): \(page.counts)")
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

        struct Miss: Encodable {
            let url: String
            let reason: String
            let command: String?
        }

        struct Picture: Encodable {
            let differs: Double
            let places: [PictureComparison.Region]
        }

        let url: String
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
            url = visible(page.url)
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
