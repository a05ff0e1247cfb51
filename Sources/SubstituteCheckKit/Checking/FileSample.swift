import Foundation
import LocalSubstitutionCache

/// A file of the manifest with as much of its content as rules look at.
struct FileSample {
    let substitution: Substitution
    /// The first bytes.
    let head: [UInt8]
    /// The format that the first bytes tell; nil for text, and for what is not known.
    let format: FileFormat?
    /// The whole of a text; nil for all else, and above ``textSize``.
    let text: Data?

    /// Texts above this size are not read whole, in bytes.
    static let textSize = 5_000_000

    /// Nil when the file cannot be read.
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

    /// The formats that the type allows; nil where nothing is known of them.
    var expected: Set<FileFormat>? { FileFormat.expected(of: type) }

    /// True for stylesheets and scripts, which are text with a grammar of their own.
    var isCode: Bool { type.essence == "text/css" || type.isJavaScript }

    /// The first bytes as text, without a byte-order mark and white space before it.
    var beginning: Substring {
        String(decoding: head, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    }
}
