import Foundation
package import LocalSubstitutionCache

/// The files that ship: how many there are of each kind, and their total size.
package struct Inventory {
    /// The files of one kind.
    struct Share {
        let kind: FileKind
        let files: Int
        /// The size of the files, in bytes.
        let size: Int
    }

    package let urls: Int
    /// The manifest's `$version`; 0 if it has none.
    private let version: Int64
    /// The shares of the kinds that have files, in the order of `FileKind`.
    let shares: [Share]

    /// Counts each file once, even if it answers several URLs.
    package init(_ substitutions: [Substitution], version: Int64 = 0) {
        (urls, self.version) = (substitutions.count, version)
        // Compare paths byte by byte, because Swift treats two strings as equal if only their Unicode normalisation
        // differs.
        let files = Dictionary(
            substitutions.map { (Data($0.realPath.utf8), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let groups = Dictionary(grouping: files.values) { FileKind($0.type) }
        shares = FileKind.allCases.compactMap { kind in
            groups[kind].map { Share(kind: kind, files: $0.count, size: $0.reduce(0) { $0 + $1.size }) }
        }
    }

    var files: Int { shares.reduce(0) { $0 + $1.files } }

    /// The size of all files, in bytes.
    package var size: Int { shares.reduce(0) { $0 + $1.size } }

    /// A summary, for example `9 URLs, 8 files, 14 kB: 6 images (11 kB), 2 texts (3.1 kB)`.
    package var description: String {
        let number = version == 0 ? "" : "version \(version), "
        let total = "\(number)\(counted(urls, "URL")), \(counted(files, "file")), \(ByteCount(size))"
        if shares.isEmpty { return "\(total): no URL is answered by a file" }
        let parts = shares.map { share in
            let count = "\(share.files) \(share.files == 1 ? share.kind.noun : share.kind.plural)"
            return shares.count == 1 ? count : "\(count) (\(ByteCount(share.size)))"
        }
        return "\(total): \(parts.joined(separator: ", "))"
    }
}

/// Returns a number with its noun, and with an "s" after the noun unless the number is 1.
package func counted(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}
