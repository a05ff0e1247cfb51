import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// A format of files, recognised by their first bytes.
///
/// The signatures come from the WHATWG MIME Sniffing Standard (§6). For formats that are missing there, they come from
/// the formats' own specifications. Foundation has no API that recognises formats.
package enum FileFormat: String, CaseIterable {
    case png = "PNG"
    case jpeg = "JPEG"
    case gif = "GIF"
    case webp = "WebP"
    case bmp = "BMP"
    case tiff = "TIFF"
    case icon = "icon (ICO)"
    case jpegXL = "JPEG XL"
    case photoshop = "Photoshop document"
    case avif = "AVIF"
    case heif = "HEIC"
    case svg = "SVG"
    case pdf = "PDF"
    case postScript = "PostScript document (EPS)"
    case woff = "WOFF font"
    case woff2 = "WOFF2 font"
    case outlines = "TrueType or OpenType font"
    case fontCollection = "font collection"
    case mp4 = "MP4"
    case matroska = "WebM or Matroska file"
    case ogg = "Ogg file"
    case mp3 = "MP3"
    case wav = "WAV"
    case flac = "FLAC"
    case zip = "ZIP"
    case gzip = "gzip file"
    case webAssembly = "WebAssembly module"
    case glTF = "binary glTF"
    case html = "web page (HTML)"
    case lfsPointer = "Git LFS pointer"
    case alias = "Finder alias"

    /// The number of leading bytes that suffice to recognise every format.
    package static let headLength = 4096

    /// A row of `Resources/formats.json`.
    private struct Row: Decodable {
        let format: String
        /// The usual extension; nil if there are several, or none.
        let `extension`: String?
        /// The media types whose files may have the format.
        let types: [String]?
        /// The bytes by which the format is recognised, in hexadecimal digits; ".." is any byte.
        let starts: [String]?
    }

    private static let rows: [(format: FileFormat, row: Row, starts: [[UInt8?]])] = {
        let rows = (try? JSONDecoder().decode([Row].self, from: Data(PackageResources.formats_json))) ?? []
        return rows.compactMap { row in
            let starts = (row.starts ?? []).map { digits in
                let digits = Array(digits)
                return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
            }
            return FileFormat(rawValue: row.format).map { ($0, row, starts) }
        }
    }()

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
        // These bytes begin an MP3's frame header (ISO 11172-3 §2.4.1.3) for layer III or layer II.
        let isFrame = head.count > 2 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0 && [2, 4].contains(head[1] & 6)
        if let known {
            self = head.dropFirst(4).starts(with: "ftyp".utf8) ? Self.format(ofBrands: head) : known.format
        } else if let format = isFrame ? .mp3 : Self.markup(head) {
            self = format
        } else {
            return nil
        }
    }

    /// True if the bytes contain a control character that does not occur in text.
    static func isBinary(_ head: [UInt8]) -> Bool {
        head.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    }

    /// Returns the format of an ISO base media file, according to the brands in its first box, `ftyp`.
    ///
    /// See ISO/IEC 14496-12 §4.3.
    private static func format(ofBrands head: [UInt8]) -> FileFormat {
        let length = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let box = head.prefix(max(12, min(length, head.count))).dropFirst(8)
        let brands = stride(from: box.startIndex, to: box.endIndex - 3, by: 4).map { start in
            String(decoding: box[start..<start + 4], as: UTF8.self)
        }
        if !Set(brands).isDisjoint(with: ["avif", "avis"]) { return .avif }
        let images: Set<String> = ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]
        return brands.first.map(images.contains) == true ? .heif : .mp4
    }

    /// Recognises HTML and SVG by their first element.
    private static func markup(_ head: [UInt8]) -> FileFormat? {
        let isWide = head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
        let text = isWide ? String(data: Data(head), encoding: .utf16) ?? "" : String(decoding: head, as: UTF8.self)
        var rest = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        // Skip comments and processing instructions, which do not show the format.
        while let end = rest.hasPrefix("<!--") ? "-->" : rest.hasPrefix("<?") ? "?>" : nil {
            guard let range = rest.range(of: end) else { break }
            rest = rest[range.upperBound...].drop(while: \.isWhitespace)
        }
        let start = rest.prefix(15).lowercased()
        let element = start.dropFirst().prefix { $0.isLetter }
        let isPage =
            start.hasPrefix("<!doctype html") || start.hasPrefix("<") && ["html", "head", "body"].contains(element)
        if isPage { return .html }
        guard rest.hasPrefix("<") else { return nil }
        return start.hasPrefix("<!doctype svg") || rest.contains("<svg") || rest.contains(":svg") ? .svg : nil
    }

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
    var fileExtension: String? { Self.rows.first { $0.format == self }?.row.extension }

    /// The media type of files with the usual extension.
    var usualType: MediaType? { fileExtension.flatMap { MediaType(fileName: "x.\($0)") } }

    /// The name with its article, for messages.
    var article: String {
        "\([.icon, .avif, .svg, .mp4, .mp3, .ogg].contains(self) ? "an" : "a") \(rawValue)"
    }
}
