package import LocalSubstitutionCache
import SubstitutionRules

/// The kind of a file in a summary, by its media type.
package enum FileKind: String, CaseIterable {
    case image
    case font
    case audio
    case video
    case text
    case other

    /// The noun for one file of this kind.
    package var noun: String {
        switch self {
        case .image, .font, .video, .text: rawValue
        case .audio: "sound"
        case .other: "other file"
        }
    }

    package var plural: String { noun + "s" }

    /// The heading over files of this kind.
    package var title: String { plural.prefix(1).uppercased() + plural.dropFirst() }

    package init(_ type: MediaType) {
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
