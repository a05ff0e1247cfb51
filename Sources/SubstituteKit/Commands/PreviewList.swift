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
        if format == .json {
            for substitution in shipped { try console.printJSON(object(substitution)) }
            return
        }
        console.printTable(
            shipped.map { substitution in
                let times = use.map { [$0.times(substitution) == 0 ? "never" : "\($0.times(substitution)) ×"] } ?? []
                return times + [
                    visible(substitution.url), visible(substitution.file), substitution.mediaType,
                    ByteCount(substitution.size).description, Self.remarks(of: substitution),
                ]
            }
        )
        console.print(inventory.description)
        guard let use else { return }
        if use.isEmpty, !unused.isEmpty {
            console.print("The recording has no request that a file answers, so it may be one of another site or app.")
        }
        let size = ByteCount(unused.reduce(0) { $0 + $1.size })
        let list = unused.isEmpty ? "" : ": " + unused.map { visible($0.file) }.joined(separator: ", ")
        console.print("\(counted(unused.count, "file")) never used, \(size)\(list)")
    }

    private func object(_ substitution: Substitution) -> JSONObject {
        [
            "url": visible(substitution.url), "file": visible(substitution.file), "type": substitution.mediaType,
            "size": substitution.size, "line": substitution.line,
            "when": substitution.conditions.map { $0.description.filter { $0 != "\"" } },
            "until": substitution.lastDay, "times": use?.times(substitution),
        ]
    }

    private static func remarks(of substitution: Substitution) -> String {
        [substitution.conditionWords, substitution.lastDay.map { "until \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
