import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// One substitution on the preview page.
struct PreviewCard {
    let substitution: Substitution
    let kind: FileKind
    /// The file's address, relative to the page and percent-encoded.
    let address: String
    /// A sentence about a problem in the file's content; nil if there is none.
    let problem: String?
    /// True if the last day of the entry has passed, so that the entry is ignored.
    let isExpired: Bool
    /// A sentence if the server has a different version of the file, or no longer has the file; nil otherwise.
    let mark: String?
    /// The number of times that the app has used the entry, in words; nil if not known.
    let use: String?
    /// The card's number, unique on the page; the cards are numbered in the order of the manifest.
    let number: Int
    /// The URL, divided into the parts by which the cards are grouped.
    var title: PreviewTitle { PreviewTitle(substitution.url) }

    /// The line and column of the entry's key in the manifest.
    var place: ManifestCheck.Position { .init(line: substitution.line, column: substitution.column) }

    /// The URL fragment that links to the card.
    var anchor: String { "line-\(substitution.line)-\(number)" }

    /// The card as an item of a list.
    var html: String {
        """
        <li class="card\(isExpired ? " expired" : "")" data-kind="\(kind.rawValue)" data-size="\(substitution.size)" id="\(anchor)">
        <div class="show \(kind.rawValue)\(problem == nil ? "" : " broken")" data-label="\(label)">\(sample)</div>
        <div class="about">
        <p class="url"><a href="#\(anchor)" title="\(HTML.escaped(substitution.url))">\(title.html)</a></p>
        <p class="file"><a href="\(address)">\(HTML.inParts(substitution.file))</a></p>
        <p class="facts"><span class="type">\(HTML.escaped(type))</span> \
        <span class="bytes">\(ByteCount(substitution.size))</span> \
        <span class="line"><a data-place="\(place.line):\(place.column)">line \(place.line)</a></span></p>
        \(conditions)</div>
        </li>

        """
    }

    /// The media type; without the charset if that is UTF-8, as it nearly always is.
    private var type: String {
        let type = substitution.mediaType
        let usual = "; charset=utf-8"
        return type.hasSuffix(usual) ? String(type.dropLast(usual.count)) : type
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
            return "<pre>\(HTML.escapedContent(firstLines))</pre>"
        case .other:
            return "<p class=\"big\">\(label)</p>"
        }
    }

    /// A short label for the kind of file: the first 8 characters of its extension, or "file" if it has none.
    private var label: String {
        let parts = substitution.file.split(separator: "/").last?.split(separator: ".") ?? []
        return HTML.escaped(parts.count > 1 ? String(parts[parts.count - 1].prefix(8)) : "file")
    }

    /// The beginning of a text file: at most 8 lines (the style shows no more) and at most 640 characters.
    ///
    /// A wide card has room for 640 characters of a single long line.
    private var firstLines: String {
        do throws(FileProblem) {
            let data = try substitution.contents(upTo: 2048)
            var text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\t", with: "    ")
            // The 2048 bytes may end in the middle of a character.
            if data.count < substitution.size, text.hasSuffix("\u{FFFD}") { text.removeLast() }
            let lines = text.prefix(640).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return lines.prefix(8).joined(separator: "\n")
        } catch {
            return error.reason(for: substitution.file)
        }
    }

    /// The ignored parts of a query, in words; nil if the query must match exactly.
    private var ignoredQuery: String? {
        switch substitution.entry.query {
        case .exact: nil
        case .ignoring(let names): names.map(\.description).joined(separator: ", ")
        case .any: "the whole query"
        }
    }

    private var conditions: String {
        var chips = [substitution.conditionWords].compactMap(\.self)
        if let ignored = ignoredQuery { chips.append("ignores \(ignored)") }
        if let day = substitution.lastDay {
            chips.append(isExpired ? "ended on \(day), no longer used" : "until \(day)")
        }
        if let mark { chips.append(mark) }
        if let use { chips.append(use) }
        for (name, value) in substitution.entry.headers.sorted(by: { $0.key < $1.key }) {
            chips.append(value.map { "\(name): \($0)" } ?? "no \(name)")
        }
        if chips.isEmpty { return "" }
        return "<p class=\"chips\">" + chips.map { "<span>\(HTML.escaped($0))</span>" }.joined(separator: " ")
            + "</p>\n"
    }
}

extension Substitution {
    /// The conditions under which the file answers; nil if it always answers.
    var conditionWords: String? {
        conditions.isEmpty ? nil : "only when " + conditions.map(\.description).joined(separator: " or ")
    }
}
