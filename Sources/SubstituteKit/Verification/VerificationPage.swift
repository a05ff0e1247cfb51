import LocalSubstitutionCache
import SubstituteCheckKit

extension Page {
    /// Lays out a report: first the pages that failed, then a line for each other page.
    init(pages: [Verification], unloaded: [UnloadedPage], _ limits: VerificationLimits) throws {
        let fitting = pages.map(limits.verdict).count { $0 != .fails && $0 != .nothingCompared }
        let title = "The files fit \(fitting) of \(counted(pages.count + unloaded.count, "page"))"
        let rows = pages.enumerated().map { index, page in
            limits.object(page).with([
                "number": index + 1, "counts": page.counts, "verdict": limits.verdict(on: page).words,
                "notes": ([page.redirectSentence].compactMap(\.self) + page.notes).map {
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
}
