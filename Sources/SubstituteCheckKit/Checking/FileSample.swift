import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

/// A file, with the part of its content that the rules examine.
struct FileSample {
    /// The substitution of a file that a manifest names; nil for a body that a server has sent.
    let substitution: Substitution?
    /// The path below the manifest's folder.
    let path: String
    /// The type under which browsers get the file.
    let type: MediaType
    /// The size in bytes.
    let size: Int
    /// The first bytes.
    let head: [UInt8]
    /// The format that the first bytes show; nil for most texts, and for an unknown format.
    let format: FileFormat?
    /// The whole content of a text; nil for all other files, and for texts larger than ``textSize``.
    let text: Data?
    /// The facts in the header of a PNG or a JPEG; nil for all other files.
    private(set) var picture: Picture?
    private var contents: Data?

    /// The size above which a text is not read whole, in bytes.
    static let textSize = 5_000_000

    /// Reads the file.
    init(_ substitution: Substitution) throws(FileProblem) {
        (self.substitution, path, type, size) =
            (substitution, substitution.path, substitution.type, substitution.size)
        head = Array(try substitution.contents(upTo: FileFormat.headLength))
        format = FileFormat(head: head)
        let isRead = substitution.type.isText && substitution.size <= Self.textSize
        text = isRead ? Data(try substitution.contents(upTo: Self.textSize)) : nil
        picture = Picture(self)
    }

    /// Creates the sample of a body that a server has sent.
    init(_ body: Data, named path: String, as type: MediaType) {
        (substitution, self.path, self.type, size) = (nil, path, type, body.count)
        head = Array(body.prefix(FileFormat.headLength))
        format = FileFormat(head: head)
        text = type.isText && body.count <= Self.textSize ? Data(body) : nil
        contents = body
        picture = Picture(self)
    }

    /// Returns the first `count` bytes; nil if the file cannot be read.
    func bytes(upTo count: Int) -> Data? { contents?.prefix(count) ?? substitution?.bytes(upTo: count) }

    /// The formats that the type allows; nil if none are known.
    var expected: Set<FileFormat>? { FileFormat.expected(of: type) }

    /// True if the file begins with a byte-order mark of UTF-16, which has zeros between the letters.
    var isWide: Bool { head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) }

    /// True for stylesheets and scripts.
    var isCode: Bool { type.essence == "text/css" || type.isJavaScript }

    /// The first bytes as text, without white space and a byte-order mark at the beginning.
    var beginning: Substring {
        String(decoding: head, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    }

    /// True for a web page whose type is neither HTML nor Markdown, which may hold HTML.
    ///
    /// XML may be a page if its root element is XHTML.
    var isStrayPage: Bool {
        guard format == .html, !type.isHTML, type.essence != "text/markdown" else { return false }
        return !type.isXML || !beginning.contains("xmlns=\"http://www.w3.org/1999/xhtml\"")
    }

    /// The name of the tag with which the text begins, after any comments; nil if it begins with no tag.
    ///
    /// A stylesheet or a script may begin with an HTML comment (CSS Syntax §3.1, ECMA 262 §B.1.1).
    var firstTag: String? { beginning.prefixMatch(of: Self.tagStart).map { String($0.1) } }

    nonisolated(unsafe) private static let tagStart =
        /(?>\s*<!--.*?-->)*+\s*<([?!]?[A-Za-z][A-Za-z0-9:\-]*)/.dotMatchesNewlines()
}
