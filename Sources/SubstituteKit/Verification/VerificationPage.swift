import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The HTML page of a report: first the pages that failed, then a line for each other page.
struct VerificationPage {
    let pages: [Verification]
    var unloaded: [UnloadedPage] = []
    let limits: VerificationLimits

    /// The nonce of the page's own script; a browser runs no script without this nonce.
    ///
    /// The nonce is random, so text from a page or a file cannot contain it.
    private let nonce = UUID().uuidString

    var html: String {
        let numbered = pages.enumerated().map { ($0.offset + 1, $0.element) }
        let failed = numbered.filter { limits.verdict(on: $0.1) == .fails }
        let passed = numbered.filter { limits.verdict(on: $0.1) != .fails }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <title>\(title)</title>
            <style>
            \(String(resource: PackageResources.verification_css))</style>
            <h1>\(title)</h1>
            \(unloaded.map(section).joined(separator: "\n"))
            \(failed.map { section($1, $0) }.joined(separator: "\n"))
            \(passed.isEmpty ? "" : "<div class=\"passed\">\n\(passed.map { line($1, $0) }.joined(separator: "\n"))\n</div>")
            <script nonce="\(nonce)">
            \(String(resource: PackageResources.verification_js))</script>
            </html>
            """
    }

    private var policy: String {
        "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'; script-src 'nonce-\(nonce)'; "
            + "base-uri 'none'; form-action 'none'"
    }

    private var title: String {
        let verdicts = pages.map(limits.verdict)
        let count = pages.count + unloaded.count
        let of = count == 1 ? "" : " of \(count) pages"
        let failed = verdicts.count { $0 == .fails } + unloaded.count
        let unfit = zip(pages, verdicts).count { $0.comparedCount > 0 && $1 == .fails }
        let rest = failed - unfit
        if unfit > 0 {
            return of.isEmpty
                ? "The files do not fit the page"
                : "The files do not fit \(unfit)\(of)" + (rest > 0 ? "; \(rest) could not be verified" : "")
        }
        if rest > 0 { return of.isEmpty ? "The page was not verified" : "\(rest)\(of) could not be verified" }
        let idle = verdicts.count { $0 == .nothingCompared }
        if idle > 0 { return of.isEmpty ? "Nothing was compared" : "Nothing was compared on \(idle)\(of)" }
        return of.isEmpty ? "The files fit the page" : "The files fit all \(count) pages"
    }

    // MARK: - Pages

    private func section(_ page: UnloadedPage) -> String {
        """
        <section>
        <h2>\(link(page.url))</h2>
        <ul class="problems"><li>\(HTML.breakable(page.reason)).</ul>
        </section>
        """
    }

    private func section(_ page: Verification, _ number: Int) -> String {
        """
        <section>
        <h2>\(link(page.url))\(page.screen)</h2>
        <ul class="problems">\(problems(page, number))</ul>
        <p class="counts">\(page.counts).</p>
        \(picture(page, number))
        \(changes(page, number))
        \(details(page))
        </section>
        """
    }

    /// One line for a page that passed; its details are folded.
    private func line(_ page: Verification, _ number: Int) -> String {
        let verdict =
            switch limits.verdict(on: page) {
            case .fitsExcept(let words): "<b>Except for \(HTML.escaped(words)).</b> "
            case .nothingCompared: "<b>Nothing was compared.</b> "
            case .fits, .fails: ""
            }
        let isWithoutResult = limits.verdict(on: page) == .nothingCompared
        return """
            <details><summary><span class="mark">\(isWithoutResult ? "–" : "✓")</span> <span>\(HTML.breakable(page.url))\(page.screen)
            <small>\(verdict)\(page.counts).</small></span></summary>
            <p>\(link(page.url))</p>
            \(picture(page, number))
            \(changes(page, number))
            \(details(page))
            </details>
            """
    }

    private func link(_ url: String) -> String {
        // A URL of any other scheme could run a script.
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else { return HTML.breakable(url) }
        return "<a href=\"\(HTML.escaped(url))\" rel=\"noreferrer\">\(HTML.breakable(url))</a>"
    }

    private func problems(_ page: Verification, _ number: Int) -> String {
        var changeNumber = 0
        return limits.problems(with: page).map { problem in
            switch problem.kind {
            case .changedFile:
                changeNumber += 1
                guard let change = problem.change else { return "" }
                let file =
                    "<a href=\"#change\(number)-\(changeNumber)\">\(HTML.breakable(change.substitution.file))</a>"
                return "<li>\(file) differs: \(HTML.escaped(change.sizes))."
            case .pictureDiffers:
                return "<li><a href=\"#picture\(number)\">\(page.comparison.percentage) of the picture</a> differs."
            default: return "<li>\(HTML.breakable(problem.sentence))."
            }
        }.joined(separator: "\n")
    }

    // MARK: - Picture

    private func picture(_ page: Verification, _ number: Int) -> String {
        let comparison = page.comparison
        if comparison.count == 0 {
            return "<p class=\"links\"><a href=\"\(number)-files.png\">The picture</a> is the same.</p>"
        }
        let crops = comparison.crops
        let more = comparison.placeCount - comparison.places.count
        return """
            <h3 id="picture\(number)">Picture</h3>
            <p class="links">Whole page: <a href="\(number)-network.png">from the network</a>,
            <a href="\(number)-files.png">with the files</a>, <a href="\(number)-difference.png">difference in red</a>.</p>
            <div class="crops">
            \(crops.map { figure($0, comparison, number) }.joined(separator: "\n"))
            </div>
            \(more > 0 ? "<p>\(counted(more, "smaller place")) \(more == 1 ? "is" : "are") not shown.</p>" : "")
            """
    }

    /// A part of both screenshots, with a slider between them.
    private func figure(_ crop: PictureComparison.Crop, _ comparison: PictureComparison, _ number: Int) -> String {
        let area = crop.area
        func percent(_ value: Int, _ of: Int) -> String {
            (Double(value) / Double(max(1, of)) * 100).formatted(
                .number.precision(.fractionLength(0...3)).grouping(.never).locale(Locale(identifier: "en"))
            ) + "%"
        }
        let place =
            "width:\(percent(comparison.pageWidth, area.width));left:\(percent(-area.x, area.width));"
            + "top:\(percent(-area.y, area.height))"
        func image(_ kind: String, _ text: String) -> String {
            "<img src=\"\(number)-\(kind).png\" alt=\"\(text)\" loading=\"lazy\" style=\"\(place)\">"
        }
        let marks = crop.places.map { mark in
            "<i style=\"left:\(percent(mark.x - area.x, area.width));top:\(percent(mark.y - area.y, area.height));"
                + "width:\(percent(mark.width, area.width));height:\(percent(mark.height, area.height))\"></i>"
        }
        let first = crop.places.first ?? area
        let at = min(95, max(5, (first.x + first.width / 2 - area.x) * 100 / max(1, area.width)))
        let words = crop.places.map(\.words).joined(separator: "; ")
        return """
            <figure style="max-width:\(area.width)px;flex-basis:\(area.width)px">
            <div class="compare" style="aspect-ratio:\(area.width)/\(area.height);--at:\(at)%">
            \(image("network", "From the network"))
            <div class="after">\(image("files", "With the files"))</div>
            \(marks.joined())<span class="edge"></span>
            <input type="range" value="\(at)" aria-label="Left of it from the network, right of it with the files: \(words)">
            </div>
            <figcaption><span>network</span><span>\(words)</span><span>files</span></figcaption>
            </figure>
            """
    }

    // MARK: - Files

    private func changes(_ page: Verification, _ number: Int) -> String {
        if page.changes.isEmpty { return "" }
        let items = page.changes.enumerated().map { index, change in
            """
            <article id="change\(number)-\(index + 1)">
            <h4>\(HTML.breakable(change.substitution.file))</h4>
            <p class="counts">\(link(change.url)): \(HTML.escaped(change.sizes))</p>
            </article>
            """
        }
        return "<h3>Changed files</h3>\n" + items.joined(separator: "\n")
    }

    // MARK: - Details

    private func details(_ page: Verification) -> String {
        let missed = page.misses.map { miss in
            HTML.breakable(miss.reason)
                + (miss.command.map { "<br>Add it with: <code>\(HTML.breakable($0))</code>" } ?? "")
        }
        let others = [page.redirectSentence].compactMap(\.self) + page.onceSentences
        return list("Requests that no file answered", missed)
            + list("Notes", (others + page.notes).map(HTML.breakable))
    }

    private func list(_ title: String, _ items: [String]) -> String {
        if items.isEmpty { return "" }
        return
            "<h3>\(title) <small>\(items.count)</small></h3>\n<ul>\(items.map { "<li>\($0)" }.joined(separator: "\n"))</ul>\n"
    }
}
