import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// A format of files, recognised by their first bytes.
///
/// The signatures come from the WHATWG MIME Sniffing Standard (§6). For formats that are missing there, they come from
/// the formats' own specifications. Foundation has no API that recognises formats.
package struct FileFormat: Hashable, Sendable {
    /// The name in messages, such as "PNG"; it is that of a row of `Resources/formats.json`.
    let name: String

    static let png = Self(name: "PNG")
    static let jpeg = Self(name: "JPEG")
    static let svg = Self(name: "SVG")
    static let zip = Self(name: "ZIP")
    static let gzip = Self(name: "gzip file")
    static let html = Self(name: "web page (HTML)")
    static let lfsPointer = Self(name: "Git LFS pointer")

    /// The number of leading bytes that suffice to recognise every format.
    package static let headLength = 4096

    /// A row of `Resources/formats.json`.
    private struct Row: Decodable {
        let format: String
        /// The article before the name, if it is not "a".
        let article: String?
        /// The usual extension; nil if there are several, or none.
        let `extension`: String?
        /// The media types whose files may have the format, the usual one first.
        let types: [String]?
        /// True if other bytes may precede the format.
        let loose: Bool?
        /// The remedy for such a file in another's place; nil if it is to be renamed or exported.
        let remedy: String?
        /// The bytes by which the format is recognised, in hexadecimal digits; ".." is any byte.
        let starts: [String]?
    }

    private static let rows: [(format: FileFormat, row: Row, starts: [[UInt8?]])] = {
        let rows = (try? JSONDecoder().decode([Row].self, from: Data(PackageResources.formats_json))) ?? []
        return rows.map { row in
            let starts = (row.starts ?? []).map { digits in
                let digits = Array(digits)
                return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
            }
            return (FileFormat(name: row.format), row, starts)
        }
    }()

    private var row: Row? { Self.rows.first { $0.format == self }?.row }

}

extension FileFormat {
    /// Recognises the format of a file that begins with `head`; nil for most texts and for unknown formats.
    ///
    /// Files in some formats begin with letters, and a text may begin with the same letters. Most signatures of these
    /// formats therefore include the next byte, too. In a text, that byte does not follow these letters.
    init?(head: [UInt8]) {
        let known = Self.rows.first { row in
            row.starts.contains { start in
                start.count <= head.count && Swift.zip(start, head).allSatisfy { $0 == nil || $0 == $1 }
            }
        }
        guard let format = known?.format ?? Self.markup(head) else { return nil }
        self = format
    }

    /// True if the bytes contain a control character that does not occur in text.
    static func isBinary(_ head: [UInt8]) -> Bool {
        head.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    }

    /// Recognises HTML and SVG by their first element.
    private static func markup(_ head: [UInt8]) -> FileFormat? {
        let isWide = head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
        let text = isWide ? String(data: Data(head), encoding: .utf16) ?? "" : String(decoding: head, as: UTF8.self)
        guard let element = text.prefixMatch(of: firstElement)?.1.lowercased() else { return nil }
        if ["!doctype html", "html", "head", "body"].contains(element) { return .html }
        return text.contains("<svg") || text.contains(":svg") || element == "!doctype svg" ? .svg : nil
    }

    /// The first element, behind comments and processing instructions, which do not show the format.
    nonisolated(unsafe) private static let firstElement =
        /[\s\u{FEFF}]*(?>(?:<!--.*?-->|<\?.*?\?>)\s*)*+<(!doctype \w+|\w*)/.dotMatchesNewlines().ignoresCase()

    // MARK: - What a type allows

    /// Returns the formats that files of a media type may have; nil if none are known, as for most types of text.
    static func expected(of type: MediaType) -> Set<FileFormat>? {
        let known = type.synonyms.compactMap { formats[$0] }
        if let first = known.first { return known.reduce(first) { $0.union($1) } }
        let isArchive =
            type.essence.hasPrefix("application/vnd.openxmlformats-officedocument.")
            || type.essence.hasPrefix("application/vnd.oasis.opendocument.")
        return isArchive ? [.zip] : nil
    }

    private static let formats: [String: Set<FileFormat>] = rows.reduce(into: [:]) { formats, row in
        for type in row.row.types ?? [] { formats[type, default: []].insert(row.format) }
    }

    /// The usual extension of files in this format; nil if there are several usual extensions, or none.
    var fileExtension: String? { row?.extension }

    /// The usual media type of files in this format; nil for those that no page loads.
    var usualType: String? { row?.types?.first }

    var remedy: String? { row?.remedy }

    /// True if other bytes may precede the format.
    var isLoose: Bool { row?.loose ?? false }

    /// The name with its article, for messages.
    var article: String { "\(row?.article ?? "a") \(name)" }

    /// Returns the names of formats, in the order of the table.
    static func list(_ formats: Set<FileFormat>, _ name: (FileFormat) -> String) -> String {
        rows.map(\.format).filter(formats.contains).map(name).joined(separator: " or ")
    }
}
