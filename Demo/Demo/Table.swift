import DemoSite
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MeasuredLoad {
    /// Returns a table with a row for each resource; numbers are aligned to the right.
    ///
    /// If nothing was loaded before the installation, the table has no columns for that.
    static func table(before: [MeasuredLoad], after: [MeasuredLoad]) -> String {
        var resources: [String] = []
        for load in before + after where !resources.contains(load.resource) { resources.append(load.resource) }
        var columns = [["resource"] + resources]
        for (title, loads) in [("before", before), ("after", after)] where !loads.isEmpty {
            let row = resources.map { resource in loads.first { $0.resource == resource } }
            columns.append([title] + row.map { $0?.source ?? "" })
            columns.append(["time"] + row.map { $0.map { String(format: "%.2f ms", $0.milliseconds) } ?? "" })
        }
        let widths = columns.map { $0.map(\.count).max() ?? 0 }
        let lines = (0...resources.count).map { row in
            let cells = zip(columns, widths).map { column, width in
                let space = String(repeating: " ", count: width - column[row].count)
                return column[0] == "time" ? space + column[row] : column[row] + space
            }
            return "  " + cells.joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }

    /// The answerer, and any status that is not a success.
    private var source: String {
        answerer + (response.statusCode == 200 ? "" : ", \(response.statusCode)")
    }
}
