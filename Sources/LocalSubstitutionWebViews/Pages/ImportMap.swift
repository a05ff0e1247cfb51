import LocalSubstitutionCache
import SubstitutionRules

/// An import map of a mirror page (HTML §8.1.6.3); its addresses are rewritten to mirrors.
///
/// In a mirror page, an engine may know the same module by two URLs. A relative address in the page or in another
/// module leads to the module's mirror. An absolute URL in a script stays the original URL. An engine compares the
/// map's keys with the URL by which it knows the module. So a key that names a host is usually written twice with the
/// same value: once as the original URL, and once as its mirror.
struct ImportMap {
    /// The text of the `script` element.
    let text: SourceMappedText
    let rewriter: PageRewriter
    let base: PageRewriter.Base
    /// The URLs in elements with `integrity`.
    ///
    /// The attribute has a hash of the bytes at the URL, so these bytes must not be changed.
    let promised: Set<URLIdentity>
    let prefixes: PrefixCache

    /// A cache that stores, for each checked prefix, whether a file answers any URL with this prefix.
    ///
    /// The check of a new prefix looks at every file.
    final class PrefixCache {
        /// The maximum number of prefixes that are checked for one page.
        ///
        /// Real pages have fewer. Any further prefix is treated as if no file answered a URL with this prefix.
        private static let most = 64

        private let isMapped: (String) -> Bool
        private var answers: [String: Bool] = [:]

        init(_ isMapped: @escaping (String) -> Bool) { self.isMapped = isMapped }

        func isMapped(_ prefix: String) -> Bool {
            if let answer = answers[prefix] { return answer }
            let answer = answers.count < Self.most && isMapped(prefix)
            answers[prefix] = answer
            return answer
        }
    }

    var edits: [PageEdit] {
        let document = JSONParser.parse(text.bytes)
        guard document.isValid, case .object(let members) = document.value.kind else { return [] }
        return members.flatMap { member -> [PageEdit] in
            guard case .object(let entries) = member.value.kind else { return [] }
            return switch member.name {
            case "imports": edits(ofSpecifiers: entries)
            case "scopes": entries.flatMap(edits(ofScope:))
            case "integrity":
                entries.flatMap { keyEdits(of: $0, isSpecifier: true, json(of: $0.value, isMirrored: false)) }
            default: []
            }
        }
    }

    private func edits(ofSpecifiers entries: [JSONMember]) -> [PageEdit] {
        entries.flatMap { entry in
            keyEdits(of: entry, isSpecifier: true, json(of: entry.value, isMirrored: true))
                + [valueEdit(of: entry.value)].compactMap { $0 }
        }
    }

    private func edits(ofScope scope: JSONMember) -> [PageEdit] {
        guard case .object(let entries) = scope.value.kind else { return [] }
        return keyEdits(of: scope, isSpecifier: false, json(ofSpecifiers: entries)) + edits(ofSpecifiers: entries)
    }

    /// Returns the edits for one key.
    ///
    /// If the key's module has a second URL, a member with that URL as its key is inserted before this member. If not,
    /// a relative key is respelled for the mirror page.
    private func keyEdits(of member: JSONMember, isSpecifier: Bool, _ value: String) -> [PageEdit] {
        let key = literal(at: member.nameOffset)
        if let twin = twin(of: key.bytes, isSpecifier) {
            return [PageEdit(at: text.offset(member.nameOffset), inserting: "\(quoted(twin)): \(value), ")]
        }
        guard case .relative(let written) = reading(of: key.bytes, isSpecifier), base.isMirror else { return [] }
        return [PageEdit(key, to: written, .json)].compactMap { $0 }
    }

    private func valueEdit(of value: JSONValue) -> PageEdit? {
        guard case .string = value.kind else { return nil }
        let address = literal(at: value.offset)
        return mirrored(address.bytes).flatMap { PageEdit(address, to: $0, .json) }
    }

    // MARK: - URLs

    /// Parses a specifier or the key of a scope.
    ///
    /// A specifier is a URL only if it is absolute or begins with `/`, `./` or `../` (HTML §8.1.6.2). The key of a
    /// scope is always a URL.
    private func reading(of address: [UInt8], _ isSpecifier: Bool) -> WebAddress {
        if !isSpecifier || ["/", "./", "../"].contains(where: { address.starts(with: $0.utf8) }) {
            return WebAddress(address, from: base.scheme)
        }
        let reading = WebAddress(address, from: nil)
        if case .absolute = reading { return reading }
        return .other
    }

    /// Returns the address of a module as the mirror page must write it; nil if it can stay unchanged.
    private func mirrored(_ address: [UInt8]) -> [UInt8]? {
        rewriter.written(reading(of: address, true), from: base, isMirrored: isMirrored)
    }

