import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The limits for a page that is shown with the files; a page beyond these limits does not pass.
struct VerificationLimits: Sendable {
    /// The manifest of the files, for the command lines in sentences.
    let manifest: ManifestFile
    /// The minimum share of the requests that files have to answer, from 0 to 1; nil for at least one request.
    let required: Double?
    /// The maximum share of the screenshot's pixels that may differ, from 0 to 1.
    let tolerance: Double
    /// True if servers may send bytes that differ from the files.
    let allowsChanges: Bool

    /// A reason why a page does not pass.
    struct Problem {
        enum Kind: String {
            case pageFails = "page-fails"
            case pageUnfinished = "page-unfinished"
            case nothingCompared = "nothing-compared"
            case tooFewFiles = "too-few-files"
            case changedFile = "changed-file"
            case failedLoad = "failed-load"
            case pageError = "page-error"
            case pictureDiffers = "picture-differs"

            /// True if the sentence names a file, or a failure that occurs only with the files.
            var isOfFiles: Bool { [.changedFile, .failedLoad, .pageError, .pictureDiffers].contains(self) }
        }

        let kind: Kind
        /// A sentence about the problem, with a remedy if there is one.
        let sentence: String
        /// The reasons for a difference, and the commands that end it, as clauses.
        var remedies: [String] = []
        /// The difference between a file and its server's response; nil for problems of other kinds.
        var change: ServedComparison.Change?

        /// The sentence with its remedies.
        var whole: String { ([sentence] + remedies).joined(separator: "; ") }
    }

    /// The result for a page.
    enum Verdict {
        /// The files fit, apart from differences that the options allow.
        case fits
        /// The options allow that no file was compared with its server's response, and there is no problem.
        case nothingCompared
        case fails
    }

    /// Returns the result for a page.
    func verdict(on page: Verification) -> Verdict {
        if !problems(with: page).isEmpty { return .fails }
        return page.comparedCount == 0 ? .nothingCompared : .fits
    }

    /// Returns the reason for a difference, and what to type, as clauses.
    private func remedies(for change: ServedComparison.Change) -> [String] {
        guard let finding = change.finding, finding.state != .differs, finding.state != .unknown else {
            return ["to load it again: \(manifest.line(["update"], urls: [change.substitution.url]))"]
        }
        return [finding.reason, "to permit it: --allow-changed"].compactMap(\.self) + finding.remedies(manifest)
    }

    /// Returns every reason why the page does not pass.
    func problems(with page: Verification) -> [Problem] {
        var problems: [Problem] = []
        func add(_ kind: Problem.Kind, _ sentence: String) { problems.append(Problem(kind: kind, sentence: sentence)) }
        if let status = page.status, status >= 400 { add(.pageFails, "the server answers \(status) for \(page.title)") }
        if let sentence = page.incompleteness { add(.pageUnfinished, sentence) }
        if let sentence = shortage(page) { add(required == nil ? .nothingCompared : .tooFewFiles, sentence) }
        for change in page.changes where !allowsChanges {
            let sentence =
                "\(quoted(change.substitution.path)) differs from \(shortened(change.url)): \(change.sizes)"
            problems.append(
                Problem(kind: .changedFile, sentence: sentence, remedies: remedies(for: change), change: change)
            )
        }
        for load in page.errors.loads { add(.failedLoad, load.sentence) }
        for words in page.errors.complaints { add(.pageError, "only with the files: \(shortened(words))") }
        // A picture differs because of a file or an error, or as the page always does.
        if page.comparison.share > tolerance, !page.suspects.isEmpty || !page.errors.isEmpty {
            let places = page.comparison.places.prefix(3).map(\.words).joined(separator: "; ")
            let files = page.suspects.prefix(3).map { quoted($0) }.joined(separator: ", ")
            let more = page.suspects.count > 3 ? ", …" : ""
            add(
                .pictureDiffers,
                "\(page.comparison.percentage) of \(page.title) looks different, at \(places)"
                    + (files.isEmpty ? "" : "; look at \(files)\(more)")
            )
        }
        return problems
    }

    /// Returns a sentence if too few files answered, or if none could be compared; nil otherwise.
    private func shortage(_ page: Verification) -> String? {
        let answers =
            "files answered \(page.answeredCount) of \(counted(page.requestCount, "request")) of "
            + page.title
        if let required {
            let (share, least) = (Self.percent(page.share), Self.percent(required))
            return page.share < required ? "\(answers), \(share), and \(least) are required" : nil
        }
        if page.answeredCount == 0 { return "\(answers), so nothing was compared; --at-least 0% permits this" }
        if page.comparedCount == 0 {
            return "\(answers), but none could be compared with what its server sends; --at-least 0% permits this"
        }
        return nil
    }

    /// Returns a share as a percentage, rounded down to tenths: 99.96 % must not become 100 %.
    static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000 + 1e-9).rounded(.down))
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// Parses a percentage that the user wrote, such as `90%`, `90` or `0.5 %`.
    static func share(_ text: String) throws(UsageError) -> Double {
        let number = text.replacing("%", with: "").trimmingCharacters(in: .whitespaces)
        // "0.9" may mean 90 % or 0.9 %.
        if let percent = Double(number), (0...100).contains(percent), percent == 0 || percent >= 1 || number != text {
            return percent / 100
        }
        throw UsageError("\(quoted(text)) is not a percentage; write it as 90%")
    }
}

extension PictureComparison.Region {
    var words: String { "x \(x) y \(y) (\(width) × \(height))" }
}

extension NewErrors.FailedLoad {
    /// The failure as a sentence without a full stop.
    var sentence: String {
        let answer =
            status.map { "its server answers \($0)" } ?? "no server answers"
            + (failure.map { " (Chromium says \($0))" } ?? "")
        return "\(wasAskedBefore ? "failed" : "asked and failed") only with the files: \(shortened(url)); \(answer)"
    }
}
