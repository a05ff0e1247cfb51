import Foundation
import LocalSubstitutionCache

/// The lines with which Git marks a merge conflict.
enum ConflictMarkers {
    /// Returns the line of the first marker, counted from 1; nil unless all three markers occur in order.
    static func line(in text: Data) -> Int? {
        let markers = ["<<<<<<< ", "=======", ">>>>>>> "].map { Data($0.utf8) }
        var starts: [Data.Index] = []
        for marker in markers {
            guard let start = lineStart(of: marker, in: text, from: starts.last ?? text.startIndex) else { return nil }
            starts.append(start)
        }
        return starts.first.map(text.line)
    }

    private static func lineStart(of marker: Data, in text: Data, from start: Data.Index) -> Data.Index? {
        var start = start
        while let found = text.range(of: marker, in: start..<text.endIndex) {
            if found.lowerBound == text.startIndex || text[found.lowerBound - 1] == UInt8(ascii: "\n") {
                return found.lowerBound
            }
            start = found.upperBound
        }
        return nil
    }
}
