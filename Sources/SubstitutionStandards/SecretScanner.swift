import Foundation
import LocalSubstitutionCache

/// A search for secrets in any text, such as a URL, a header field or a body.
///
/// The module has one answer to the question whether a text holds a secret: recordings, archives and the designers'
/// tool all ask here. A value is a secret if its name suggests one (`token=…`, `"password": "…"`), if it has the form
/// of a service's keys (`eyJ…`, `ghp_…`), or if it is random and belongs to a query. User names and passwords before
/// the host of a URL are found by ``UserInformation``.
///
/// The text is decoded as often as it is encoded, at most three times, and then read once, without recursion. So the
/// cost is linear in the length of the text.
package struct SecretScanner {
    /// The placeholder that replaces a secret.
    package static let placeholder = "masked"

    /// A secret in a text.
    package struct Place {
        /// The name of the parameter, field or member; empty if there is none.
        package let name: String
        /// The bytes of the text that hold the secret.
        package let range: Range<Int>
        /// False if the value is only random, or if its name has other meanings, too.
        package let isCertain: Bool
        /// True for a token that identifies a person: a key of a known form, or a text after a scheme's name.
        package let isToken: Bool
        /// True for a JSON object or list whose name suggests a secret.
        ///
        /// It is not certain, because such an object may be public: `"session": {"title": …}`.
        package var isObject = false
    }

    /// A decoded byte of the text.
    private struct Letter {
        let byte: UInt8
        /// The offsets in the text at which the encoded byte begins and ends.
        let start: Int
        let end: Int
        /// False if the byte is encoded in the text.
        let isRaw: Bool

        /// The number of bytes in the text.
        var count: Int { end - start }

        func isOne(of bytes: StaticString) -> Bool { bytes.withUTF8Buffer { $0.contains(byte) } }

        var isSpace: Bool { byte <= 0x20 || byte == 0x7F }

        var isAlphanumeric: Bool { kind != nil }

        /// True for a letter, a digit, and the punctuation that names and keys contain.
        var isOfWord: Bool { isAlphanumeric || byte >= 0x80 || isOne(of: "_-.[]$@%") }

        /// True for a byte between the pieces of a query, encoded or not.
        var endsPiece: Bool { isSpace || isOne(of: "&;,?#|~*!()<>{}\"'^`\\") }

        /// True for a byte that ends a URL in a text.
        var endsURL: Bool { isRaw && (isSpace || isOne(of: "\"<>")) }

        var kind: Kind? {
            byte.isASCIIDigit ? .digit : !byte.isASCIILetter ? nil : byte == byte.asciiLowercased ? .small : .large
        }
    }

    private enum Kind { case digit, small, large }

    /// The parts of a URL, and the text around URLs.
    private enum Zone { case text, path, query }

    private var letters: [Letter]
    private let isURL: Bool
    /// True for the text of an object in base64, in which no such object is looked for.
    private let isNested: Bool
    /// True if the text holds a time of expiry, as signed URLs do.
    private var isSigned = false
    /// The minimum lengths of parameters that are secrets because of another, keyed by name.
    private var paired = SecretWords.long
    /// True for a font of Google with some letters, whose `skey` is the same for every visitor.
    private var isOfFont = false
    private var found: [Place] = []
    private var zone: Zone
    /// The index at which the current parameter, segment of a path, or word of a text begins.
    private var parameter = 0
    /// The index after the first raw "=" of the parameter; the parameter's beginning if there is none.
    private var value = 0
    /// True if the last path before a query ends in the name of a file.
    private var isAsset = false
    /// True if that file is a stylesheet, a script, an image or a font.
    private var isOfPartOfPage = false
    /// The signs and spaces before a value that were read last; they are not read again, so the cost stays linear.
    private var gap = 0..<0
    /// The end of the secret that is not certain and was found last; its value is read further, for one that is.
    private var open = 0
    /// The XML element whose start tag is being read; nil outside of start tags.
    private var element: Element?
    /// The next end of an element's content, or of a CDATA section; it is searched once, so the cost stays linear.
    private var elementEnds: [Bool: Int] = [:]
    /// The name in `name=password`, whose `value=` is a secret, and so is the part of a form after an empty line.
    private var secretName: String?

    /// The start tag of an XML element, without the prefix of a namespace.
    private struct Element {
        var name = ""
        /// True until the name has been read.
        var isUnnamed = true
    }

    /// Returns the secrets in a text, in order, without overlaps.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - isURL: True if the whole text is one URL, in which white space and quotation marks end nothing.
    /// - Returns: The secrets.
    package static func places(in text: String, isURL: Bool = false) -> [Place] {
        var scanner = SecretScanner(text, isURL)
        scanner.scan()
        return scanner.found
    }

    /// Returns whether a URL, a header field or a body holds a secret that is certain.
    static func isCertain(in text: String, isURL: Bool = false) -> Bool {
        UserInformation.isPresent(in: text) || places(in: text, isURL: isURL).contains(where: \.isCertain)
    }

    private init(_ text: String, _ isURL: Bool, isNested: Bool = false) {
        (self.isURL, zone, self.isNested) = (isURL, isURL ? .path : .text, isNested)
        letters = text.utf8.enumerated().map { Letter(byte: $1, start: $0, end: $0 + 1, isRaw: true) }
        for _ in 0..<3 where !decode() { break }
        let plain = String(decoding: letters.map(\.byte), as: UTF8.self).lowercased()
        isSigned = plain.contains("expir") || plain.contains("exp=")
        isOfFont = plain.contains("?kit=")
        for index in letters.indices where letters[index].isOne(of: "=") {
            let name = letters[..<index].suffix(10).reversed().prefix { !$0.isOne(of: "?&;") }.reversed()
            guard let (secret, length) = SecretWords.pairs[String(decoding: name.map(\.byte), as: UTF8.self)] else {
                continue
            }
            paired[secret] = length
        }
    }

    // MARK: - Decoding

    /// Decodes the text once; returns false if nothing is encoded.
    private mutating func decode() -> Bool {
        guard letters.contains(where: { $0.isOne(of: "%\\&") }) else { return false }
        var (decoded, index): ([Letter], Int) = ([], 0)
        decoded.reserveCapacity(letters.count)
        while index < letters.count {
            let letter = letters[index]
            let escape = escape(at: index)
            let last = index + max(1, escape?.length ?? 1) - 1
            decoded.append(
                Letter(
                    byte: escape?.byte ?? letter.byte,
                    start: letter.start,
                    end: letters[last].end,
                    isRaw: letter.isRaw && escape == nil
                )
            )
            index = last + 1
        }
        defer { letters = decoded }
        return decoded.count < letters.count
    }

    /// Reads `%74`, `%u0074`, the escapes of JSON, and the character references of HTML.
    private func escape(at index: Int) -> (byte: UInt8, length: Int)? {
        func byte(_ offset: Int) -> UInt8 { index + offset < letters.count ? letters[index + offset].byte : 0 }
        func hexadecimal(_ offset: Int) -> UInt8? {
            byte(offset).isHexDigit && byte(offset + 1).isHexDigit
                ? byte(offset).hexValue << 4 | byte(offset + 1).hexValue : nil
        }
        switch byte(0) {
        case UInt8(ascii: "%"), UInt8(ascii: "\\"):
            if byte(1) | 0x20 == UInt8(ascii: "u"), byte(2) == UInt8(ascii: "0"), byte(3) == UInt8(ascii: "0") {
                return hexadecimal(4).map { ($0, 6) }
            }
            if byte(0) == UInt8(ascii: "%") { return hexadecimal(1).map { ($0, 3) } }
            if byte(1) == UInt8(ascii: "x") { return hexadecimal(2).map { ($0, 4) } }
            if "nrt".utf8.contains(byte(1)) { return (UInt8(ascii: "\n"), 2) }
            return "\"/\\'".utf8.contains(byte(1)) ? (byte(1), 2) : nil
        case UInt8(ascii: "&"):
            let name = String(decoding: (1...7).map(byte).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard byte(name.utf8.count + 1) == UInt8(ascii: ";") else { return nil }
            let number = name.dropFirst()
            let signs = ["quot": "\"", "apos": "'", "lt": "<", "gt": ">"]
            let known = signs[name]?.utf8.first
            let code = number.first == "x" ? UInt8(number.dropFirst(), radix: 16) : UInt8(number)
            return (known ?? (name.first == "#" ? code : nil)).map { ($0, name.utf8.count + 2) }
        default: return nil
        }
    }

    // MARK: - Reading

    private mutating func scan() {
        var index = 0
        while index < letters.count {
            if letters[index].isRaw { enter(index) }
            if letters[index].isOne(of: "<>"), let end = readTag(index) {
                index = end
            } else if zone == .query, isStartOfPiece(index), let end = readPiece(index) {
                index = end
            } else {
                index = letters[index].isOfWord ? readWord(index) : index + 1
            }
        }
    }

    /// Finds out where in a URL an index is, by its raw letter.
    private mutating func enter(_ index: Int) {
        let letter = letters[index]
        if !isURL, letter.endsURL {
            begin(.text, after: index)
        } else if letter.isOne(of: "#"), zone == .path, isNameOfPiece(index + 1) {
            // A fragment such as "#access_token=…" is read as a query, one such as "#/page" as a path.
            begin(.query, after: index)
        } else if letter.isOne(of: "?") {
            if zone != .query {
                let type = MediaType(fileName: text(parameter..<index))
                isAsset = type != nil
                isOfPartOfPage = type.map(isPartOfPage) ?? false
            }
            begin(.query, after: index)
        } else if letter.isOne(of: "&") || letter.isOne(of: "/;") && zone == .path {
            // In a form, a parameter may follow a URL without a query.
            begin(letter.isOne(of: "&") && zone == .path && !isURL ? .query : zone, after: index)
        } else if letter.isOne(of: "/"), zone == .text, index == parameter || letters[index - 1].isOne(of: ":/") {
            begin(.path, after: index)
        } else if letter.isOne(of: "="), value == parameter {
            value = index + 1
        }
    }

    private func isNameOfPiece(_ start: Int) -> Bool {
        letters[start...].first { !$0.isOfWord }?.isOne(of: "=") == true
    }

    private mutating func begin(_ zone: Zone, after index: Int) {
        (self.zone, parameter, value) = (zone, index + 1, index + 1)
    }

    /// Reads a piece of a query, with its name if it has one; returns the end of the secret if it is random.
    private mutating func readPiece(_ start: Int) -> Int? {
        if start < open { return nil }
        let end = letters[start...].firstIndex(where: \.endsPiece) ?? letters.count
        let sign = letters[start..<end].firstIndex { $0.isOne(of: "=") }
        if start == parameter, sign == start, letters[start..<end].contains(where: \.isAlphanumeric) {
            return add("", start + 1, to: endOfValue(start + 1))
        }
        // A secret may also be the name of a parameter without a value.
        let isBare = sign.map { $0 + 1 == end } ?? true
        let content = isBare ? start..<(sign ?? end) : (sign ?? start) + 1..<end
        let name = isBare ? "" : text(start..<content.lowerBound - 1)
        if let sign, letters[sign].isRaw, value == parameter { value = sign + 1 }
        guard isRandom(content), !isVersion(name, content) else { return nil }
        // A word of the piece may tell more, such as a name or the beginning of a key.
        let count = found.count
        var index = start
        while index < end, found.count == count { index = letters[index].isOfWord ? readWord(index) : index + 1 }
        if found.count == count { _ = add(name, min(value, content.lowerBound), to: endOfValue(end)) }
        return index
    }

    private func isStartOfPiece(_ index: Int) -> Bool {
        !letters[index].endsPiece && (index == parameter || letters[index - 1].endsPiece)
    }

    /// Reads a word, which may be a name, a key or a scheme; returns the index after it and its secret.
    private mutating func readWord(_ start: Int) -> Int {
        let end = letters[start...].firstIndex { !$0.isOfWord } ?? letters.count
        if let (key, isCertain, isToken) = markedKey(start..<end), isCertain || start >= open {
            // A key in PEM has several lines.
            let isLong = letters[key].byte == UInt8(ascii: "-") && !isURL
            let last = isLong ? letters.count : endOfValue(end)
            return max(end, add(parameterName, whole(key), to: last, isCertain: isCertain, isToken: isToken))
        }
        let name = text(start..<end)
        if element?.isUnnamed == true {
            // A prefix names the namespace.
            element = Element(name: name, isUnnamed: end < letters.count && letters[end].isOne(of: ":"))
        }
        let suggestion = isPublic(name) ? nil : SecretWords.suggestion(of: name)
        if suggestion == .certain, start >= open, let object = objectOfMember(after: end) {
            _ = add(name, object.lowerBound, to: object.upperBound, isObject: true)
        }
        if let sign = assignment(after: end) {
            if !isURL, [end, sign.index + 1, sign.value - 1].contains(where: { letters[$0].endsURL }) {
                begin(.text, after: sign.index)
            }
            let announced = Self.values.contains(name.lowercased()) ? secretName ?? secretElement : nil
            let isCertain = suggestion == .certain || announced != nil || isPaired(name, sign.value)
            if isCertain || start >= open && isSecret(suggestion, sign) {
                let first = letters[sign.index].isRaw ? sign.value : whole(sign.value)
                var last = endOfValue(sign.value, in: sign.quote, isLine: sign.isLine)
                if last == sign.value { return end }
                secretName = nil
                // A scheme, as in `Authorization:Bearer …`, is not the whole secret.
                if let next = secretAfterScheme(at: sign.value) { last = max(last, endOfValue(next, in: sign.quote)) }
                let isToken = isCertain && isToken(sign.value)
                return max(end, add(announced ?? name, first, to: last, isCertain: isCertain, isToken: isToken))
            }
            readSecretName(after: name, at: sign.value)
            return end
        }
        if let announced = secretName, let part = partOfForm(after: end) {
            secretName = nil
            return add(announced, part.lowerBound, to: part.upperBound, isCertain: true)
        }
        if SecretWords.schemes.contains(name.lowercased()), let (next, isLine) = secretAfterScheme(start..<end),
            element == nil || !isLine
        {
            let last = endOfValue(next, isLine: isLine)
            return add(zone == .query ? parameterName : name, whole(next), to: last, isCertain: true, isToken: true)
        }
        if let secret = secretAfterBareName(start..<end, isCertain: suggestion == .certain) {
            return add(name, secret.lowerBound, to: secret.upperBound, isCertain: true)
        }
        return end
    }

    /// Adds a secret; returns the index at which the reading goes on.
    private mutating func add(
        _ name: String,
        _ start: Int,
        to end: Int,
        isCertain: Bool = false,
        isToken: Bool = false,
        isObject: Bool = false
    ) -> Int {
        var (name, first, end) = (name, letters[start].start, end)
        if isCertain, start < open, let outer = found.popLast() {
            (name, first, end) = (name.isEmpty ? outer.name : name, min(first, outer.range.lowerBound), max(end, open))
        }
        // The whole value may begin before the end of the secret that was found last.
        first = max(first, found.last?.range.upperBound ?? 0)
        if first < letters[end - 1].end {
            let range = first..<letters[end - 1].end
            found.append(
                Place(name: name, range: range, isCertain: isCertain, isToken: isToken, isObject: isObject)
            )
            open = isCertain ? 0 : end
        }
        return isCertain ? end : start
    }

    /// Returns the beginning of the text that is masked for a secret at an index: in a query, the whole value.
    private func whole(_ index: Int) -> Int {
        zone == .query || !letters[index].isRaw ? min(value, index) : index
    }

    /// The name of the current parameter.
    private var parameterName: String { value > parameter ? text(parameter..<value - 1) : "" }

    /// True for a parameter that another makes a secret, unless it is a number, such as that of a page.
    private func isPaired(_ name: String, _ start: Int) -> Bool {
        guard zone == .query, let length = paired[name] else { return false }
        let value = letters[start...].prefix { !$0.endsPiece }
        return value.count >= length && !value.allSatisfy(\.byte.isASCIIDigit)
    }

    private func isSecret(_ suggestion: SecretWords.Suggestion?, _ sign: Assignment) -> Bool {
        switch suggestion {
        case .certain: true
        // A colon also separates a word of a text, or of a search, from what follows.
        case .likely: sign.isEqual || sign.isOfJSON
        case .key: (sign.isEqual || sign.isOfJSON) && !isOrdinary(sign.value)
        case nil: false
        }
    }

    /// The sign between a name and its value, `=` or `:`, with the quotation marks beside it.
    private struct Assignment {
        let index: Int
        let isEqual: Bool
        /// True if a quotation mark precedes a colon, as in JSON.
        let isOfJSON: Bool
        /// The index of the value.
        var value: Int
        /// The quotation mark that ends the value; nil if there is none.
        var quote: Letter?
        /// True if white space follows a colon, as in a header field.
        var isLine = false
    }

    private mutating func assignment(after end: Int) -> Assignment? {
        guard let index = letters[end...].firstIndex(where: { !$0.isSpace && !$0.isOne(of: "\"')}]+*!~`") }),
            letters[index].isOne(of: "=:")
        else { return nil }
        let isEqual = letters[index].isOne(of: "=")
        var sign = Assignment(index: index, isEqual: isEqual, isOfJSON: index > end && !isEqual, value: index + 1)
        if !gap.contains(sign.value) {
            let spaces: StaticString = sign.isOfJSON ? " \t\r\n=>[" : " \t=>["
            gap = sign.value..<(letters[sign.value...].firstIndex { !$0.isOne(of: spaces) } ?? letters.count)
        }
        sign.value = gap.upperBound
        guard sign.value < letters.count else { return nil }
        let next = letters[sign.value]
        // The members of an object are read one by one.
        if next.isOne(of: "{"), !isEqual { return nil }
        if next.isOne(of: "\"'") {
            // In a query, a value ends with its parameter.
            sign.quote = zone != .query || !isURL && sign.isOfJSON ? next : nil
            sign.value += 1
            guard sign.value < letters.count else { return nil }
            // An empty text is no secret, but a secret in a query may begin with two quotation marks.
            let isEmpty = letters[sign.value].byte == next.byte && letters[sign.value].count == next.count
            if isEmpty, zone != .query || letters.dropFirst(sign.value + 1).first?.endsPiece != false { return nil }
        } else {
            sign.isLine = zone == .text && !isEqual && !sign.isOfJSON && sign.value > index + 1
        }
        return sign
    }

    /// Notes the name in `name=password`, whose value follows under another name.
    private mutating func readSecretName(after name: String, at index: Int) {
        guard ["name", "key", "field", "param", "header", "id"].contains(name.lowercased()) else { return }
        let word = text(letters[index...].prefix { $0.isOfWord }.indices)
        let isSecret = SecretWords.suggestion(of: word) == .certain
        // An `id` may follow the name of an input.
        if isSecret || name.lowercased() != "id" { secretName = isSecret ? word : nil }
    }

    private static let values: Set = ["value", "val", "content", "contents", "string", "data"]
    /// The elements whose content is the value of the name in an attribute.
    private static let pairs: Set = [
        "param", "parameter", "property", "field", "entry", "item", "header", "cookie", "setting", "var", "arg",
        "argument",
    ]

    /// The name of the element whose attributes are being read, if it is that of a secret: `<password value="…"/>`.
    private var secretElement: String? {
        element.map(\.name).flatMap { SecretWords.suggestion(of: $0) == .certain ? $0 : nil }
    }

    /// Begins a start tag at "<"; at ">", reads the content of the element, and returns the end of a secret there.
    private mutating func readTag(_ index: Int) -> Int? {
        if letters[index].isOne(of: "<") {
            let isTag = index + 1 < letters.count && letters[index + 1].isOfWord
            element = isTag ? Element() : nil
            return nil
        }
        guard let tag = element?.name, !letters[index - 1].isOne(of: "/") else { return nil }
        element = nil
        let name = tag.lowercased()
        let announced = Self.values.contains(name) || Self.pairs.contains(name) ? secretName : nil
        let suggestion = SecretWords.suggestion(of: tag)
        guard announced != nil || suggestion == .certain || suggestion == .likely else {
            readSecretName(after: tag, at: index + 1)
            return nil
        }
        guard let content = contentOfElement(tag, from: index + 1) else { return nil }
        let isRaw = letters[index].isRaw
        // Like an object of JSON, an element that holds elements may be public.
        let isObject = zip(letters[content], letters[content].dropFirst()).contains {
            // The tag may have been cut in an encoding: `%3C%2…`.
            $0.isOne(of: "<") && $0.isRaw == isRaw && $1.isOfWord && !$1.isOne(of: "%")
        }
        if isObject, announced != nil { return nil }
        secretName = nil
        let end = add(
            announced ?? tag,
            isRaw ? content.lowerBound : whole(content.lowerBound),
            to: isRaw ? content.upperBound : max(content.upperBound, endOfValue(content.lowerBound)),
            isCertain: !isObject && (announced != nil || suggestion == .certain),
            isToken: !isObject && isToken(content.lowerBound),
            isObject: isObject
        )
        return max(index + 1, end)
    }

    /// Returns the content of an XML element; nil if it is empty, or does not end.
    ///
    /// A message may have been cut inside it, and then ends in "…".
    private mutating func contentOfElement(_ name: String, from index: Int) -> Range<Int>? {
        guard var start = letters[index...].firstIndex(where: { !$0.isSpace }) else { return nil }
        let isData = isText("<![CDATA[", at: start)
        if isData { start += 9 }
        if elementEnds[isData].map({ $0 < start }) ?? true {
            elementEnds[isData] =
                letters[start...].indices.first {
                    letters[$0].byte == 0xE2 && isText("…", at: $0)
                        || letters[$0].isOne(of: "]<") && isText(isData ? "]]>" : "</", at: $0)
                } ?? letters.count
        }
        var end = elementEnds[isData] ?? letters.count
        if !isData, isText("<", at: end), !isEndTag(name, at: end) {
            end = letters[end...].prefix(300).indices.first { isEndTag(name, at: $0) } ?? letters.count
        }
        return start < end && end < letters.count ? start..<end : nil
    }

    private func isEndTag(_ name: String, at index: Int) -> Bool {
        guard letters[index].isOne(of: "<"), isText("</", at: index) else { return false }
        let word = letters[(index + 2)...].prefix { $0.isOfWord }
        if isText(name, at: index + 2) || isText(":\(name)", at: word.endIndex) { return true }
        // A message may have been cut inside the tag.
        return word.suffix(3).map(\.byte).elementsEqual("…".utf8)
    }

    private func isText(_ text: String, at index: Int) -> Bool {
        index < letters.count && letters[index...].prefix(text.utf8.count).map(\.byte).elementsEqual(text.utf8)
    }

    /// Returns the content of the object or list after `"name":`; nil if another value follows, or none.
    ///
    /// Without a closing bracket, it ends with the text.
    private func objectOfMember(after end: Int) -> Range<Int>? {
        guard end < letters.count, letters[end].isOne(of: "\"'"),
            let colon = letters[(end + 1)...].firstIndex(where: { !$0.isSpace }), letters[colon].isOne(of: ":"),
            let start = letters[(colon + 1)...].firstIndex(where: { !$0.isSpace }), letters[start].isOne(of: "{[")
        else { return nil }
        var (depth, isQuoted) = (0, false)
        for index in start..<letters.count where letters[index].isRaw == letters[start].isRaw {
            if letters[index].isOne(of: "\"") { isQuoted.toggle() }
            if isQuoted { continue }
            depth += letters[index].isOne(of: "{[") ? 1 : letters[index].isOne(of: "}]") ? -1 : 0
            if depth == 0 { return index == start + 1 ? nil : start + 1..<index }
        }
        return start + 1 < letters.count ? start + 1..<letters.count : nil
    }

    /// Returns the index at which the secret ends that begins at another index, or lies before it.
    private func endOfValue(_ start: Int, in quote: Letter? = nil, isLine: Bool = false) -> Int {
        if let quote {
            // A quotation mark that is encoded more often, as in JSON in JSON, is one of the value.
            let end = letters[start...].firstIndex { $0.byte == quote.byte && $0.count == quote.count } ?? letters.count
            return quote.isRaw ? end : max(end == letters.count ? 0 : end, endOfValue(start))
        }
        return letters[start...].firstIndex { letter in
            guard letter.isRaw else { return false }
            if zone == .text, isLine { return letter.isOne(of: "\r\n") }
            return letter.isOne(of: "&") || zone == .path && letter.isOne(of: "/;?#")
                || !isURL && letter.endsURL
        } ?? letters.count
    }

    /// Returns the index of the secret after the scheme of an `Authorization` field, and whether it is a whole line.
    private func secretAfterScheme(_ scheme: Range<Int>) -> (index: Int, isLine: Bool)? {
        let end = scheme.upperBound
        guard let next = letters[end...].firstIndex(where: { !$0.isSpace && !$0.isOne(of: "+") }), next > end,
            letters[next].isOfWord
        else { return nil }
        let word = letters[next...].prefix { $0.isOfWord }
        let isNamed = word.endIndex < letters.count && letters[word.endIndex].isOne(of: "=")
        // In a sentence or a search, most words after "token" are no secrets, and short ones such as "2026" neither.
        let mayHaveDigits = zone == .query && word.count < 10 && text(scheme).lowercased() != "bearer"
        let isOfSentence =
            !isNamed && word.count < 20 && (mayHaveDigits || !word.contains { $0.kind == .digit })
            && (isOfWords(word.prefix { $0.isAlphanumeric }.indices)
                || !zip(word, word.dropFirst()).contains { $0.kind == .small && $1.kind == .large })
        return isOfSentence ? nil : (next, isNamed)
    }

    /// Returns the secret in `token&secret`, and the random ones in `/token/secret` or in `/reset/user/secret`.
    private func secretAfterBareName(_ word: Range<Int>, isCertain: Bool) -> Range<Int>? {
        let end = word.upperBound
        guard end < letters.count, letters[end].isOne(of: "&/") else { return nil }
        var next = end + 1
        if letters[end].isOne(of: "&") {
            guard isCertain, zone == .query, next < letters.count, letters[next].isOfWord else { return nil }
            let isNamed = letters[next...].first { $0.endsPiece || $0.isOne(of: "/=") }?.isOne(of: "=") == true
            return isNamed || letters[end].isRaw && !isStartOfPiece(word.lowerBound) ? nil : next..<endOfValue(next)
        }
        let name = text(word)
        let isOfLink = zone != .text && SecretWords.isOfLink(name)
        guard isOfLink || isCertain && !SecretWords.isPublicFolder(name), !isOfHost else { return nil }
        // Beside the secret, a link may have the random identifiers of a list and of a person.
        let isOfCalendar = SecretWords.isOfCalendar(name)
        var (found, endsInCalendar): (Range<Int>?, Bool) = (nil, false)
        for _ in 0..<(isOfLink ? 4 : 1) {
            next = letters[next...].firstIndex { !$0.isOne(of: "/") } ?? letters.count
            guard next < letters.count, letters[next].isOfWord else { break }
            var last = letters[next...].firstIndex { $0.endsPiece || $0.isOne(of: "/=") } ?? letters.count
            if zone == .text {
                // This is a file's path. Its line, or the end of the sentence, may follow.
                last = letters[next..<last].firstIndex { $0.isOne(of: ":") } ?? last
                while last > next, letters[last - 1].isOne(of: ".") { last -= 1 }
            }
            let segment = next..<last
            // Google names a calendar "public" or "private-…".
            if isOfCalendar, text(segment) == "public" { return nil }
            if isRandom(segment) || zone != .text && isFileName(segment) && !isOrdinaryFile(segment) {
                found = (found?.lowerBound ?? next)..<(zone == .text ? last : endOfValue(next))
            }
            endsInCalendar = endsInCalendar || text(segment).hasSuffix(".ics")
            guard last < letters.count, letters[last].isOne(of: "/") else { break }
            next = last + 1
        }
        return endsInCalendar || !isOfCalendar ? found : nil
    }

    /// True in the name of a host.
    private var isOfHost: Bool {
        guard zone == .path, parameter > 1, letters[parameter - 1].isOne(of: "/"), letters[parameter - 2].isOne(of: "/")
        else { return false }
        return parameter == 2 || !letters[parameter - 3].isOfWord
    }

    /// Returns the content of a form's part (RFC 7578), if its header ends here.
    private func partOfForm(after end: Int) -> Range<Int>? {
        let space = letters[end...].prefix { $0.isSpace || $0.isOne(of: "\"") }
        guard space.count(where: { $0.isOne(of: "\n") }) > 1, space.endIndex < letters.count else { return nil }
        let last = letters[space.endIndex...].indices.first {
            letters[$0].isOne(of: "\n") && letters[$0...].dropFirst().prefix(2).allSatisfy { $0.isOne(of: "-") }
        }
        return space.endIndex..<(last ?? letters.count)
    }

    // MARK: - Judging

    private func text(_ range: Range<Int>) -> String {
        String(decoding: letters[range].suffix(200).map(\.byte), as: UTF8.self)
    }

    /// Returns the index in a word at which a key of a known form begins; nil if there is none.
    ///
    /// Some forms begin like words and names of files. A short text of such a form is no key outside a query, and may
    /// be one inside a query.
    private func markedKey(_ word: Range<Int>) -> (index: Int, isCertain: Bool, isToken: Bool)? {
        let bytes = letters[word].map(\.byte)
        var weak: Int?
        for index in word where index == word.lowerBound || !letters[index - 1].isAlphanumeric {
            let rest = bytes[(index - word.lowerBound)...].prefix(100)
            // "ASIA" is also a word.
            guard SecretWords.marks.contains(atStartOf: rest) || rest.count == 20 && rest.starts(with: "ASIA".utf8)
            else {
                continue
            }
            let isCertain =
                !SecretWords.weakMarks.contains(atStartOf: rest)
                || rest.count >= 12 && hasKey(rest) && !isOrdinaryFile(word)
            if isCertain {
                if isPublicObject(index..<word.upperBound) { continue }
                return (index, true, !SecretWords.marksOfSites.contains(atStartOf: rest))
            }
            weak = weak ?? index
        }
        // A name such as `npm_token` tells more than its beginning.
        guard let weak, zone == .query, SecretWords.suggestion(of: text(word)) != .certain else { return nil }
        return (weak, false, false)
    }

    /// True for a JSON object in base64 in a path, without a secret of its own.
    ///
    /// Pictures of Rails and of image servers have it in their URLs.
    private func isPublicObject(_ word: Range<Int>) -> Bool {
        // A signature follows a full stop in a JWT, and a colon in Django's tokens.
        let isSigned =
            letters[word].contains { $0.isOne(of: ".") } || letters[word.upperBound...].first?.isOne(of: ":") == true
        guard zone == .path, !isNested, word.count < 4000, !isSigned else { return false }
        var text = String(decoding: letters[word].map(\.byte), as: UTF8.self)
        if let digest = text.range(of: "--", options: .backwards) { text = String(text[..<digest.lowerBound]) }
        text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text),
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return false }
        // Rails signs the keys of pictures, and also links for one person, such as those that reset a password.
        if let signed = object["_rails"] as? [String: Any] {
            return ["blob_id", "blob_key", "variation"].contains(signed["pur"] as? String)
        }
        let content = String(decoding: data, as: UTF8.self)
        var scanner = SecretScanner(content, false, isNested: true)
        scanner.scan()
        let isSecret = scanner.found.contains { $0.isCertain || $0.isObject || $0.name.lowercased() == "email" }
        // Laravel encrypts values with a `mac`.
        return !isSecret && ["exp", "mac"].allSatisfy { object[$0] == nil } && !UserInformation.isPresent(in: content)
    }

    /// True for eight or more letters and digits in a row, some of both.
    ///
    /// Keys have them, but not `logo_2024_white`.
    private func hasKey(_ text: some Collection<UInt8>) -> Bool {
        text.split { !$0.isASCIIDigit && !$0.isASCIILetter }.contains { run in
            run.count >= 8 && run.contains(where: \.isASCIIDigit) && run.contains(where: \.isASCIILetter)
        }
    }

    /// True if the value at an index begins with a token that identifies a person.
    private func isToken(_ start: Int) -> Bool {
        let word = letters[start...].prefix { $0.isOfWord }.indices
        return markedKey(word)?.isToken == true || secretAfterScheme(at: start) != nil
    }

    /// Returns the index of the secret after a scheme that begins at an index.
    private func secretAfterScheme(at start: Int) -> Int? {
        let word = letters[start...].prefix { $0.isOfWord }.indices
        return SecretWords.schemes.contains(text(word).lowercased()) ? secretAfterScheme(word)?.index : nil
    }

    /// True if the value at an index is a word, or the name of a file.
    private func isOrdinary(_ start: Int) -> Bool {
        let value = letters[start...].prefix(100).prefix { !$0.endsPiece }
        return value.count < 20
            && value.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0.byte || $0.isOne(of: "-_") }
            || isFileName(value.indices)
    }

    /// True for words that begin with capital letters; at most one of them has no vowel.
    ///
    /// Of 1,000 random texts of 16 letters and digits, about two look like this.
    private func isOfWords(_ range: Range<Int>) -> Bool {
        var (count, odd, hasVowel) = (0, 0, true)
        for index in range {
            guard let kind = letters[index].kind, kind != .digit else { return false }
            let isNextSmall = index + 1 < range.upperBound && letters[index + 1].kind == .small
            let wasSmall = index > range.lowerBound && letters[index - 1].kind == .small
            if index == range.lowerBound || kind == .large && (isNextSmall || wasSmall) {
                (count, odd, hasVowel) = (count + 1, hasVowel ? odd : odd + 1, false)
            }
            if "aeiouy".utf8.contains(letters[index].byte.asciiLowercased) { hasVowel = true }
        }
        return (hasVowel ? odd : odd + 1) <= 1 && range.count >= 3 * count
    }

    private func isFileName(_ range: Range<Int>) -> Bool { MediaType(fileName: text(range)) != nil }

    /// True for the name of a file, unless a server may have added its extension to a secret: `/reset/secret.json`.
    private func isOrdinaryFile(_ range: Range<Int>) -> Bool {
        guard let type = MediaType(fileName: text(range)) else { return false }
        let stem = range.lowerBound..<(letters[range].lastIndex { $0.isOne(of: ".") } ?? range.upperBound)
        return isPartOfPage(type) || ["audio", "video"].contains(type.kind) || !isRandom(stem)
    }

    private func isPartOfPage(_ type: MediaType) -> Bool {
        ["text/css", "text/javascript"].contains(type.essence) || ["image", "font"].contains(type.kind)
    }

    /// True if a parameter selects a version of a file.
    ///
    /// The value of such a parameter is a digest of the file, and not a secret. In a signed URL, it is the signature.
    private func isVersion(_ name: String, _ content: Range<Int>) -> Bool {
        let value = letters[content].prefix { !$0.isOne(of: "=") }
        let name = name.lowercased()
        if isSigned { return false }
        if isPublic(name) || name.isEmpty && isOfCombination(content) { return true }
        // The digests MD5, SHA-1 and SHA-256.
        if isOfPartOfPage, Self.versionsOfParts.contains(name), [32, 40, 64].contains(value.count) {
            return value.allSatisfy(\.byte.isHexDigit)
        }
        guard name.isEmpty ? isAsset : Self.versions.contains(name) else { return false }
        // In base64, digests of 128 to 512 bits have these lengths.
        return value.allSatisfy { $0.byte.isHexDigit || $0.isOne(of: ".-_") }
            // ASP.NET adds a digit for the padding.
            || !name.isEmpty && [22, 27, 43, 44, 64, 86].contains(value.count)
                && !value.contains { $0.endsPiece || $0.isOne(of: ":") }
    }

    private func isPublic(_ name: String) -> Bool { SecretWords.isPublic(name) || isOfFont && name == "skey" }

    /// True after `??`, with which servers combine files; WordPress.com compresses the list of their names.
    private func isOfCombination(_ content: Range<Int>) -> Bool {
        content.lowerBound > 1 && letters[..<content.lowerBound].suffix(2).allSatisfy { $0.isOne(of: "?") }
    }

    private static let versions: Set = [
        "v", "ver", "version", "rev", "revision", "h", "hash", "build", "cb", "sha", "commit",
    ]
    /// The names that select a version only of a part of a page, such as `app.css?id=…` of Laravel Mix.
    private static let versionsOfParts: Set = [
        "id", "_", "t", "ts", "c", "d", "m", "cache", "bust", "digest", "etag", "fingerprint", "md5", "checksum",
    ]

    /// True for a long text in which digits, small and capital letters alternate.
    ///
    /// They do so in digests, UUIDs and base64, but not in words such as `getHomePage`. A path is no secret.
    private func isRandom(_ range: Range<Int>) -> Bool {
        let value = letters[range]
        let slashes = value.indices.filter { letters[$0].isOne(of: "/") }
        let isPath = slashes.count > 1 && (slashes[0] == range.lowerBound || letters[slashes[0] - 1].isOne(of: ":"))
        // A public address of Ethereum has 40 hexadecimal digits.
        let isAddress = range.count == 42 && isText("0x", at: range.lowerBound)
        guard range.count >= 16, !isPath, !isAddress, !isFileName(range) else { return false }
        return value.split { !$0.isAlphanumeric && !$0.isOne(of: "-_+/=.") }.contains { run in
            guard run.count >= 16 else { return false }
            let kinds = run.indices.compactMap { index -> Kind? in
                let isFirst = index == run.startIndex || !letters[index - 1].isAlphanumeric
                let kind = letters[index].kind
                return isFirst && kind == .large && index + 1 < run.endIndex && letters[index + 1].kind == .small
                    ? .small : kind
            }
            let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
            return changes >= 4 && changes * 5 >= kinds.count && !isOfWords(run.indices)
        }
    }
}
