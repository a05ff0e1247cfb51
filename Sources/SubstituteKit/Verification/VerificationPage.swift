import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The HTML page of a report: three images and several tables for each page that was loaded.
struct VerificationPage {
    let pages: [Verification]
    let limits: VerificationLimits

    /// The tag by which the tool recognises a report page that it wrote.
    static let mark = "<meta name=\"generator\" content=\"substitute verify\">"

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        \(Self.mark)
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'">
        <title>\(title)</title>
        <style>
        \(Self.style)
        </style>
        <h1>\(title)</h1>
        \(pages.enumerated().map { section($1, $0 + 1) }.joined(separator: "\n"))
        </html>
        """
    }

    private var title: String {
        let verdicts = pages.map(limits.verdict)
        let of = pages.count == 1 ? "" : " of \(pages.count) pages"
        let failed = pages.filter { limits.verdict(on: $0) == .fails }
        if failed.contains(where: { $0.comparedCount > 0 }) {
            return "The files do not fit " + (of.isEmpty ? "the page" : "\(failed.count)\(of)")
        }
        if !failed.isEmpty {
            return of.isEmpty ? "The page was not verified" : "\(failed.count)\(of) were not verified"
        }
        let idle = verdicts.count { $0 == .nothingCompared }
        if idle > 0 { return of.isEmpty ? "Nothing was compared" : "Nothing was compared on \(idle)\(of)" }
        return of.isEmpty ? "The files fit the page" : "The files fit all \(pages.count) pages"
    }

    private func section(_ page: Verification, _ number: Int) -> String {
        """
        <section>
        <h2><a href="\(HTML.escaped(page.url))" rel="noreferrer">\(HTML.breakable(page.url))</a></h2>
        \(verdict(page))
        \(share(page))
        \(pictures(page, number))
        \(tables(page))
        </section>
        """
    }

    /// The verdict in a few words; the images and tables below it give the details.
    private func verdict(_ page: Verification) -> String {
        let problems = Dictionary(grouping: limits.problems(with: page), by: \.kind)
        switch limits.verdict(on: page) {
        case .fits: return "<p class=\"verdict fits\">The files fit.</p>"
        case .fitsExcept(let words): return "<p class=\"verdict fits\">The files fit, except for \(words).</p>"
        case .nothingCompared: return "<p class=\"verdict\">Nothing was compared.</p>"
        case .fails: break
        }
        var sentences: [String] = []
        for problem in [.pageUnfinished, .nothingCompared].compactMap({ problems[$0]?.first }) {
            sentences.append(HTML.breakable(problem.sentence) + ".")
        }
        if problems[.failedLoad] != nil || problems[.pageError] != nil {
            sentences.append("Errors occurred only with the files.")
        }
        if problems[.pageFails] != nil { sentences.append("The server answers \(page.status ?? 0).") }
        if problems[.tooFewFiles] != nil {
            let (share, least) = (page.share, limits.required)
            sentences.append(
                "\(VerificationLimits.percent(share)) of the requests came from files; "
                    + "\(VerificationLimits.percent(least ?? 0)) are required."
            )
        }
        if let count = problems[.changedFile]?.count {
            sentences.append("\(counted(count, "file")) \(count == 1 ? "differs" : "differ") from what servers send.")
        }
        if problems[.pictureDiffers] != nil {
            sentences.append("\(page.comparison.percentage) of the picture differs.")
        }
        return "<ul class=\"verdict\">\(sentences.map { "<li>\($0)" }.joined())</ul>"
    }

    /// A bar with the share of the requests that files answered.
    private func share(_ page: Verification) -> String {
        let percent = VerificationLimits.percent(page.share)
        return """
            <p class="share"><span class="bar"><span style="width: \(percent.replacingOccurrences(of: " ", with: ""))"></span></span>
            <b>\(page.answeredCount) of \(counted(page.requestCount, "request"))</b> came from files, \(percent):
            \(ByteCount(page.fileBytes)), and \(ByteCount(page.networkBytes)) from the network.</p>
            """
    }

    private func pictures(_ page: Verification, _ number: Int) -> String {
        let kinds = [("network", "From the network"), ("files", "With the files"), ("difference", "Difference")]
        let figures = kinds.map { kind, caption in
            """
            <figure class="\(kind)"><figcaption>\(caption)</figcaption>
            <a href="\(number)-\(kind).png"><img src="\(number)-\(kind).png" alt="\(caption)" loading="lazy"></a></figure>
            """
        }
        let choices = kinds.map { kind, caption in
            "<label><input type=\"radio\" name=\"picture\(number)\" value=\"\(kind)\"\(kind == "files" ? " checked" : "")>"
                + "\(caption)</label>"
        }
        let comparison = page.comparison
        let places = comparison.places.map(\.words).joined(separator: "; ")
        let sentence =
            comparison.count == 0
            ? "Both pictures are the same." : "\(comparison.percentage) of the picture differs, at \(places)."
        return """
            <p>\(sentence)</p>
            <div class="pictures">
            <div class="choice" role="radiogroup" aria-label="Picture">\(choices.joined())</div>
            <div class="frame" tabindex="0" aria-label="Pictures">
            \(figures.joined(separator: "\n"))
            </div></div>
            """
    }

    private func tables(_ page: Verification) -> String {
        let changed = page.changes.map { change in
            [
                url(change.url), "<code>\(HTML.breakable(change.substitution.file))</code>",
                "\(ByteCount(change.count))",
                HTML.escaped(change.served.words.replacingOccurrences(of: "there ", with: "")),
            ]
        }
        let missed = page.misses.map { miss in
            [
                HTML.breakable(miss.reason)
                    + (miss.command.map { "<br>Add it with: <code>\(HTML.breakable($0))</code>" } ?? "")
            ]
        }
        let wrong =
            page.errors.loads.map { ["failed", url($0.url)] }
            + page.errors.complaints.map { ["error", HTML.breakable($0)] }
        return table("Files that differ from what their servers send", ["URL", "File", "Here", "There"], changed)
            + table("Requests that no file answered", [], missed)
            + table("Errors that occurred only with the files", [], wrong)
            + table("Notes", [], page.notes.map { [HTML.breakable($0)] })
    }

    private func url(_ text: String) -> String { "<span class=\"url\">\(HTML.breakable(text))</span>" }

    private func table(_ title: String, _ heads: [String], _ rows: [[String]]) -> String {
        if rows.isEmpty { return "" }
        let head = heads.isEmpty ? "" : "<thead><tr>\(heads.map { "<th>\($0)" }.joined())</thead>"
        let body = rows.map { row in
            "<tr>"
                + row.enumerated().map { column, cell in
                    let label = heads.isEmpty ? "" : " data-label=\"\(heads[column])\""
                    return "<td\(label)>\(cell)"
                }.joined()
        }
        return
            "<h3>\(title) <span>\(rows.count)</span></h3>\n<table>\(head)<tbody>\(body.joined(separator: "\n"))</table>\n"
    }

    private static let style = """
        :root { color-scheme: light dark; --paper: #f6f4ef; --card: #fff; --ink: #20242c; --quiet: #5b626d; --line: #ddd8cc;
          --accent: #1d5fbf; --error: #b3261e; --good: #1f6f3f; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #111318; --card: #1a1d24; --ink: #eceef2; --quiet: #9aa2ae; --line: #2d323d; --accent: #8ab4ff;
            --error: #ff8a80; --good: #7fd6a0; }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body { margin: 0 auto; max-width: 90rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
          font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
        h1 { margin: 0 0 1rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.01em; }
        h2 { margin: 0; font-size: 1.15rem; } h3 { margin: 1.5rem 0 .4rem; font-size: 1rem; }
        h3 span { color: var(--quiet); font-weight: 400; } a { color: var(--accent); }
        section { margin-bottom: 1.5rem; padding: 1.1rem 1.25rem 1.25rem; background: var(--card); border: 1px solid var(--line);
          border-radius: 12px; }
        p { margin: .6rem 0; }
        .verdict { margin: .6rem 0; padding: .5rem .9rem; border-left: 4px solid currentColor; color: var(--error); list-style: none; }
        .verdict li + li { margin-top: .3rem; } .verdict.fits { color: var(--good); }
        .bar { display: block; height: .5rem; margin-bottom: .4rem; overflow: hidden; border-radius: .25rem; background: var(--line); }
        .bar span { display: block; height: 100%; background: var(--accent); }
        .frame { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0 .75rem; max-height: 75vh; overflow: auto;
          border: 1px solid var(--line); border-radius: 8px; background: var(--paper); padding: 0 .75rem .75rem; }
        figure { margin: 0; } figure img { display: block; width: 100%; border: 1px solid var(--line); background: #fff; }
        figcaption { position: sticky; top: 0; padding: .5rem 0; background: var(--paper); color: var(--quiet); font-size: .9rem; }
        .choice { display: none; gap: .35rem; flex-wrap: wrap; margin-bottom: .5rem; }
        .choice label { position: relative; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .9rem;
          cursor: pointer; }
        .choice input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
        .choice label:has(:checked) { background: var(--ink); color: var(--paper); border-color: var(--ink); }
        .choice label:has(:focus-visible), .frame:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        table { width: 100%; border-collapse: collapse; font-size: .92rem; }
        th { color: var(--quiet); font-weight: 400; text-align: left; }
        th, td { padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; }
        @media (max-width: 48rem) {
          body { padding: .75rem 1rem; } h1 { font-size: 1.35rem; } section { padding: .9rem 1rem; }
          .choice { display: flex; } .frame { display: block; } figure { display: none; } figcaption { display: none; }
          .frame { padding-top: .75rem; }
          .pictures:has([value=network]:checked) .network, .pictures:has([value=files]:checked) .files,
          .pictures:has([value=difference]:checked) .difference { display: block; }
          thead { display: none; } tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line); }
          td { display: block; padding: 0; border: 0; }
          td[data-label]::before { content: attr(data-label) ": "; color: var(--quiet); }
        }
        @media print { body { max-width: none; padding: 0; } .frame { max-height: none; overflow: visible; } }
        """
}
