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
    package var noun: String { [.audio: "sound", .other: "other file"][self] ?? rawValue }

    package var plural: String { noun + "s" }

    package init(_ type: MediaType) {
        let kinds: [Substring: FileKind] = ["image": .image, "font": .font, "audio": .audio, "video": .video]
        self = kinds[Substring(type.canonical.kind)] ?? (type.isText ? .text : .other)
    }
}
