import Foundation
import LocalSubstitutionCache

/// A key that its issuer marks, so that a file of an app, which everybody can read, is known to hold one.
enum PublishedKey {
    /// The marks, each with the least number of further characters.
    private static let marks = [
        ("PRIVATE KEY-----", 20), ("AKIA", 16), ("ghp_", 36), ("github_pat_", 20), ("glpat-", 20), ("xoxb-", 20),
        ("sk_live_", 16), ("sk-ant-", 20), ("sk-proj-", 20), ("npm_", 36), ("AGE-SECRET-KEY-1", 50), ("pypi-", 20),
    ]

    /// Returns the mark of the first key in a file, and its line; nil if there is none.
    static func found(in file: FileSample) -> (mark: String, line: Int)? {
        guard file.text != nil || !FileFormat.isBinary(file.head) else { return nil }
        let data = file.text ?? Data(file.head)
        for (mark, count) in marks {
            var rest = data
            while let range = rest.range(of: Data(mark.utf8)) {
                rest = data[range.upperBound...]
                let value = rest.prefix(100).drop { $0 <= 0x20 || $0 == UInt8(ascii: "\\") }
                    .prefix { $0.isASCIILetter || $0.isASCIIDigit || "-+/=".utf8.contains($0) }
                // A manual shows an example.
                guard value.count >= count, !String(decoding: value, as: UTF8.self).lowercased().contains("example")
                else { continue }
                return (mark, data[..<range.lowerBound].count { $0 == UInt8(ascii: "\n") } + 1)
            }
        }
        return nil
    }
}
