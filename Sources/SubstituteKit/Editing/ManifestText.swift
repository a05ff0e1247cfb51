import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The text of a manifest that is being edited.
///
/// The text of existing entries does not change, except for the path of a file. New text gets the layout of the
/// neighbouring entries. Foundation's JSON writers cannot edit a manifest in this way: they do not preserve the order
/// or the layout.
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
        let ignored: IgnoredQuery
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
        let layout = Layout(of: members, in: bytes) ?? Layout.manifest(in: bytes)
        let fields = fieldLayout(beside: layout)
        let texts = entries.map { text(of: $0, layout, fields) }
        let joined = texts.joined(separator: layout.separator)
        if members.isEmpty {
            let open = bytes[..<close].lastIndex(of: UInt8(ascii: "{")) ?? close
            bytes.replaceSubrange((open + 1)..<close, with: Array((layout.opening + joined + layout.closing).utf8))
        } else {
            let end = (bytes[..<close].lastIndex { !$0.isJSONSpace } ?? close) + 1
            bytes.insert(contentsOf: Array((layout.separator + joined).utf8), at: end)
        }
        return Data(bytes)
    }

    /// Replaces the file of the entry with this key; the entry's other fields stay unchanged.
    mutating func setFile(of key: URLPattern, to path: String) {
        guard let index = known[key.identityKey] else { return }
        var value = members[index].value
        if case .object(let fields) = value.kind, let file = fields.last(where: { $0.name == "file" }) {
            value = file.value
        }
        bytes.replaceSubrange(value.offset..<Layout.end(of: value, in: bytes), with: Array(Self.string(path).utf8))
        read()
    }

    /// Replaces the number of `$version`; returns false if there is none.
    mutating func setVersion(to number: Int64) -> Bool {
        guard let value = members.first(where: { $0.name == "$version" })?.value else { return false }
        bytes.replaceSubrange(value.offset..<Layout.end(of: value, in: bytes), with: Array("\(number)".utf8))
        return read()
    }

    // MARK: - Layout

    /// Returns the layout of the last entry that is an object.
    ///
    /// If no entry is an object, returns a one-line layout. This layout is as compact as the layout of the manifest
    /// itself.
    private func fieldLayout(beside manifest: Layout) -> Layout {
        for member in members.reversed() {
            if case .object(let fields) = member.value.kind, let layout = Layout(of: fields, in: bytes) {
                return layout
            }
        }
        return manifest.fields
    }

    private func text(of entry: Entry, _ layout: Layout, _ fields: Layout) -> String {
        Self.string(entry.key.spelling) + layout.colon + Self.value(of: entry, fields)
    }

    private static func value(of entry: Entry, _ layout: Layout) -> String {
        var fields = [("file", string(entry.file))]
        if let type = entry.type { fields.append(("type", string(type))) }
        switch entry.ignored {
        case .nothing: break
        case .everything: fields.append(("ignoreQuery", "true"))
        case .parameters(let names):
            let separator = layout.colon.contains(" ") ? ", " : ","
            fields.append(("ignoreQuery", "[\(names.map(string).joined(separator: separator))]"))
        }
        if fields.count == 1 { return fields[0].1 }
        let members = fields.map { string($0.0) + layout.colon + $0.1 }
        return "{" + layout.opening + members.joined(separator: layout.separator) + layout.closing + "}"
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

/// The text between the members of an object: white space, commas and colons.
private struct Layout {
    /// The text after the opening brace.
    var opening: String
    /// The text between two members, including the comma.
    var separator: String
    /// The text between name and value, including the colon.
    var colon: String
    /// The text before the closing brace.
    var closing: String

    /// Returns the layout for a manifest without members; uses the line endings in `bytes`.
    static func manifest(in bytes: [UInt8]) -> Layout {
        let end = bytes.contains(UInt8(ascii: "\r")) ? "\r\n" : "\n"
        return Layout(opening: "\(end)  ", separator: ",\(end)  ", colon: ": ", closing: end)
    }

    /// The one-line layout for the fields of an entry; `self` is the layout of the manifest.
    var fields: Layout {
        let space = opening.isEmpty && separator == "," ? "" : " "
        return Layout(opening: space, separator: ",\(space)", colon: ":\(space)", closing: space)
    }

    private init(opening: String, separator: String, colon: String, closing: String) {
        (self.opening, self.separator, self.colon, self.closing) = (opening, separator, colon, closing)
    }

    /// Reads the layout of an object's last members; nil if `members` is empty.
    ///
    /// An empty line separates two groups of entries, so the layout does not include empty lines.
    init?(of members: [JSONMember], in bytes: [UInt8]) {
        guard let first = members.first, let last = members.last else { return nil }
        let open = bytes[..<first.nameOffset].lastIndex(of: UInt8(ascii: "{")) ?? 0
        opening = Self.withoutEmptyLines(bytes[(open + 1)..<first.nameOffset])
        let nameEnd = Self.endOfString(at: last.nameOffset, in: bytes)
        colon = String(decoding: bytes[nameEnd..<last.value.offset], as: UTF8.self)
        let end = Self.end(of: last.value, in: bytes)
        let close = bytes[end...].firstIndex(of: UInt8(ascii: "}")) ?? end
        closing = String(decoding: bytes[end..<close], as: UTF8.self)
        if members.count > 1 {
            let previous = Self.end(of: members[members.count - 2].value, in: bytes)
            separator = Self.withoutEmptyLines(bytes[previous..<last.nameOffset])
        } else {
            separator = "," + (opening.isEmpty && colon.contains(" ") ? " " : opening)
        }
    }

    /// Returns the offset of the byte that follows a value.
    static func end(of value: JSONValue, in bytes: [UInt8]) -> Int {
        switch value.kind {
        case .string:
            return endOfString(at: value.offset, in: bytes)
        case .object(let members):
            return end(after: members.last?.value, of: value, closing: "}", in: bytes)
        case .array(let elements):
            return end(after: elements.last, of: value, closing: "]", in: bytes)
        case .null, .bool, .number, .unreadable:
            let isEnd = { (byte: UInt8) in byte.isJSONSpace || ",}]".utf8.contains(byte) }
            return bytes[value.offset...].firstIndex(where: isEnd) ?? bytes.count
        }
    }

    private static func end(
        after last: JSONValue?,
        of value: JSONValue,
        closing: Unicode.Scalar,
        in bytes: [UInt8]
    ) -> Int {
        let inside = last.map { end(of: $0, in: bytes) } ?? value.offset + 1
        return (bytes[inside...].firstIndex(of: UInt8(ascii: closing)) ?? inside) + 1
    }

    private static func endOfString(at start: Int, in bytes: [UInt8]) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func withoutEmptyLines(_ bytes: ArraySlice<UInt8>) -> String {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        while lines.count > 2, lines[lines.count - 2].allSatisfy(\.isJSONSpace) {
            lines.remove(at: lines.count - 2)
        }
        return String(decoding: Array(lines.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)
    }
}
