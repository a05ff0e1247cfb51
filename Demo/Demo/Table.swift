import DemoSite
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MeasuredLoad {
    /// The load's row in the table: one string for each column.
    var row: [String] {
        [
            resource, answerer, String(response.statusCode),
            response.value(forHTTPHeaderField: "Content-Type") ?? "", String(body.count),
            String(format: "%.1f ms", milliseconds),
        ]
    }

    static let header = ["resource", "answered by", "status", "media type", "bytes", "time"]

    /// Returns the loads as a table with a header; numbers are aligned to the right.
    static func table(_ loads: [MeasuredLoad]) -> String {
        let rows = [header] + loads.map(\.row)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 2 || column > 3 ? space + cell.0 : cell.0 + space
            }
            return "  " + cells.joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }
}
