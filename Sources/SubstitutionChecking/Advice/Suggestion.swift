/// Returns the candidate that was probably meant by `name`; nil if none is close enough.
///
/// The measure is the number of letters to insert and delete. A candidate is close enough if at most one letter, or a
/// third of them, is wrong or at another place.
///
/// Cost: linear in the length of each candidate, except for a candidate with nearly the same letters as `name`. For
/// such a candidate, the cost is the product of the two lengths. The search stops when the sum of these products
/// reaches a million.
package func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
    let letters = Array(name.lowercased().utf8.prefix(256))
    let limit = max(1, letters.count / 3)
    var best: (distance: Int, name: String)?
    var stepsLeft = 1_000_000
    for candidate in candidates {
        let other = Array(candidate.lowercased().utf8.prefix(256))
        guard abs(other.count - letters.count) <= limit, differingLetters(letters, other) <= limit else { continue }
        stepsLeft -= letters.count * other.count
        guard stepsLeft > 0 else { break }
        let distance = other.difference(from: letters).count
        guard distance <= 2 * limit else { continue }
        // Of two equally close candidates, take the first in alphabetical order, so that messages do not change by
        // chance.
        if let best, (best.distance, best.name) <= (distance, candidate) { continue }
        best = (distance, candidate)
    }
    return best?.name
}

/// Returns the number of letters that only the first text has, or that only the second has, whichever is larger.
///
/// Positions do not matter. The number never exceeds the edit distance.
private func differingLetters(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var counts = [Int](repeating: 0, count: 256)
    for letter in first { counts[Int(letter)] += 1 }
    for letter in second { counts[Int(letter)] -= 1 }
    let (more, fewer) = counts.reduce(into: (0, 0)) { $1 > 0 ? ($0.0 += $1) : ($0.1 -= $1) }
    return max(more, fewer)
}
