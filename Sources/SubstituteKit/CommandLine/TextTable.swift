import LocalSubstitutionCache
import SubstituteCheckKit

extension Console {
    /// Prints rows with aligned columns, without trailing spaces; all rows must have the same number of cells.
    func printTable(_ rows: [[String]]) {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            print(String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed()))
        }
    }
}
