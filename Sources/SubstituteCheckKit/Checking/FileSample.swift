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
    ///
    /// "?" replaces each byte of a combining mark after the thirtieth in a row, so that searching takes linear time.
    let text: Data?
    private var contents: Data?

    /// The size above which a text is not read whole, in bytes.
    static let textSize = 5_000_000

    /// Reads the file.
    init(_ substitution: Substitution) throws(FileProblem) {
        (self.substitution, path, type, size) =
            (substitution, substitution.file, substitution.type, substitution.size)
        head = Array(try substitution.contents(upTo: FileFormat.headLength))
        format = FileFormat(head: head)
        let isRead = substitution.type.isText && substitution.size <= Self.textSize
        text = isRead ? Self.streamSafe(try substitution.contents(upTo: Self.textSize)) : nil
    }

    /// Creates the sample of a body that a server has sent.
    init(_ body: Data, named path: String, as type: MediaType) {
        (substitution, self.path, self.type, size) = (nil, path, type, body.count)
        head = Array(body.prefix(FileFormat.headLength))
        format = FileFormat(head: head)
        text = type.isText && body.count <= Self.textSize ? Self.streamSafe(body) : nil
        contents = body
    }

    private static func streamSafe(_ text: Data) -> Data {
        if text.isStreamSafe { return text }
        var result = Data()
        var marks = 0
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            result += marks > 30 ? Data(repeating: UInt8(ascii: "?"), count: bytes.count) : Data(bytes)
        }
        return result
    }

    /// Returns the first `count` bytes; nil if the file cannot be read.
    func bytes(upTo count: Int) -> Data? { contents?.prefix(count) ?? substitution?.bytes(upTo: count) }

    /// The file's name in quotation marks.
    var subject: String { quoted(path) }

    /// Returns a mistake in this file; the predicate continues a sentence that begins with the file's name.
    func problem(_ kind: String, _ predicate: String, isAboutType: Bool = false) -> ContentProblem {
        ContentProblem(kind: kind, sentence: "\(subject) \(predicate)", isAboutType: isAboutType)
    }

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
    var firstTag: String? {
        var rest = beginning
        while rest.hasPrefix("<!--") {
            guard let end = rest.range(of: "-->") else { return nil }
            rest = rest[end.upperBound...].drop(while: \.isWhitespace)
        }
        return rest.prefixMatch(of: Self.tagStart).map { String($0.1) }
    }

    nonisolated(unsafe) private static let tagStart = /<([?!]?[A-Za-z][A-Za-z0-9:\-]*)/

    /// The text with which a file of this type must begin, if it does not; nil for all other files.
    var missingStart: String? {
        let start = Self.starts[type.canonical.essence]
        return start.map(beginning.hasPrefix) == false ? start : nil
    }

    /// The beginnings that WebVTT §4.1 and RFC 8216 §4.3.1.1 require.
    private static let starts = ["text/vtt": "WEBVTT", "application/vnd.apple.mpegurl": "#EXTM3U"]
}

extension Data {
    /// Returns the line of a place in a text, counted from 1.
    func line(of place: Index) -> Int { self[..<place].count { $0 == UInt8(ascii: "\n") } + 1 }
}
