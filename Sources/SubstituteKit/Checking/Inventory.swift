import Foundation
import LocalSubstitutionCache

/// What ships: how many files of which kind, and how large they are together.
struct Inventory {
    /// The files of one kind.
    struct Share {
        let kind: FileKind
        let files: Int
        /// In bytes.
        let size: Int
    }

    let urls: Int
    /// In the order of `FileKind`; none without files.
    let shares: [Share]

    /// Counts each file once, however many URLs name it.
    init(_ substitutions: [Substitution]) {
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
    var size: Int { shares.reduce(0) { $0 + $1.size } }

    /// For example `9 URLs, 8 files, 14 kB: 6 images (11 kB), 2 texts (3.1 kB)`.
    var description: String {
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
func counted(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}

/// What people call files of a media type.
enum FileKind: String, CaseIterable {
    case image
    case font
    case audio
    case video
    case text
    case other

    /// One file of this kind.
    var noun: String {
        switch self {
        case .image, .font, .video, .text: rawValue
        case .audio: "sound"
        case .other: "other file"
        }
    }

    var plural: String { noun + "s" }

    /// The heading over files of this kind.
    var title: String { plural.prefix(1).uppercased() + plural.dropFirst() }

    init(_ type: MediaType) {
        let essence = type.canonical.essence
        let kinds: [(String, FileKind)] = [
            ("image/", .image), ("font/", .font), ("audio/", .audio), ("video/", .video), ("text/", .text),
        ]
        if let kind = kinds.first(where: { essence.hasPrefix($0.0) })?.1 {
            self = kind
        } else if essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || ["json", "xml", "yaml", "toml", "ld+json"].contains(where: {
                essence == "application/\($0)"
            })
        {
            self = .text
        } else {
            self = .other
        }
    }
}

/// A number of bytes as people read it, in powers of 1000.
struct ByteCount: CustomStringConvertible {
    let bytes: Int

    private static let units = ["kB", "MB", "GB", "TB"]

    init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// Reads a number with a unit, such as `5MB` or `1.5 kB`; nil for anything else.
    ///
    /// Without a unit it is bytes. `KiB` and its relatives are powers of 1024.
    init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let value = Double(number), value >= 0 else { return nil }
        let powers = ["": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "kib": 1, "mib": 2, "gib": 3]
        guard let power = powers[unit] else { return nil }
        let bytes = value * pow(unit.hasSuffix("ib") ? 1024 : 1000, Double(power))
        guard bytes < 1e18 else { return nil }
        self.bytes = Int(bytes)
    }

    var description: String {
        if bytes < 1000 { return counted(bytes, "byte") }
        var (value, unit) = (Double(bytes) / 1000, 0)
        while value >= 999.5, unit < Self.units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return String(format: value < 9.95 ? "%.1f " : "%.0f ", value) + Self.units[unit]
    }
}
