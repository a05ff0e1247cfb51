import Foundation
import LocalSubstitutionCache

/// One substitution on the preview page.
struct PreviewCard {
    let substitution: Substitution
    let kind: FileKind
    /// The file's address, relative to the page and percent-encoded.
    let address: String
    /// What is wrong with the file's content, if anything.
    let problem: String?
    /// Whether the entry is ignored since its last day has passed.
    let isExpired: Bool
    /// What its server says of it, when that was asked.
    let mark: String?
    /// Different for each card of the page.
    let number: Int

    /// Where the entry stands.
    var place: ManifestCheck.Place { .init(line: substitution.line, column: substitution.column) }

    /// What links to the card.
    var anchor: String { "line-\(substitution.line)-\(number)" }

    /// The card as an item of a list.
    var html: String {
        """
        <li class="card\(isExpired ? " expired" : "")" data-kind="\(kind.rawValue)" data-size="\(substitution.size)" id="\(anchor)">
        <div class="show \(kind.rawValue)\(problem == nil ? "" : " broken")">\(sample)</div>
        <div class="about">
        <p class="url">\(HTML.breakable(substitution.url))</p>
        <p><a href="\(address)">\(HTML.breakable(substitution.file))</a></p>
        <p class="facts">\(HTML.escaped(substitution.mediaType.description)) · \(ByteCount(substitution.size)) · line \
        \(substitution.line)</p>
        \(conditions)</div>
        </li>

        """
    }

    private var sample: String {
        if let problem { return "<p class=\"problem\">\(HTML.escaped(problem))</p>" }
        switch kind {
        case .image:
            return "<img loading=\"lazy\" decoding=\"async\" alt=\"\" src=\"\(address)\">"
        case .font:
            return """
                <style>@font-face { font-family: f\(number); src: url("\(address)"); }</style>\
                <p class="big" data-font="f\(number)" style="font-family: f\(number)">Aa</p>\
                <p style="font-family: f\(number)">The quick brown fox jumps over 13 lazy dogs.</p>
                """
        case .audio:
            return "<audio controls preload=\"none\" src=\"\(address)\"></audio>"
        case .video:
            return "<video controls preload=\"metadata\" src=\"\(address)\"></video>"
        case .text:
            return "<pre>\(HTML.escaped(firstLines))</pre>"
        case .other:
            let name = substitution.file.split(separator: ".").last.map(String.init) ?? ""
            return "<p class=\"big\">\(HTML.escaped(String(name.prefix(8))))</p>"
        }
    }

    private var firstLines: String {
        guard let data = substitution.bytes(upTo: 2048) else { return "" }
        var text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\t", with: "    ")
        // What was read may end in the middle of a character.
        if data.count < substitution.size, text.hasSuffix("\u{FFFD}") { text.removeLast() }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.prefix(12).map { $0.prefix(160) }.joined(separator: "\n")
    }

    private var conditions: String {
        var chips =
            substitution.conditions.isEmpty
            ? [] : ["only when " + substitution.conditions.map(\.description).joined(separator: " or ")]
        if let ignored = substitution.ignoredQuery { chips.append("ignores \(ignored)") }
        if let day = substitution.lastDay {
            chips.append(isExpired ? "ended on \(day): not used any more" : "until \(day)")
        }
        if let mark { chips.append(mark) }
        for (name, value) in substitution.addedHeaders.sorted(by: { $0.key < $1.key }) {
            chips.append(value.map { "\(name): \($0)" } ?? "no \(name)")
        }
        if chips.isEmpty { return "" }
        return "<p class=\"chips\">" + chips.map { "<span>\(HTML.escaped($0))</span>" }.joined(separator: " ")
            + "</p>\n"
    }
}
