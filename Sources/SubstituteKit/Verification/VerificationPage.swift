import LocalSubstitutionCache
import SubstituteCheckKit

extension Page {
    /// Lays out a report: first the pages that failed, then a line for each other page.
    init(pages: [Verification], unloaded: [UnloadedPage], _ limits: VerificationLimits) throws {
        let verdicts = pages.map(limits.verdict)
        let isIdle = unloaded.isEmpty && verdicts.allSatisfy { $0 == .nothingCompared }
        let count = counted(pages.count + unloaded.count, "page")
        let fitting = "The files fit \(verdicts.count { $0 == .fits }) of \(count)"
        let title = isIdle ? "Nothing was compared" : fitting
        let rows = pages.enumerated().map { index, page in
            limits.object(page).with([
                "number": index + 1, "counts": page.counts,
                "verdict": limits.verdict(on: page) == .nothingCompared ? "Nothing was compared." : nil,
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
