package import Foundation
package import LocalSubstitutionCache

extension MediaType {
    /// Finds the type that the bytes of a body show, for a body that was sent without a type.
    ///
    /// These are the rules by which browsers identify an unknown type (WHATWG MIME Sniffing §7.1), with more formats
    /// for its last steps; SVG is not one of them, because browsers do not recognise SVG either.
    package init(sniffing body: Data) {
        let head = Array(body.prefix(FileFormat.headLength))
        let text = head.drop { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }
        let start = text.prefix(15).map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 ? $0 - 0x20 : $0 }
        let isPage = Self.pageStarts.contains { tag in
            start.starts(with: tag) && [0x20, 0x3E].contains(start.dropFirst(tag.count).first)
        }
        let format = FileFormat(head: head)
        let type =
            if isPage || text.starts(with: "<!--".utf8) {
                "text/html"
            } else if text.starts(with: "<?xml".utf8) {
                "text/xml"
            } else if head.starts(with: "%!PS-Adobe-".utf8) {
                "application/postscript"
            } else if let format, format != .svg, let known = Self.types[format] ?? format.usualType?.essence {
                known
            } else {
                Self.isText(head) ? "text/plain" : Self.octetStream.essence
            }
        self = MediaType(type) ?? Self.octetStream
    }

    /// The tags of the table in §7.1, in upper case; a space or ">" has to follow.
    private static let pageStarts: [[UInt8]] = [
        "<!DOCTYPE HTML", "<HTML", "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT", "<TABLE", "<A", "<STYLE",
        "<TITLE", "<B", "<BODY", "<BR", "<P",
    ].map { Array($0.utf8) }

    private static let types: [FileFormat: String] = [
        .ogg: "application/ogg", .matroska: "video/webm", .zip: "application/zip", .gzip: "application/x-gzip",
        .outlines: "font/ttf",
    ]

    /// True if no byte is a binary data byte (§3), or if the text begins with a byte-order mark.
    private static func isText(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFE, 0xFF]) || head.starts(with: [0xFF, 0xFE]) || !FileFormat.isBinary(head)
    }
}
