import Foundation
import LocalSubstitutionCache

/// A file of the manifest, with the part of its content that the rules examine.
struct FileSample {
    let substitution: Substitution
    /// The first bytes.
    let head: [UInt8]
    /// The format that the first bytes show; nil for most texts, and for an unknown format.
    let format: FileFormat?
    /// The whole content of a text; nil for all other files, and for texts larger than ``textSize``.
    let text: Data?

    /// The size above which a text is not read whole, in bytes.
    static let textSize = 5_000_000

    /// Reads the file; nil if that fails.
    init?(_ substitution: Substitution) {
        guard let head = substitution.bytes(upTo: FileFormat.headLength) else { return nil }
        self.substitution = substitution
        self.head = Array(head)
        format = FileFormat(head: self.head)
        let isRead = substitution.mediaType.isText && substitution.size <= Self.textSize
        text = isRead ? substitution.bytes(upTo: Self.textSize) : nil
    }

    var type: MediaType { substitution.mediaType }

    /// The file's name in quotation marks.
    var subject: String { quoted(substitution.file) }

    /// The formats that the type allows; nil if none are known.
    var expected: Set<FileFormat>? { FileFormat.expected(of: type) }

    /// True for stylesheets and scripts.
    var isCode: Bool { type.essence == "text/css" || type.isJavaScript }

    /// The first bytes as text, without white space and a byte-order mark at the beginning.
    var beginning: Substring {
        String(decoding: head, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    }
}