    /// Returns true if an address is to be rewritten to its mirror.
    ///
    /// An address that ends in "/" is a prefix of addresses.
    private func isMirrored(_ address: String) -> Bool {
        guard let identity = try? URLIdentity(address), !promised.contains(identity) else { return false }
        return address.hasSuffix("/") ? prefixes.isMapped(identity.base) : rewriter.isMapped(address)
    }

    /// Returns the second URL of a key's module; nil if the module has only one.
    ///
    /// If the key is an absolute URL, the second URL is its mirror, provided that this library answers requests for the
    /// mirror. A key such as `//host/path` means the mirror, so the second URL is the original.
    private func twin(of key: [UInt8], _ isSpecifier: Bool) -> [UInt8]? {
        switch reading(of: key, isSpecifier) {
        case .absolute(let scheme, let authority, let rest):
            guard let origin = WebOrigin("\(scheme)://\(authority)") else { return nil }
            let isForwarded = origin == WebOrigin(rewriter.url) || rewriter.isForwarded(origin)
            guard isForwarded || isMirrored(origin.site + String(decoding: rest, as: UTF8.self)) else { return nil }
            return Array(origin.mirror.text.utf8) + rest
        case .schemeRelative(let authority, let rest):
            return base.isMirror ? Array("\(base.scheme)://\(authority)".utf8) + rest : nil
        case .relative, .other: return nil
        }
    }

    // MARK: - JSON

    private func json(ofSpecifiers entries: [JSONMember]) -> String {
        let members = entries.flatMap { entry -> [String] in
            let address = Self.address(entry.name)
            let key = if case .relative(let written) = reading(of: address, true) { written } else { address }
            return [twin(of: address, true), key].compactMap { $0 }.map {
                "\(quoted($0)): \(json(of: entry.value, isMirrored: true))"
            }
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private func json(of value: JSONValue, isMirrored: Bool) -> String {
        // In `imports`, `scopes` and `integrity`, a value that is not a string means the same as null.
        guard case .string(let text) = value.kind else { return "null" }
        return quoted((isMirrored ? mirrored(Self.address(text)) : nil) ?? Array(text.utf8))
    }

    private static func address(_ string: String) -> [UInt8] {
        let bytes = Array(string.utf8)
        return SourceMappedText(bytes.indices, of: bytes).address.bytes
    }

    private func quoted(_ text: [UInt8]) -> String {
        "\"\(String(decoding: PageEdit.Escaping.json.written(text), as: UTF8.self))\""
    }

    /// Returns the content of the string at `start` with its escapes decoded.
    ///
    /// The JSON parser has already validated the string.
    private func literal(at start: Int) -> SourceMappedText {
        var index = start + 1
        var content = SourceMappedText(endingAt: text.offset(start))
        while index < text.bytes.count, text.bytes[index] != UInt8(ascii: "\"") {
            let (bytes, length) = character(at: index)
            content.append(bytes, at: text.offset(index))
            index += length
        }
        content.end = text.offset(index)
        return content.address
    }

    private func character(at index: Int) -> (bytes: [UInt8], length: Int) {
        let rest = text.bytes[index...]
        guard rest.first == UInt8(ascii: "\\"), let name = rest.dropFirst().first else {
            return (Array(rest.prefix(1)), 1)
        }
        guard name == UInt8(ascii: "u") else {
            let control: UInt8? = ["b": 8, "f": 12, "n": 10, "r": 13, "t": 9][String(Unicode.Scalar(name))]
            return ([control ?? name], 2)
        }
        // The two escapes of a surrogate pair have twelve characters.
        let first = Self.codeUnit(rest.dropFirst(2))
        guard 0xD800..<0xDC00 ~= first, rest.dropFirst(6).starts(with: "\\u".utf8) else {
            return (Array(String(decoding: [first], as: UTF16.self).utf8), 6)
        }
        return (Array(String(decoding: [first, Self.codeUnit(rest.dropFirst(8))], as: UTF16.self).utf8), 12)
    }

    private static func codeUnit(_ digits: ArraySlice<UInt8>) -> UInt16 {
        digits.prefix(4).reduce(0) { $0 << 4 | UInt16($1.hexValue) }
    }
}

extension Substitution {
    /// Returns true if this substitution answers a URL with this prefix without asking the network first.
    ///
    /// The prefix must be in normal form.
    func isBelow(_ prefix: String) -> Bool {
        conditions.isEmpty && addresses.contains { "\($0.scheme)://\($0.authority)\($0.path)".hasPrefix(prefix) }
    }
}
