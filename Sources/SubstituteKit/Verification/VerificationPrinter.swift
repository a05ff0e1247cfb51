import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the results for verified pages.
struct VerificationPrinter {
    enum Format: String, CaseIterable {
        case text
        /// One object for each page.
        case json
        /// Workflow commands for GitHub Actions.
        case github
    }

    private let format: Format
    private let limits: VerificationLimits
    private let console: Console

    init(_ name: String?, _ limits: VerificationLimits, _ console: Console) throws(UsageError) {
        guard let format = Format(rawValue: name ?? "text") else {
            let names = Format.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("there is no format \(quoted(name ?? "")); the formats are \(names)")
        }
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
        case .json: console.print(try JSONLine.encode(JSONPage(page, limits)))
        case .github: printGitHub(page, manifest)
        }
        console.flush()
    }

    // MARK: - Text

    private func printText(_ page: Verification) {
        console.print(console.coloured(shortened(page.url), .bold))
        console.print(
            "  \(page.answeredCount) of \(counted(page.requestCount, "request")) came from files, "
                + "\(VerificationLimits.percent(page.share)): \(ByteCount(page.fileBytes)), and "
                + "\(ByteCount(page.networkBytes)) from the network"
        )
        for change in page.changes {
            let size = "here \(ByteCount(change.count)), \(change.served.words)"
            console.print("  changed  \(shortened(change.url)) → \(visible(change.substitution.file)): \(size)")
        }
        for miss in page.misses {
            console.print("  network  \(miss.reason)")
            if let command = miss.command { console.print("           Add it with: \(command)") }
        }
        for url in page.failures { console.print("  failed   only with the files: \(shortened(url))") }
        for words in page.complaints { console.print("  error    only with the files: \(shortened(words))") }
        let comparison = page.comparison
        let places = comparison.places.map(\.words).joined(separator: "; ")
        console.print(
            comparison.count == 0
                ? "  The picture is the same." : "  picture  \(comparison.percentage) differs, at \(places)"
        )
        for note in page.notes { console.print("  note     \(visible(note))") }
        let problems = limits.problems(with: page)
        for problem in problems { console.print(console.coloured("  error: \(problem.sentence)", .red)) }
        if problems.isEmpty { console.print(console.coloured("  The files fit.", .green)) }
    }

    // MARK: - JSON and GitHub

    private func printGitHub(_ page: Verification, _ manifest: ManifestFile) {
        for problem in limits.problems(with: page) {
            let place = problem.substitution.map { (manifest.name, $0.line, 1) }
            console.print(WorkflowCommand("error", problem.sentence, title: problem.kind.rawValue, at: place).text)
        }
        for miss in page.misses {
            let sentence = miss.reason + (miss.command.map { " Add it with: \($0)" } ?? "")
            console.print(WorkflowCommand("notice", sentence, title: "no-file").text)
        }
        for url in page.failures {
            let sentence = "only with the files, \(shortened(url)) failed"
            console.print(WorkflowCommand("warning", sentence, title: "failed-load").text)
        }
        for words in page.complaints {
            let sentence = "only with the files: \(shortened(words))"
            console.print(WorkflowCommand("warning", sentence, title: "page-error").text)
        }
        console.print(
            "\(shortened(page.url)): \(page.answeredCount) of \(counted(page.requestCount, "request")) came from files"
        )
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
            (fileBytes, networkBytes) = (page.fileBytes, page.networkBytes)
            changed = page.changes.map { change in
                var (size, status) = (Int?.none, Int?.none)
                switch change.served {
                case .body(let count): size = count
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
            failed = page.failures.map { visible($0) }
            errors = page.complaints.map { visible($0) }
            picture = Picture(differs: page.comparison.share, places: page.comparison.places)
            notes = page.notes.map { visible($0) }
            (self.problems, fits) = (problems, problems.isEmpty)
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
        page.failures = failures.map(harmless)
        page.complaints = complaints.map(harmless)
        page.notes = notes.map(harmless)
        return page
    }
}
