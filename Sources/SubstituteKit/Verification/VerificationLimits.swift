import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The limits for a page that is shown with the files; a page beyond these limits does not pass.
struct VerificationLimits: Sendable {
    /// The minimum share of the requests that files have to answer, from 0 to 1.
    var required = 0.0
    /// The maximum share of the screenshot's pixels that may differ, from 0 to 1.
    var tolerance = 0.0
    /// True if servers may send bytes that differ from the files.
    var allowsChanges = false

    /// A reason why a page does not pass.
    struct Problem {
        enum Kind: String {
            case pageFails = "page-fails"
            case tooFewFiles = "too-few-files"
            case changedFile = "changed-file"
            case pictureDiffers = "picture-differs"
        }

        let kind: Kind
        /// A sentence about the problem, with a remedy if there is one.
        let sentence: String
        /// The entry whose file differs from the server's response; nil for problems of other kinds.
        var substitution: Substitution?
    }

    /// Returns every reason why the page does not pass.
    func problems(with page: Verification) -> [Problem] {
        var problems: [Problem] = []
        if let status = page.status, status >= 400 {
            problems.append(
                Problem(kind: .pageFails, sentence: "the server answers \(status) for \(shortened(page.url))")
            )
        }
        if page.share < required {
            let (share, least) = (Self.percent(page.share), Self.percent(required))
            problems.append(
                Problem(
                    kind: .tooFewFiles,
                    sentence: "files answered \(page.answeredCount) of \(page.requestCount) requests of "
                        + "\(shortened(page.url)), \(share), and \(least) are required"
                )
            )
        }
        if !allowsChanges {
            problems += page.changes.map { change in
                Problem(
                    kind: .changedFile,
                    sentence: "\(quoted(change.substitution.file)) differs from \(shortened(change.url)): "
                        + "here \(ByteCount(change.count)), \(change.served.words); substitute update loads it again",
                    substitution: change.substitution
                )
            }
        }
        if page.comparison.share > tolerance {
            let places = page.comparison.places.prefix(3).map(\.words).joined(separator: "; ")
            problems.append(
                Problem(
                    kind: .pictureDiffers,
                    sentence:
                        "\(page.comparison.percentage) of the picture of \(shortened(page.url)) differs, at \(places)"
                )
            )
        }
        return problems
    }

    /// Returns a share as a percentage, rounded down to tenths: 99.96 % must not become 100 %.
    static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000 + 1e-9).rounded(.down))
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// Parses a percentage that the user wrote, such as `90%`, `90` or `0.5 %`.
    static func share(_ text: String) throws(UsageError) -> Double {
        let number = text.replacingOccurrences(of: "%", with: "").trimmingCharacters(in: .whitespaces)
        guard let percent = Double(number), (0...100).contains(percent) else {
            throw UsageError("\(quoted(text)) is not a percentage; write it as 90%")
        }
        if percent > 0, percent < 1, number == text {
            throw UsageError("\(quoted(text)) is ambiguous; write \(text)%, or \(Int(percent * 100))%")
        }
        return percent / 100
    }
}

extension PictureComparison.Region {
    var words: String { "x \(x) y \(y) (\(width) × \(height))" }
}
