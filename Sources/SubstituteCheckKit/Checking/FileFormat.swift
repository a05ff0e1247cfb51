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

    /// Recognises the format of a file that begins with `head`; nil for most texts and for unknown formats.
    init?(head: [UInt8]) {
        let known = Self.signatures.first { signature in
            head.dropFirst(signature.offset).starts(with: signature.bytes)
        }
        if let known {
            self = known.format
        } else if head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if ["RIFF", "RIFX", "RF64"].contains(where: { head.starts(with: $0.utf8) }),
            head.dropFirst(8).starts(with: "WAVE".utf8)
        {
            self = .wav
        } else if head.dropFirst(4).starts(with: "ftyp".utf8) {
            self = Self.format(ofBrands: head)
        } else if head.first == 0, Self.boxes.contains(where: { head.dropFirst(4).starts(with: $0.utf8) }) {
            self = .mp4
        } else if head.starts(with: "BM".utf8), head.count > 9, Self.isBitmap(head) {
            self = .bmp
        } else if head.count > 2, head[0] == 0xFF, head[1] & 0xE0 == 0xE0, [0x02, 0x04].contains(head[1] & 0x06) {
            // These bytes begin a frame's header (ISO 11172-3 §2.4.1.3) for layer III or layer II.
            self = .mp3
        } else if head.starts(with: "%PDF-".utf8) {
            self = .pdf
        } else if head.starts(with: "%!PS".utf8) || head.starts(with: [0xC5, 0xD0, 0xD3, 0xC6]) {
            self = .postScript
        } else if let format = Self.markup(head) {
            self = format
        } else {
            return nil
        }
    }

    /// The bytes by which formats are recognised, with the offset of these bytes in the file.
    ///
    /// Files in some formats begin with letters, and a text may begin with the same letters. Most signatures of these
    /// formats therefore include the next byte, too. In a text, that byte does not follow these letters.
    private static let signatures: [(format: FileFormat, offset: Int, bytes: [UInt8])] = [
        (.png, 0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), (.jpeg, 0, [0xFF, 0xD8, 0xFF]),
        (.gif, 0, Array("GIF87a".utf8)), (.gif, 0, Array("GIF89a".utf8)), (.tiff, 0, [0x49, 0x49, 0x2A, 0]),
        (.tiff, 0, [0x4D, 0x4D, 0, 0x2A]), (.tiff, 0, [0x49, 0x49, 0x2B, 0]), (.icon, 0, [0, 0, 1, 0]),
        (.icon, 0, [0, 0, 2, 0]), (.jpegXL, 0, [0xFF, 0x0A]),
        (.jpegXL, 0, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]), (.photoshop, 0, Array("8BPS\0".utf8)),
        (.woff, 0, Array("wOFF".utf8)), (.woff2, 0, Array("wOF2".utf8)), (.outlines, 0, [0, 1, 0, 0]),
        (.outlines, 0, Array("OTTO\0".utf8)), (.outlines, 0, Array("true\0".utf8)),
        (.fontCollection, 0, Array("ttcf\0".utf8)), (.matroska, 0, [0x1A, 0x45, 0xDF, 0xA3]),
        (.ogg, 0, Array("OggS\0".utf8)), (.mp3, 0, Array("ID3\u{2}".utf8)), (.mp3, 0, Array("ID3\u{3}".utf8)),
        (.mp3, 0, Array("ID3\u{4}".utf8)), (.flac, 0, Array("fLaC\0".utf8)),
        (.flac, 0, [0x66, 0x4C, 0x61, 0x43, 0x80]),
        (.zip, 0, [0x50, 0x4B, 3, 4]), (.zip, 0, [0x50, 0x4B, 5, 6]), (.gzip, 0, [0x1F, 0x8B]),
        (.webAssembly, 0, [0, 0x61, 0x73, 0x6D]), (.glTF, 0, Array("glTF\u{2}\0".utf8)),
        (.lfsPointer, 0, Array("version https://git-lfs.github.com/spec/".utf8)),
        (.alias, 0, Array("book\0\0\0\0mark\0\0\0\0".utf8)),
    ]

    /// The possible types of the first box in a QuickTime file without `ftyp`.
    private static let boxes = ["moov", "mdat", "styp", "wide", "free", "skip", "moof", "sidx"]

    /// True if a file that begins with "BM" is a bitmap.
    ///
    /// In a bitmap, the two reserved fields of the BITMAPFILEHEADER are zero, or a header of a known size follows.
    ///
    /// In files for OS/2, the two fields are the coordinates of a hot spot and need not be zero.
    private static func isBitmap(_ head: [UInt8]) -> Bool {
        let sizes: [UInt8] = [12, 16, 40, 52, 56, 64, 108, 124]
        return head[6...9].allSatisfy { $0 == 0 }
            || head.count > 17 && sizes.contains(head[14]) && head[15...17].allSatisfy { $0 == 0 }
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
        let isSVG = start.hasPrefix("<!doctype svg") || rest.contains("<svg") || rest.contains(":svg")
        return rest.hasPrefix("<") && isSVG ? .svg : nil
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

    private static let formats: [String: Set<FileFormat>] = [
        "image/png": [.png], "image/apng": [.png], "image/jpeg": [.jpeg], "image/gif": [.gif],
        "image/webp": [.webp], "image/bmp": [.bmp], "image/tiff": [.tiff], "image/x-icon": [.icon, .png],
        "image/jxl": [.jpegXL], "image/avif": [.avif], "image/heic": [.heif], "image/heif": [.heif, .avif],
        "image/svg+xml": [.svg], "image/vnd.adobe.photoshop": [.photoshop], "application/pdf": [.pdf],
        "font/woff": [.woff], "font/woff2": [.woff2], "font/ttf": [.outlines], "font/otf": [.outlines],
        "font/collection": [.fontCollection], "video/mp4": [.mp4], "video/x-m4v": [.mp4], "video/quicktime": [.mp4],
        "audio/mp4": [.mp4], "video/webm": [.matroska], "audio/webm": [.matroska], "video/matroska": [.matroska],
        "audio/ogg": [.ogg], "video/ogg": [.ogg], "audio/mpeg": [.mp3], "audio/wav": [.wav],
        "audio/flac": [.flac, .ogg, .mp3],
        "application/zip": [.zip], "application/epub+zip": [.zip], "application/vnd.apple.pkpass": [.zip],
        "application/java-archive": [.zip], "model/vnd.usdz+zip": [.zip], "application/gzip": [.gzip],
        "application/wasm": [.webAssembly], "model/gltf-binary": [.glTF],
    ]

    /// The usual extension of files in this format; nil if there are several usual extensions, or none.
    var fileExtension: String? { Self.extensions[self] }

    /// The media type of files with the usual extension.
    var usualType: MediaType? { fileExtension.flatMap { MediaType(fileName: "x.\($0)") } }

    private static let extensions: [FileFormat: String] = [
        .png: "png", .jpeg: "jpg", .gif: "gif", .webp: "webp", .bmp: "bmp", .tiff: "tiff", .icon: "ico",
        .jpegXL: "jxl", .photoshop: "psd", .avif: "avif", .heif: "heic", .svg: "svg", .pdf: "pdf",
        .postScript: "eps", .woff: "woff", .woff2: "woff2", .fontCollection: "ttc", .mp4: "mp4", .mp3: "mp3",
        .wav: "wav", .flac: "flac", .webAssembly: "wasm", .glTF: "glb",
    ]

    /// The name with its article, for messages.
    var article: String {
        "\([.icon, .avif, .svg, .mp4, .mp3, .ogg].contains(self) ? "an" : "a") \(rawValue)"
    }
}
