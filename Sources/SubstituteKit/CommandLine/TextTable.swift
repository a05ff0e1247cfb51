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

extension Sequence {
    /// Returns groups of elements with equal keys, each at the place of its first element.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var places: [Key: Int] = [:]
        return reduce(into: []) { groups, element in
            let key = key(element)
            let place = places[key, default: groups.count]
            if place == groups.count { groups.append((key, [])) }
            places[key] = place
            groups[place].elements.append(element)
        }
    }
}
