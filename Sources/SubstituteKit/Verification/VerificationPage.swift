import LocalSubstitutionCache
import SubstituteCheckKit

extension Page {
    /// Lays out a report: first the pages that failed, then a line for each other page.
    init(pages: [Verification], unloaded: [UnloadedPage], _ limits: VerificationLimits) throws {
        let title = Self.title(pages, unloaded, limits)
        let rows = pages.enumerated().map { index, page in
            limits.object(page).with([
                "number": index + 1, "counts": page.counts, "verdict": limits.verdict(on: page).words,
                "notes": ([page.redirectSentence].compactMap(\.self) + page.onceSentences + page.notes).map {
                    visible($0)
                },
            ])
        }
        self = try Page(
            title,
            ["title": title, "pages": unloaded.map(\.object) + rows],
            style: PackageResources.report_css,
            scripts: [PackageResources.report_js]
        )
    }

    private static func title(
        _ pages: [Verification],
        _ unloaded: [UnloadedPage],
        _ limits: VerificationLimits
    ) -> String {
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
}
