import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Prints the substituted URLs with their files.
struct PreviewList {
    private let shipped: [Substitution]
    private let inventory: Inventory
    /// The number of answers of each file in a recording; nil without a recording.
    private let use: RecordedUse?
    private let unused: [Substitution]

    /// - Parameters:
    ///   - check: A manifest without errors.
    ///   - use: The number of answers of each file in a recording; nil without a recording.
    init(_ check: ManifestCheck, _ use: RecordedUse?) {
        (shipped, inventory, self.use) = (check.shipped, check.inventory, use)
        unused = use?.unusedFiles(of: shipped) ?? []
    }

    func print(as format: ReportFormat, _ console: Console) throws {
        let rows = shipped.map { substitution in
            let times = use.map { [$0.times(substitution) == 0 ? "never" : "\($0.times(substitution)) ×"] } ?? []
            let cells = [
                visible(substitution.url), visible(substitution.path), substitution.mediaType,
                ByteCount(substitution.size).description, Self.remarks(of: substitution),
            ]
            return ReportItem(cells: times + cells, substitution.row(use))
        }
        try console.print(rows, sum: [inventory.description], as: format)
        guard let use, format == .text else { return }
        if use.isEmpty, !unused.isEmpty {
            console.print("The recording has no request that a file answers, so it may be one of another site or app.")
        }
        let size = ByteCount(unused.reduce(0) { $0 + $1.size })
        let list = unused.isEmpty ? "" : ": " + unused.map { visible($0.path) }.joined(separator: ", ")
        console.print("\(counted(unused.count, "file")) never used, \(size)\(list)")
    }

    private static func remarks(of substitution: Substitution) -> String {
        [substitution.conditionWords, substitution.lastDay.map { "until \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
