package import Foundation
package import LocalSubstitutionCache

extension MediaType {
    /// Finds the type that the bytes of a body show, for a body that was sent without a type.
    ///
    /// These are the rules by which browsers identify an unknown type (WHATWG MIME Sniffing §7.1), with more tags and
    /// formats; SVG is not one of them, because browsers do not recognise SVG either.
    package init(sniffing body: Data) {
        let head = Array(body.prefix(FileFormat.headLength))
        let format = FileFormat(head: head)
        let text = head.drop { $0 <= 0x20 }
        let isTag = text.first == UInt8(ascii: "<") && text.dropFirst().first?.isASCIILetter == true
        let type =
            if text.starts(with: "<?xml".utf8) {
                "text/xml"
            } else if format == .html || isTag && format == nil || text.starts(with: "<!--".utf8) {
                "text/html"
            } else if let format, format != .svg, let known = format.usualType {
                known
            } else {
                FileFormat.isBinary(head) ? Self.octetStream.essence : "text/plain"
            }
        self = MediaType(type) ?? Self.octetStream
    }
}
