import Foundation

/// Names of query parameters, sorted, so that one search tells whether a name is among them.
///
/// Two lists that mean the same are equal: a name that another's `*` covers is left out. Cost: a search takes the
/// logarithm of their number, however many there are.
package struct ParameterNames: Hashable, Sendable {
    /// One name, or the beginning of names.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        /// Normalised as it would be inside a URL, and so ASCII.
        package let text: String
        /// Whether the manifest wrote a `*` after it.
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

    /// In the order of their bytes.
    ///
    /// A name between a prefix and another name with that prefix has it, too, and is left out. So of the names
    /// kept here, only the last that does not sort after a given name can cover that name.
    package let sorted: [Name]
    /// The bytes of their texts.
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

    /// Whether parameters of this name are ignored.
    func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool { covers(name, isPrefix: false) }

    /// Whether every name that others cover is covered.
    func covers(_ others: ParameterNames) -> Bool {
        zip(others.keys, others.sorted).allSatisfy { key, name in
            key.withUnsafeBufferPointer { covers($0, isPrefix: name.isPrefix) }
        }
    }

    /// Whether a name is covered, or every name that begins with it.
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

    /// Less than 0 when the first comes before the second, byte by byte.
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
