import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

/// A row of `Resources/rules.json`: a rule for the content or the name of files.
///
/// A row has one condition: `starts`, `lacks`, `holds` or `name`. The others have a function in ``ContentRules/facts``.
struct ContentRow: Decodable, Sendable {
    /// The code with which a folder silences the rule.
    let code: String
    /// The types of the files: "html", "script", "json", "xml", or whole media types; nil for all files.
    private let types: [String]?
    /// The texts of which one is at the beginning.
    private let starts: [String]?
    /// The text with which the file does not begin.
    private let lacks: String?
    /// The texts of which one occurs, each with the least number of characters of a key that follow.
    private let holds: [String: Int]?
    /// The regular expression that the path matches.
    private let name: Pattern?
    /// True if only files of an entry for a folder are judged, which the entry does not name.
    private let folders: Bool?
    /// True if only texts are judged.
    private let text: Bool?
    /// True if all other findings about the file would be consequences.
    private let ends: Bool?
    /// True if only a browser finds the mistake.
    private let browser: Bool?
    /// The predicate with a remedy, in which `{found}`, `{line}`, `{column}` and `{type}` are replaced.
    private let says: String?

    var isLast: Bool { ends ?? false }

    /// Returns the finding about a file; nil if there is none.
    func finding(in file: FileSample) -> ContentFinding? {
        guard browser != true, applies(to: file), let (found, line) = match(in: file) else { return nil }
        return finding(found, line, in: file.path, as: file.type)
    }

    /// Returns the finding with its words; `line` is nil if the place in the file is not known.
    func finding(_ found: String, _ line: Int?, _ column: Int = 1, in path: String, as type: MediaType)
        -> ContentFinding?
    {
        let words = says?.replacingOccurrences(of: "{line}", with: "\(line ?? 1)")
            .replacingOccurrences(of: "{column}", with: "\(column)")
            .replacingOccurrences(of: "{type}", with: type.canonical.essence)
            .replacingOccurrences(of: "{fact}", with: found)
            .replacingOccurrences(of: "{found}", with: quoted(found))
        // A fact that ends the sentence has the remedy after a semicolon.
        let kind = says?.hasSuffix("{fact}") == true ? String(found.prefix { $0 != ";" }) : ""
        return words.map { ContentFinding(code, $0, of: line == nil ? kind : path) }
    }

    private func applies(to file: FileSample) -> Bool {
        let type = file.type
        if folders == true, file.substitution?.namedFile.hasSuffix("/") != true { return false }
        if text == true, FileFormat.isBinary(file.head) { return false }
        return types?.contains { name in
            switch name {
            case "html": type.isHTML
            case "script": type.isJavaScript
            case "json": type.isJSON
            case "xml": type.isXML
            default: type.canonical.essence == name
            }
        } ?? true
    }

    /// Returns the text that meets the condition, and its line in a text.
    private func match(in file: FileSample) -> (found: String, line: Int?)? {
        if let fact = ContentRules.facts[code] { return fact(file).map { ($0.found, $0.line) } }
        if let lacks { return file.beginning.hasPrefix(lacks) ? nil : (lacks, nil) }
        if let starts { return starts.first { file.head.starts(with: $0.utf8) }.map { ($0, nil) } }
        if let name { return name.place(in: file.path).map { (String(file.path[$0].trimmingPrefix("/")), nil) } }
        // Large texts, and texts of an unknown type, are judged by their beginning.
        guard let data = file.text ?? (FileFormat.isBinary(file.head) ? nil : Data(file.head)) else { return nil }
        let places = (holds ?? [:]).compactMap { mark, count in data.place(of: mark, before: count).map { ($0, mark) } }
        return places.min { $0.0 < $1.0 }.map { ($0.1, SourceText(name: "", bytes: data).position(of: $0.0).line) }
    }
}

extension Data {
    /// Returns the place of a text; nil if it does not occur from `start` on.
    ///
    /// Foundation's search would take a fifth of the time of a check.
    private func place(of mark: String, from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let first = mark.utf8.first else { return nil }
            let last = bytes.count - mark.utf8.count
            var place = start
            while place <= last, let found = memchr(base + place, Int32(first), last - place + 1) {
                if memcmp(found, mark, mark.utf8.count) == 0 { return UnsafeRawPointer(found) - base }
                place = UnsafeRawPointer(found) - base + 1
            }
            return nil
        }
    }

    /// Returns the place of a mark that at least `count` characters of a key follow.
    fileprivate func place(of mark: String, before count: Int) -> Int? {
        var start = 0
        while let place = place(of: mark, from: start) {
            start = place + mark.utf8.count
            if count == 0 { return place }
            let value = self[start...].prefix(100).drop { $0 <= 0x20 || $0 == UInt8(ascii: "\\") }
                .prefix { $0.isASCIILetter || $0.isASCIIDigit || "-+/=".utf8.contains($0) }
            // A manual shows an example.
            if value.count >= count, !String(decoding: value, as: UTF8.self).lowercased().contains("example") {
                return place
            }
        }
        return nil
    }
}
