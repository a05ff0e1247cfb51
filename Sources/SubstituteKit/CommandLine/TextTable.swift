import LocalSubstitutionCache

/// Rows of text with aligned columns.
struct TextTable {
    private(set) var rows: [[String]] = []

    /// Adds a row; all rows must have the same number of cells.
    mutating func append(_ cells: [String]) { rows.append(cells) }

    /// One line per row, without trailing spaces.
    var lines: [String] {
        guard let count = rows.first?.count else { return [] }
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}
