import Foundation
package import LocalSubstitutionCache

/// What ships: how many files of which kind, and how large they are together.
package struct Inventory {
    /// The files of one kind.
    struct Share {
        let kind: FileKind
        let files: Int
        /// In bytes.
        let size: Int
    }

    package let urls: Int
    /// In the order of `FileKind`; none without files.
    let shares: [Share]

    /// Counts each file once, however many URLs name it.
    package init(_ substitutions: [Substitution]) {
        urls = substitutions.count
        // By their paths byte for byte: Swift's strings are equal in any Unicode form.
        let files = Dictionary(
            substitutions.map { (Data($0.realPath.utf8), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let groups = Dictionary(grouping: files.values) { FileKind($0.mediaType) }
        shares = FileKind.allCases.compactMap { kind in
            groups[kind].map { Share(kind: kind, files: $0.count, size: $0.reduce(0) { $0 + $1.size }) }
        }
    }

    var files: Int { shares.reduce(0) { $0 + $1.files } }

    /// Of all files, in bytes.
    package var size: Int { shares.reduce(0) { $0 + $1.size } }

    /// For example `9 URLs, 8 files, 14 kB: 6 images (11 kB), 2 texts (3.1 kB)`.
    package var description: String {
        let total = "\(counted(urls, "URL")), \(counted(files, "file")), \(ByteCount(size))"
        if shares.isEmpty { return total }
        let parts = shares.map { share in
            let count = "\(share.files) \(share.files == 1 ? share.kind.noun : share.kind.plural)"
            return shares.count == 1 ? count : "\(count) (\(ByteCount(share.size)))"
        }
        return "\(total): \(parts.joined(separator: ", "))"
    }
}

/// A number with its noun, whose plural ends in "s".
package func counted(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}
