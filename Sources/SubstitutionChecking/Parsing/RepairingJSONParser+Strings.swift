import LocalSubstitutionCache

/// The part of the parser that reads names and strings.
extension RepairingJSONParser {
    /// A member's name; its text is nil if it cannot be read.
    struct Name {
        let text: String?
        /// True if the colon after the name is inside the name's quotation marks.
        var holdsColon = false
    }

    /// Reads a name, with or without quotation marks; nil if there is none here.
    mutating func name(depth: Int) throws(Stop) -> Name? {
        let start = position
        guard let byte = current else { return nil }
        if byte == UInt8(ascii: "\"") {
            let known = errors.count
            let text = try string(isName: true)
            if errors.count == known, let text, endsInColon(start + 1..<position - 1) {
                let name = String(text.dropLast())
                try report(
                    error(
                        "the colon of \(quoted(name)) is inside the quotation marks; write it after them",
                        at: position - 2
                    )
                )
                return Name(text: name, holdsColon: true)
            }
            // The name's closing quotation mark may be missing, as in `"name: "value"`. The parser assumes this if a
            // value seems to follow a colon inside the string, and no colon follows the string. The quotation mark that
            // ended the string then belongs to the value.
            if errors.count == known, let colon = colonInside(start..<position - 1), !isFollowedByColon {
                position = colon
                return Name(text: try closed(start + 1..<colon))
            }
            return Name(text: text)
        }
        if let name = try foreignString() { return name }
        let isBare =
            byte.isASCIILetter || byte.isASCIIDigit || "_$/.-".utf8.contains(byte)
        guard isBare else {
            try report(unexpected(expecting: "a name in quotation marks"))
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                // Read the whole value, so that its closing brackets do not close the objects around it.
                _ = try value(depth: depth)
            } else {
                skipStray()
            }
            return nil
        }
        let bare = bareText { byte, next in
            guard byte == UInt8(ascii: ":") else { return byte == UInt8(ascii: ",") || byte.isClosingBracket }
            return next.map { $0.isJSONSpace || "\"'{[".utf8.contains($0) } ?? true
        }
        let text = scanner.text(bare)
        guard current == UInt8(ascii: ":") || isClosedOnly(by: bare) else {
            try report(error("there is \(quoted(text)) where a name in quotation marks is expected", at: start))
            return nil
        }
        try reportMissingQuotes(around: bare)
        return Name(text: text)
    }

    /// True if a name's last character is a colon, and a value follows the name's quotation marks after white space.
    private func endsInColon(_ name: Range<Int>) -> Bool {
        guard name.count > 1, bytes[name.upperBound - 1] == UInt8(ascii: ":"), current?.isJSONSpace == true,
            let start = bytes[position...].firstIndex(where: { !$0.isJSONSpace })
        else { return false }
        let next = bytes[start]
        guard next == UInt8(ascii: "\"") else {
            return next.isASCIILetter || next.isASCIIDigit || "{[-".utf8.contains(next)
        }
        // If a colon follows the string, the string is the next member's name, and this member has no value.
        guard let end = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { return true }
        return bytes[(end + 1)...].first { !$0.isJSONSpace } != UInt8(ascii: ":")
    }

    /// Reads a string in straight quotation marks; nil if it cannot be read.
    mutating func string(isName: Bool = false) throws(Stop) -> String? {
        if isDoubled(before: position + 2) {
            try report(error("there is a quotation mark too many here; remove one"))
            position += 1
        }
        let (opening, known) = (position, errors.count)
        var text = try content(isName: isName)
        do throws(JSONSyntaxError) {
            text = try text.map { text throws(JSONSyntaxError) in try scanner.streamSafe(text, at: opening) }
        } catch {
            try report(error)
            return nil
        }
        if !isName, errors.count == known, let whole = try wholeString(from: opening) { return whole }
        // A second quotation mark follows the closing one, and a delimiter follows both.
        if errors.count == known, current == UInt8(ascii: "\""), isDelimiter(position + 1) {
            try report(error("there is a quotation mark too many here; remove it"))
            position += 1
        }
        return text
    }

    /// True if two quotation marks precede `end` and a text follows them, as in `""text"`.
    private func isDoubled(before end: Int) -> Bool {
        end < bytes.count && bytes[end - 1] == UInt8(ascii: "\"") && !isDelimiter(end)
            && bytes[end] != UInt8(ascii: "\"")
    }

    /// True if the text ends at `offset`, or if a character that may follow a string is there.
    private func isDelimiter(_ offset: Int) -> Bool {
        guard offset < bytes.count else { return true }
        return bytes[offset].isJSONSpace || bytes[offset].isClosingBracket || ",:;=".utf8.contains(bytes[offset])
    }

    private mutating func content(isName: Bool) throws(Stop) -> String? {
        let opening = position
        position += 1
        let start = position
        var isASCII = true
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let range = start..<position
                position += 1
                if !isASCII, try !isUTF8(range) { return nil }
                if !isName, let text = try withoutNextName(range) { return text }
                return scanner.text(range)
            }
            if byte == UInt8(ascii: "\\") || byte < 0x20 && byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\r") {
                return try stringWithEscapes(opening: opening, isName: isName)
            }
            if byte < 0x20 {
                if try skipBrokenString(isName: isName) { return nil }
                break
            }
            if byte >= 0x80 { isASCII = false }
            position += 1
        }
        return try unclosedString(start..<position, isName: isName)
    }

    /// Reads a string from its opening quotation mark again, because it has a `\` or a control character.
    private mutating func stringWithEscapes(opening: Int, isName: Bool) throws(Stop) -> String? {
        position = opening + 1
        var content: [UInt8] = []
        var isSound = true
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                // Escapes decode to valid characters, so only the unescaped bytes can be invalid.
                isSound = try isUTF8(opening + 1..<position) && isSound
                position += 1
                return isSound ? String(decoding: content, as: UTF8.self) : nil
            case UInt8(ascii: "\\"):
                let start = position
                do throws(JSONSyntaxError) {
                    content.append(contentsOf: Array(String(try scanner.escape()).utf8))
                } catch {
                    try report(error)
                    isSound = false
                    // Continue after the character that follows the backslash, unless that is a line break.
                    position = min(start + 1, bytes.count)
                    if let byte = current, byte >= 0x20 { position += 1 }
                }
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                _ = try unclosedString(opening + 1..<position, isName: isName)
                return nil
            case 0..<0x20:
                if isSound { try report(controlCharacter(byte)) }
                isSound = false
                position += 1
            default:
                content.append(byte)
                position += 1
            }
        }
        _ = try unclosedString(opening + 1..<position, isName: isName)
        return nil
    }

    // MARK: - Encoding

    /// Returns true if the bytes are UTF-8, and reports an error if they are not.
    mutating func isUTF8(_ range: Range<Int>) throws(Stop) -> Bool {
        guard let error = scanner.encodingError(in: range) else { return true }
        try report(error)
        return false
    }
}
