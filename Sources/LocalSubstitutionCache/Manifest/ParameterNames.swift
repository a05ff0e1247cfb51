import Foundation

/// Names of query parameters, sorted for binary search.
///
/// Two lists that mean the same are equal: a name that another name's `*` covers is left out. Cost: a search takes time
/// logarithmic in the number of names.
package struct ParameterNames: Hashable, Sendable {
    /// A name, or a prefix of names.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The name as a normalised URL spells it, in ASCII only.
        package let text: String
        /// True if the manifest wrote a `*` after the name.
        package let isPrefix: Bool

        /// Reads a name as the manifest writes it: spelled as in a URL, with an optional `*` at its end.
        init(_ written: String) throws(URLProblem) {
            isPrefix = written.hasSuffix("*")
            let name = isPrefix ? String(written.dropLast()) : written
            text = try URLIdentity.normalised(name.composed.utf8)
        }

        /// The name as a manifest writes it.
        package var description: String { text + (isPrefix ? "*" : "") }
    }

    /// The names in the order of their bytes.
    ///
    /// A name sorts after its prefixes, and a name that another name's `*` covers is left out. So only one name in this
    /// list can cover a given name: the last name that equals the given name or sorts before it.
    package let sorted: [Name]
    /// The bytes of the names, in the same order.
    private let keys: [[UInt8]]

    init(_ names: [Name]) {
        let order = names.map { (key: Array($0.text.utf8), name: $0) }.sorted { first, second in
            first.key == second.key
                ? first.name.isPrefix && !second.name.isPrefix : first.key.lexicographicallyPrecedes(second.key)
        }
        var sorted: [Name] = []
        var keys: [[UInt8]] = []
        for (key, name) in order {
            if let last = sorted.last, let lastKey = keys.last,
                last.isPrefix ? key.starts(with: lastKey) : !name.isPrefix && key == lastKey
            {
                continue
            }
            sorted.append(name)
            keys.append(key)
        }
        (self.sorted, self.keys) = (sorted, keys)
    }

    /// Returns whether parameters of this name are ignored.
    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { covers(name, isPrefix: false) }

    /// Returns whether these names cover every name that `others` covers.
    func covers(_ others: ParameterNames) -> Bool {
        zip(others.keys, others.sorted).allSatisfy { key, name in
            key.withUnsafeBufferPointer { covers($0, isPrefix: name.isPrefix) }
        }
    }

    /// Returns whether a name is covered; for a prefix, whether every name that begins with the prefix is covered.
    private func covers(_ name: UnsafeBufferPointer<UInt8>, isPrefix: Bool) -> Bool {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.compare(keys[middle], name) <= 0 { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return false }
        let key = keys[low - 1]
        if sorted[low - 1].isPrefix {
            return key.count <= name.count && Self.compare(key, .init(rebasing: name[..<key.count])) == 0
        }
        return !isPrefix && Self.compare(key, name) == 0
    }

    /// Compares byte by byte: the result is less than 0 if `first` comes before `second`.
    private static func compare(_ first: [UInt8], _ second: UnsafeBufferPointer<UInt8>) -> Int {
        first.withUnsafeBufferPointer { first in
            let count = min(first.count, second.count)
            if count > 0, let start = first.baseAddress, let other = second.baseAddress {
                let difference = memcmp(start, other, count)
                if difference != 0 { return Int(difference) }
            }
            return first.count - second.count
        }
    }
}
