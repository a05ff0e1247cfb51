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
        switch format {
        case .text: printText(page)
        case .json: try console.printJSON(object(page))
        case .github: printGitHub(page, manifest)
        }
        console.flush()
    }

    /// Prints the error of a page that could not be loaded.
    func print(_ page: UnloadedPage) throws {
        switch format {
        case .text: console.printError("substitute verify: \(page.reason)")
        case .json: try console.printJSON(["url": page.url, "fits": false, "problems": [page.reason]])
        case .github:
            let title = VerificationLimits.Problem.Kind.pageFails.rawValue
            console.printAnnotation("error", page.reason, title: title)
        }
        console.flush()
    }

    /// Returns a text of a page that the GitHub runner cannot mistake for a command.
    ///
    /// The runner looks for "##[" anywhere in a line.
    private static func harmless(_ text: String) -> String { text.replacingOccurrences(of: "##[", with: "## [") }

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
                console.print(console.coloured("  error: \(Self.harmless(problem.sentence))", .red))
            }
            if problems.count > Self.most {
                console.print("  … and \(counted(problems.count - Self.most, "more error"))")
            }
            console.print("  \(counts)")
        }
        for remark in remarks(on: page) {
            let label = remark.label.padding(toLength: 8, withPad: " ", startingAt: 0)
            console.print(Self.harmless("  \(label) \(remark.sentence)"))
            if let command = remark.command { console.print(Self.harmless("           Add it with: \(command)")) }
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
        func add(_ label: String, _ sentence: String, command: String? = nil, _ annotation: (String, String)? = nil) {
            remarks.append(Remark(label: label, sentence: sentence, command: command, annotation: annotation))
        }
        for change in page.changes where limits.allowsChanges {
            add("changed", "\(shortened(change.url)) → \(visible(change.substitution.file)): \(change.sizes)")
        }
        if page.comparison.count > 0, page.comparison.share <= limits.tolerance {
            let places = page.comparison.places.map(\.words).joined(separator: "; ")
            add("picture", "\(page.comparison.percentage) differs, at \(places)")
        }
        for miss in page.misses { add("network", miss.reason, command: miss.command, ("notice", "no-file")) }
        if let sentence = page.redirectSentence { add("redirect", sentence, ("notice", "redirected")) }
        for sentence in page.onceSentences { add("once", sentence) }
        for note in page.notes { add("note", visible(note)) }
        return remarks
    }

    // MARK: - JSON and GitHub

    private func printGitHub(_ page: Verification, _ manifest: ManifestFile) {
        for problem in limits.problems(with: page) {
            let place = problem.change.map { (manifest.name, $0.substitution.line, 1) }
            let sentence = Self.harmless(problem.sentence)
            console.printAnnotation("error", sentence, title: problem.kind.rawValue, at: place)
        }
        for remark in remarks(on: page) {
            guard let (severity, title) = remark.annotation else { continue }
            let sentence = remark.sentence + (remark.command.map { " Add it with: \($0)" } ?? "")
            console.printAnnotation(severity, Self.harmless(sentence), title: title)
        }
        console.print("\(page.title): \(page.counts)")
    }

    /// Returns the JSON object for one page: sizes in bytes, shares from 0 to 1, positions in CSS pixels.
    private func object(_ page: Verification) -> JSONObject {
        func text(_ text: String) -> String { Self.harmless(visible(text)) }
        let problems = limits.problems(with: page).map { Self.harmless($0.sentence) }
        let changed = page.changes.map { change -> JSONObject in
            let size: Int? = if case .body(let data) = change.served { data.count } else { nil }
            let status: Int? = if case .status(let code) = change.served { code } else { nil }
            return [
                "url": visible(change.url), "file": visible(change.substitution.file),
                "line": change.substitution.line, "size": change.substitution.size, "servedSize": size,
                "servedStatus": status,
            ]
        }
        let missed = page.misses.map { miss -> JSONObject in
            ["url": text(miss.url), "reason": Self.harmless(miss.reason), "command": miss.command.map(Self.harmless)]
        }
        let picture: JSONObject = ["differs": page.comparison.share, "places": page.comparison.places]
        return [
            // If nothing was compared, it is unknown whether the files fit.
            "url": visible(page.url), "device": page.device, "fits": problems.isEmpty && page.comparedCount > 0,
            "requests": page.requestCount, "fromFiles": page.answeredCount, "compared": page.comparedCount,
            "redirected": page.redirectCount, "fileBytes": page.fileBytes, "networkBytes": page.networkBytes,
            "changed": changed, "missed": missed, "failed": page.errors.loads.map { text($0.url) },
            "errors": page.errors.complaints.map(text), "picture": picture, "notes": page.notes.map(text),
            "problems": problems,
        ]
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
struct UnloadedPage {
    let url: String
    let reason: String
}
