import Foundation

/// Names of query parameters, sorted, so that one search tells whether a name is among them.
///
/// Two lists that mean the same are equal: a name that another's `*` covers is left out. Cost: a search takes the logarithm
/// of their number, however many there are.
struct ParameterNames: Hashable, Sendable {
    /// One name, or the beginning of names.
    struct Name: Hashable, Sendable, CustomStringConvertible {
        /// Normalised as it would be inside a URL, and so ASCII.
        let text: String
        /// Whether the manifest wrote a `*` after it.
        let isPrefix: Bool

        /// Reads a name as the manifest writes it: spelled as in a URL, with an optional `*` at its end.
        init(_ written: String) throws(URLProblem) {
            isPrefix = written.hasSuffix("*")
            let name = isPrefix ? String(written.dropLast()) : written
            text = try URLIdentity.normalised(name.composed.utf8)
        }

        /// The name as a manifest writes it.
        var description: String { text + (isPrefix ? "*" : "") }

        fileprivate func covers(_ name: some StringProtocol, isPrefix isOtherPrefix: Bool = false) -> Bool {
            isPrefix ? name.hasPrefix(text) : !isOtherPrefix && name == text
        }
    }

    /// In the order of their bytes.
    ///
    /// What lies between a prefix and a name that begins with it begins with it, too, and is left out: so of all names only
    /// the last one up to a given one can cover that.
    let sorted: [Name]

    init(_ names: [Name]) {
        var sorted: [Name] = []
        for name in names.sorted(by: { ($0.text, $0.isPrefix ? 0 : 1) < ($1.text, $1.isPrefix ? 0 : 1) }) {
            if let last = sorted.last, last.covers(name.text, isPrefix: name.isPrefix) { continue }
            sorted.append(name)
        }
        self.sorted = sorted
    }

    /// Whether parameters of this name are ignored.
    func contains(_ name: Substring) -> Bool { last(upTo: name)?.covers(name) ?? false }

    /// Whether every name that others cover is covered.
    func covers(_ others: ParameterNames) -> Bool {
        others.sorted.allSatisfy { last(upTo: $0.text)?.covers($0.text, isPrefix: $0.isPrefix) ?? false }
    }

    private func last(upTo name: some StringProtocol) -> Name? {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].text <= name { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : sorted[low - 1]
    }
}
