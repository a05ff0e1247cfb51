import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// A check of how a file begins.
///
/// Some beginnings show that a file is not what its name says. Some text formats require a certain beginning.
enum Disguise {
    /// Returns the problem if a file's beginning is wrong; nil for all other files.
    ///
    /// The returned text continues a sentence that begins with the file's name, such as "does not begin with …".
    static func problem(of file: FileSample) -> String? {
        if let known = beginnings.first(where: { $0.applies(file) && file.beginning.hasPrefix($0.start) }) {
            return known.predicate
        }
        return missingStart(of: file).map { start in
            "does not begin with \(quoted(start)), as \(file.type.canonical.essence) must; export it again"
        }
    }

    /// Returns the text with which a file of this type must begin, if it does not; nil for all other files.
    static func missingStart(of file: FileSample) -> String? {
        let type = file.type.canonical.essence
        return required.first { $0.type == type && !file.beginning.hasPrefix($0.start) }?.start
    }

    private struct Beginning {
        let start: String
        let predicate: String
        let applies: @Sendable (FileSample) -> Bool

        init(_ start: String, _ predicate: String, _ applies: @escaping @Sendable (FileSample) -> Bool) {
            (self.start, self.predicate, self.applies) = (start, predicate, applies)
        }
    }

    private static let beginnings: [Beginning] =
        [
            Beginning(
                "{\\rtf",
                "is RTF, which is text with fonts; in TextEdit choose Format > Make Plain Text, and save it again"
            ) { $0.type.isText && $0.type.canonical.essence != "application/rtf" },
            Beginning("bplist00", "is a Safari web archive; save the page as Page Source") { $0.type.isHTML },
            Beginning("From: <Saved by", "is a page with all its files in one (MHTML); save it as HTML only") {
                $0.type.isHTML
            },
            Beginning(
                "&lt;",
                "is HTML whose \"<\" are written as \"&lt;\"; copy the page's source, not the text that it shows"
            ) {
                $0.type.isHTML
            },
            Beginning("```", "begins with the marks of a chat or Markdown (```); remove the lines that have them") {
                $0.isCode || $0.type.isHTML || $0.type.isXML || $0.type.isJSON
            },
            Beginning("[InternetShortcut]", "is a link to a page; put the file itself in its place") { _ in true },
            Beginning("data:image/", "is a data: URL, not the file itself; save the picture that it shows") {
                $0.expected != nil
            },
        ]
        + ["iVBORw0KGgo", "/9j/4", "R0lGOD", "PHN2Zy", "PD94bWwg", "UklGR", "d09GM"].map { start in
            Beginning(start, "is a file encoded as text (Base64); decode it") { $0.expected != nil }
        }

    /// The beginnings that WebVTT §4.1 and RFC 8216 §4.3.1.1 require.
    private static let required = [
        (type: "text/vtt", start: "WEBVTT"), (type: "application/vnd.apple.mpegurl", start: "#EXTM3U"),
    ]
}
