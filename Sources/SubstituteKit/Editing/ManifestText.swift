import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The text of a manifest that is being edited.
///
/// The text of existing entries does not change. New text gets the layout of the last entry. Foundation's JSON writers
/// cannot edit a manifest in this way: they do not preserve the order or the layout.
struct ManifestText {
    /// The text, in UTF-8.
    private var bytes: [UInt8]
    private var members: [JSONMember] = []
    /// The index of each entry in `members`, keyed by the identity of the entry's URL.
    private var known: [String: Int] = [:]

    /// A new entry.
    struct Entry {
        let key: URLPattern
        let file: String
        let type: String?
        /// The parameters of the query that the entry is to ignore.
        let ignored: [String]
        /// The fields that its response gets.
        let headers: [String: String]
    }

    /// Reads a manifest that a check has found to be free of errors.
    init(_ text: Data) throws(ToolError) {
        bytes = Array(text)
        guard read() else { throw ToolError("this is not a manifest") }
    }

    @discardableResult
    private mutating func read() -> Bool {
        guard case .object(let members) = JSONParser.parse(bytes).value.kind else { return false }
        self.members = members
        known = [:]
        for (index, member) in members.enumerated() where !member.name.hasPrefix("$") {
            if let key = try? URLPattern(member.name) { known[key.identityKey] = index }
        }
        return true
    }

    /// Returns the line of the entry with this key; nil if no entry has this key.
    func line(of key: URLPattern) -> Int? {
        known[key.identityKey].map { index in
            bytes[..<members[index].nameOffset].count { $0 == UInt8(ascii: "\n") } + 1
        }
    }

    // MARK: - Changes

    /// Returns the text with new entries after all existing ones.
    func appending(_ entries: [Entry]) -> Data {
        var bytes = bytes
        guard !entries.isEmpty, let close = bytes.lastIndex(of: UInt8(ascii: "}")) else { return Data(bytes) }
        let (separator, colon) = layout
        // An entry's own fields stand on one line, which is as compact as the manifest.
        let space = separator == "," ? "" : " "
        let joined = entries.map { Self.string($0.key.spelling) + colon + Self.value(of: $0, space) }
            .joined(separator: separator)
        if members.isEmpty {
            let open = bytes[..<close].lastIndex(of: UInt8(ascii: "{")) ?? close
            let text = separator.dropFirst() + joined + separator.dropFirst().prefix { $0 != " " }
            bytes.replaceSubrange((open + 1)..<close, with: Array(text.utf8))
        } else {
            let end = (bytes[..<close].lastIndex { !$0.isJSONSpace } ?? close) + 1
            bytes.insert(contentsOf: Array((separator + joined).utf8), at: end)
        }
        return Data(bytes)
    }

    /// Replaces the number of `$version`; returns false if there is none.
    mutating func setVersion(to number: Int64) -> Bool {
        guard let start = members.first(where: { $0.name == "$version" })?.value.offset else { return false }
        let end = bytes[start...].firstIndex { !"0123456789+-.eE".utf8.contains($0) } ?? bytes.endIndex
        bytes.replaceSubrange(start..<end, with: Array("\(number)".utf8))
        return read()
    }

    // MARK: - Layout

    /// The text between two entries, including the comma, and between name and value, including the colon.
    ///
    /// An empty line separates two groups of entries, so the layout does not include empty lines.
    private var layout: (separator: String, colon: String) {
        guard let last = members.last else {
            return (bytes.contains(UInt8(ascii: "\r")) ? ",\r\n  " : ",\n  ", ": ")
        }
        let colon = text(before: last.value.offset, of: ":")
        let separator = text(before: last.nameOffset, of: ",")
            .replacingOccurrences(of: "\n[ \t\r]*(?=\n)", with: "", options: .regularExpression)
        if members.count > 1 { return (separator, colon) }
        return ("," + (separator.isEmpty && colon.contains(" ") ? " " : separator), colon)
    }

    /// Returns the white space before an offset, and the mark in it.
    private func text(before offset: Int, of mark: Unicode.Scalar) -> String {
        let start = bytes[..<offset].lastIndex { !$0.isJSONSpace && $0 != UInt8(ascii: mark) } ?? -1
        return String(decoding: bytes[(start + 1)..<offset], as: UTF8.self)
    }

    private static func value(of entry: Entry, _ space: String) -> String {
        let names = entry.ignored.map(string).joined(separator: ",\(space)")
        let headers = entry.headers.sorted { $0.key < $1.key }.map { ($0, string($1)) }
        let fields = [
            ("file", string(entry.file)), ("type", entry.type.map(string)),
            ("ignoreQuery", names.isEmpty ? nil : "[\(names)]"),
            ("headers", headers.isEmpty ? nil : object(headers, space)),
        ]
        let members = fields.compactMap { name, value in value.map { (name, $0) } }
        return members.count == 1 ? string(entry.file) : object(members, space)
    }

    private static func object(_ members: [(name: String, value: String)], _ space: String) -> String {
        let members = members.map { "\(string($0.name)):\(space)\($0.value)" }.joined(separator: ",\(space)")
        return "{\(space)\(members)\(space)}"
    }

    private static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<" ": result += String(format: "\\u%04x", scalar.value)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
