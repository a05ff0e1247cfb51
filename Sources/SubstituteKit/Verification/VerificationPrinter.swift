import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The report of a verified page.
extension VerificationLimits {
    /// Reports the problems first; a page without problems takes one line, followed by what may be of interest.
    func item(for page: Verification, _ console: Console) -> ReportItem {
        let (problems, remarks, verdict) = (problems(with: page), remarks(on: page), verdict(on: page))
        let title = console.coloured(page.title, .bold)
        let words = verdict == .fits ? console.coloured("The files fit.", .green) : "Nothing was compared."
        var lines = ["\(title)  \(words) \(page.counts)"]
        if verdict == .fails {
            lines = [title]
            for problem in problems.prefix(Self.most) {
                lines.append(console.coloured("  error: \(problem.sentence)", .red))
                lines += problem.remedies.map { "    \($0)" }
            }
            let more = problems.count - Self.most
            if more > 0 { lines.append("  … and \(counted(more, "more error"))") }
            lines.append("  \(page.counts)")
        }
        for remark in remarks {
            lines.append("  \(remark.label.padding(toLength: 8, withPad: " ", startingAt: 0)) \(remark.sentence)")
            if let advice = remark.advice { lines.append("           \(advice)") }
        }
        if verdict == .fails {
            let words = problems.contains(where: \.kind.isOfFiles) ? "The files do not fit" : "The page is not verified"
            lines.append(console.coloured("  \(words): \(counted(problems.count, "error")).", .red))
        }
        let annotations = problems.map { problem in
            let place = problem.change.map { (manifest.name, $0.substitution.line, 1) }
            return ReportItem.Annotation("error", problem.kind.rawValue, problem.whole, at: place)
        }
        let notices = remarks.compactMap { remark in
            let sentence = remark.sentence + (remark.advice.map { " \($0)" } ?? "")
            return remark.title.map { ReportItem.Annotation("notice", $0, sentence) }
        }
        return ReportItem(lines: lines, object(page), annotations + notices)
    }

    /// The maximum number of problems that are printed for one page; the report has all of them.
    private static let most = 1000

    /// A sentence about a page that is no problem: a difference that the options allow, or what may be of interest.
    private struct Remark {
        /// The word before the sentence, for text.
        let label: String
        let sentence: String
        var advice: String?
        /// The title of the annotation; nil if there is none.
        var title: String?
    }

    private func remarks(on page: Verification) -> [Remark] {
        let changes = allowsChanges ? page.changes : []
        let isAllowed = page.comparison.count > 0 && page.comparison.share <= tolerance
        let places = page.comparison.places.map(\.words).joined(separator: "; ")
        return changes.map { change in
            let names = "\(shortened(change.url)) → \(visible(change.substitution.path))"
            return Remark(label: "changed", sentence: "\(names): \(change.sizes)")
        }
            + (isAllowed
                ? [Remark(label: "picture", sentence: "\(page.comparison.percentage) differs, at \(places)")] : [])
            + page.misses.map { Remark(label: "network", sentence: $0.reason, advice: $0.advice, title: "no-file") }
            + [page.redirectSentence].compactMap {
                $0.map { Remark(label: "redirect", sentence: $0, title: "redirected") }
            }
            + page.notes.map { Remark(label: "note", sentence: visible($0)) }
    }

    /// Returns the JSON object for one page: sizes in bytes, shares from 0 to 1, positions in CSS pixels.
    func object(_ page: Verification) -> JSONObject {
        let problems = problems(with: page).map(\.whole)
        let changed = page.changes.map { change -> JSONObject in
            let size: Int? = if case .body(let data) = change.served { data.count } else { nil }
            let status: Int? = if case .status(let code) = change.served { code } else { nil }
            return [
                "url": visible(change.url), "file": visible(change.substitution.path),
                "line": change.substitution.line, "size": change.substitution.size, "servedSize": size,
                "servedStatus": status, "sizes": change.sizes,
            ]
        }
        let missed = page.misses.map { miss -> JSONObject in
            ["url": visible(miss.url), "reason": miss.reason, "command": miss.command]
        }
        let (comparison, errors) = (page.comparison, page.errors)
        return [
            // If nothing was compared, it is unknown whether the files fit.
            "url": visible(page.url), "device": page.device, "fits": problems.isEmpty && page.comparedCount > 0,
            "requests": page.requestCount, "fromFiles": page.answeredCount, "compared": page.comparedCount,
            "redirected": page.redirectCount, "fileBytes": page.fileBytes, "networkBytes": page.networkBytes,
            "changed": changed, "missed": missed, "failed": errors.loads.map { visible($0.url) },
            "errors": errors.complaints.map { visible($0) }, "notes": page.notes.map { visible($0) },
            "problems": problems,
            "picture": [
                "differs": comparison.share, "places": comparison.places, "placeCount": comparison.placeCount,
                "width": comparison.width, "height": comparison.height, "scale": comparison.scale,
            ] as JSONObject,
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
}

/// A page that could not be loaded.
struct UnloadedPage {
    let url: String
    let reason: String

    var object: JSONObject { ["url": visible(url), "fits": false, "problems": [reason]] }

    var item: ReportItem {
        ReportItem(object, [.init("error", VerificationLimits.Problem.Kind.pageFails.rawValue, reason)])
    }
}
