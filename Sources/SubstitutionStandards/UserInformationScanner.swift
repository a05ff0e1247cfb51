import LocalSubstitutionCache

/// A scanner that finds the user names and passwords of URLs in a text, for ``UserInformation``.
///
/// The scanner goes through the text once, and searches ahead for the "@" that ends a password. The level of a
/// character is the number of times that it is percent-encoded. A delimiter ends an authority only if the delimiter's
/// level is at most the level of the slashes before the authority. For example, an encoded "/" after raw slashes may be
/// part of a password.
///
/// In the identifiers of this file, `place` means an occurrence of user info.
struct UserInformationScanner {
    /// A character of the text, decoded.
    private struct Letter {
        /// The decoded byte; 0 at the end of the text.
        let byte: UInt8
        /// The number of times that the character is percent-encoded.
        let level: Int
        /// The offset of the next character in the text.
        let end: Int

        func isOne(of bytes: StaticString) -> Bool { bytes.withUTF8Buffer { $0.contains(byte) } }
    }

    typealias Occurrence = UserInformation.Occurrence

    private let text: [UInt8]
    private var found: [Occurrence] = []
    private var position = 0
    /// The offset after the last delimiter, where the current word, such as a scheme or a user name, begins.
    private var word = 0
    /// The end of the part in which `lastAt(after:)` found no "@".
    ///
    /// This part is not searched again, so the cost stays linear.
    private var barrenEnd = 0
    /// The end of the run in which `placeWithoutScheme` last found nothing, and the level of that search.
    ///
    /// For the term "run", see `endsRun`. This run is not searched again.
    private var barrenRun = (end: 0, level: 0)
    /// True after the raw "=" of a parameter, which a raw "&" ends.
    private var isInValue = false
    /// True after the "?" of a URL, until it ends.
    private var isInQuery = false
    /// The end of the last run in which `endOfValue(from:)` looked for a raw "&", and the first one's offset there.
    private var valueEnd = (run: 0, value: Int?.none)
    /// The end of the parameter's value in which `placeWithoutScheme` last found nothing.
    private var barrenValueEnd = 0

    init(_ text: [UInt8]) { self.text = text }

    /// Returns every occurrence of user info, in order.
    mutating func places() -> [Occurrence] {
        while position < text.count {
            let letter = letter(at: position)
            if letter.isOne(of: "/\\") {
                readSlashes()
            } else if letter.byte == UInt8(ascii: ":") {
                readColon(letter)
            } else if isSpace(letter) || letter.isOne(of: "?#&=,;()[]{}<>|`\"'") {
                let isEnd = isSpace(letter) || letter.isOne(of: "\"'<>)`")
                if isEnd || letter.level == 0 && letter.isOne(of: "?#&=") {
                    isInQuery = !isEnd && (isInQuery || letter.byte == UInt8(ascii: "?"))
                    isInValue = letter.byte == UInt8(ascii: "=")
                }
                begin(at: letter.end)
            } else {
                position = letter.end
            }
        }
        return found
    }

    /// Continues at an offset, with a new word.
    private mutating func begin(at offset: Int) { (position, word) = (offset, offset) }

    /// Reads slashes; two or more at the beginning of a word begin an authority, even without a scheme.
    private mutating func readSlashes() {
        let isFirst = word == position
        let (count, level, end) = slashes(at: position)
        begin(at: end)
        if count >= 2, isFirst { readAuthority(level) }
    }

    private mutating func readColon(_ colon: Letter) {
        let name = String(decoding: text[word..<position], as: UTF8.self).lowercased()
        let (count, level, end) = slashes(at: colon.end)
        if count >= 2 || Self.schemesOfServers.contains(name) {
            begin(at: end)
            return readAuthority(max(level, colon.level))
        }
        if !Self.schemesOfAddresses.contains(name), let place = placeWithoutScheme(colon) { return hide(place) }
        begin(at: colon.end)
    }

    /// Schemes that are followed by a server, even if the slashes are missing.
    private static let schemesOfServers: Set = ["http", "https", "ws", "wss", "ftp", "ftps"]
    /// Schemes after which an "@" does not end a password.
    ///
    /// The "@" is part of an address, of a package's name or of data, for example.
    private static let schemesOfAddresses: Set = [
        "mailto", "xmpp", "sip", "sips", "acct", "im", "cid", "mid", "npm", "jsr", "pkg", "urn", "tag", "data",
    ]

    // MARK: - Authority

    /// Reads an authority.
    ///
    /// - Parameter level: The level of percent-encoding of the scheme or the slashes before the authority.
    private mutating func readAuthority(_ level: Int) {
        let start = position
        var (at, colon): (Range<Int>?, Int?)
        var isPort = true
        var offset = start
        while offset < text.count, !isClosingQuote(offset) {
            let letter = letter(at: offset)
            if isSpace(letter) || letter.level <= level && letter.isOne(of: "/\\?#") { break }
            // A URL in the value of a query parameter ends where the parameter ends.
            if level > 0 || isInQuery && isInValue, letter.level == 0, letter.byte == UInt8(ascii: "&") { break }
            if letter.byte == UInt8(ascii: "@") { at = offset..<letter.end }
            if letter.byte == UInt8(ascii: "]"), self.letter(at: start).byte == UInt8(ascii: "[") {
                colon = nil
            } else if letter.byte == UInt8(ascii: ":"), colon == nil {
                (colon, isPort) = (letter.end, true)
            } else if !letter.byte.isASCIIDigit {
                isPort = false
            }
            offset = letter.end
        }
        let next = letter(at: offset)
        // In an authority, all that precedes the last "@" is user info, even a user name without a password.
        if let at {
            let isPassword = colon.map { $0 <= at.lowerBound } == true
            return hide(Occurrence(secret: start..<at.lowerBound, end: at.upperBound, isPassword: isPassword))
        }
        // The text after the colon is not a port, so it may be a password that contains a "/" or a space.
        let endsValue = isInQuery && isInValue && next.level == 0 && next.byte == UInt8(ascii: "&")
        if let colon, !endsValue, !isPort || colon == offset && isSpace(next), let at = lastAt(after: offset) {
            return hide(Occurrence(secret: start..<at.lowerBound, end: at.upperBound, isPassword: true))
        }
        // The current word began before this position, so slashes at this position do not begin another authority.
        (position, word) = (offset, start)
    }

    /// Finds the next "@", and returns the last "@" in the run that begins there; see `endsRun`.
    ///
    /// Nil if a closing quotation mark or the end of the text comes before the next "@".
    private mutating func lastAt(after start: Int) -> Range<Int>? {
        var offset = start
        if offset < barrenEnd { return nil }
        while offset < text.count, !isClosingQuote(offset) {
            let letter = letter(at: offset)
            if letter.byte == UInt8(ascii: "@") { return lastAt(inRunFrom: offset, level: 0) { _ in true } }
            offset = letter.end
        }
        barrenEnd = offset
        return nil
    }

    /// Returns the last "@" that may precede a host, in the run that begins at `start`; nil if there is none.
    private func lastAt(inRunFrom start: Int, level: Int, where mayBeHost: (Int) -> Bool) -> Range<Int>? {
        var (at, offset): (Range<Int>?, Int) = (nil, start)
        while offset < text.count, !endsRun(offset, level) {
            let letter = letter(at: offset)
            if letter.byte == UInt8(ascii: "@"), mayBeHost(letter.end) { at = offset..<letter.end }
            offset = letter.end
        }
        return at
    }

    /// True if a run ends at an offset.
    ///
    /// A run is text that may be user info and a host. It ends at white space, at a closing quotation mark, or at a
    /// delimiter that is percent-encoded at most `level` times.
    private func endsRun(_ offset: Int, _ level: Int) -> Bool {
        let letter = letter(at: offset)
        return isSpace(letter) || letter.level <= level && letter.isOne(of: "/\\?#") || isClosingQuote(offset)
            || isOfEncodedText(letter, level)
    }

    /// True for the punctuation of JSON and GraphQL, if it is percent-encoded, but not more often than `level`.
    private func isOfEncodedText(_ letter: Letter, _ level: Int) -> Bool {
        letter.level > 0 && letter.level <= level && letter.isOne(of: "\"{}<> ")
    }

    /// Records an occurrence, and continues after the host that follows it.
    ///
    /// The host and its port end at a delimiter of any level. Slashes after them do not begin another authority,
    /// because the current word begins at the host.
    private mutating func hide(_ place: Occurrence) {
        if !place.secret.isEmpty { found.append(place) }
        var offset = place.end
        while offset < text.count, !endsRun(offset, .max), !letter(at: offset).isOne(of: "&=,;\"'") {
            offset = letter(at: offset).end
        }
        (position, word) = (offset, place.end)
    }

    // MARK: - Without a scheme

    /// Returns the user name and password in `user:password@host`, given its colon; nil if there are none.
    private mutating func placeWithoutScheme(_ colon: Letter) -> Occurrence? {
        let start = colon.end
        if isInValue, let end = endOfValue(from: start) {
            if start < barrenValueEnd { return nil }
            var (at, offset): (Range<Int>?, Int) = (nil, start)
            while offset < end {
                let letter = letter(at: offset)
                if isOfEncodedText(letter, colon.level) { break }
                if letter.byte == UInt8(ascii: "@"), !isPartOfName(letter.end) { at = offset..<letter.end }
                offset = letter.end
            }
            barrenValueEnd = at == nil ? offset : barrenValueEnd
            return at.flatMap {
                $0.lowerBound == start ? nil : Occurrence(secret: word..<$0.lowerBound, end: $0.upperBound)
            }
        }
        // If the colon's level is at least that of the barren run, the run from here lies within the barren run. So it
        // holds no user info either.
        if start < barrenRun.end, colon.level >= barrenRun.level { return nil }
        // The colon of a JSON member is followed by a quotation mark, as in `"name":"value"`, or preceded by one.
        if start >= text.count || text[start] == UInt8(ascii: "\"") || text[start] == UInt8(ascii: "'") { return nil }
        let isAlone = word == position
        if isAlone, word > 0, "\"'".utf8.contains(text[word - 1]) { return nil }
        // At a lower level, fewer delimiters end the run, so the run may be longer than the barren run. Search only the
        // part after the barren run.
        let unread = max(start, barrenRun.end)
        guard let at = lastAt(inRunFrom: unread, level: colon.level, where: { !isPartOfName($0) }) else {
            var offset = unread
            while offset < text.count, !endsRun(offset, colon.level) { offset = letter(at: offset).end }
            barrenRun = (offset, colon.level)
            return nil
        }
        // If there is neither a scheme nor a password, the word before the colon need not be a user name.
        return at.lowerBound == start ? nil : Occurrence(secret: word..<at.lowerBound, end: at.upperBound)
    }

    /// Returns the offset of the raw "&" that ends a parameter's value; nil if the run ends before one.
    private mutating func endOfValue(from start: Int) -> Int? {
        if let end = valueEnd.value, start <= end { return end }
        if start < valueEnd.run { return nil }
        var offset = start
        while offset < text.count, !endsRun(offset, 0) {
            let letter = letter(at: offset)
            if letter.level == 0, letter.byte == UInt8(ascii: "&") {
                valueEnd = (offset, offset)
                return offset
            }
            offset = letter.end
        }
        valueEnd = (offset, nil)
        return nil
    }

    /// True if no host begins at `start`, but a part of a file's name.
    ///
    /// It is a number that is not an IP address: the axes of a font (`wght@400..700`), a version (`@18.2`), or a scale
    /// (`@2x.png`). Or it is one of the ``tags``.
    private func isPartOfName(_ start: Int) -> Bool {
        var run: [UInt8] = []
        var offset = start
        while offset < text.count, !endsRun(offset, .max) {
            let letter = letter(at: offset)
            if letter.isOne(of: "&:@\"'") { break }
            run.append(letter.byte.asciiLowercased)
            offset = letter.end
        }
        guard let first = run.first, first.isASCIIDigit || first == UInt8(ascii: "-") else {
            return Self.tags.contains(String(decoding: run, as: UTF8.self))
        }
        let digits = run.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        let rest = run[digits.endIndex...]
        if rest.first == UInt8(ascii: "x"), rest.count == 1 || rest.dropFirst().first == UInt8(ascii: ".") {
            return true
        }
        let isAddress = rest.isEmpty && digits.split(separator: UInt8(ascii: ".")).count == 4
        return !isAddress && run.allSatisfy { $0.isASCIIDigit || ".,;|-".utf8.contains($0) }
    }

    /// The versions of packages (`inter:vf@latest`), and the grids and formats of tiles
    /// (`topp:states@EPSG:900913@png`).
    private static let tags: Set = [
        "latest", "next", "epsg", "webmercatorquad", "png", "png8", "jpeg", "gif", "webp", "pbf", "mvt", "geojson",
    ]

    // MARK: - Letters

    /// Returns the character at an offset, decoded.
    ///
    /// `%40`, `%2540`, `\u0040`, `\x40`, `&#64;`, `&commat;` and `@` give the same byte, and so do the characters that
    /// look like "@", and `\/` gives `/`. An invisible character as messages write it, such as `\u{200B}`, is one
    /// character.
    private func letter(at offset: Int) -> Letter {
        guard offset < text.count else { return Letter(byte: 0, level: 0, end: offset) }
        let byte = text[offset]
        if byte == UInt8(ascii: "%") {
            var (level, start) = (1, offset + 1)
            while start + 3 < text.count, text[start] == UInt8(ascii: "2"), text[start + 1] == UInt8(ascii: "5") {
                (level, start) = (level + 1, start + 2)
            }
            if let value = hexadecimal(start) { return Letter(byte: value, level: level, end: start + 2) }
        } else if byte == UInt8(ascii: "\\"), offset + 1 < text.count {
            if text[offset + 1] == UInt8(ascii: "/") {
                return Letter(byte: UInt8(ascii: "/"), level: 0, end: offset + 2)
            }
            if text[(offset + 1)...].starts(with: "u{".utf8),
                let end = text[(offset + 3)...].prefix(7).firstIndex(of: UInt8(ascii: "}")),
                let value = Int(String(decoding: text[(offset + 3)..<end], as: UTF8.self), radix: 16)
            {
                return Letter(byte: UInt8(clamping: value), level: 0, end: end + 1)
            }
            if text[(offset + 1)...].starts(with: "u00".utf8), let value = hexadecimal(offset + 4) {
                return Letter(byte: value, level: 0, end: offset + 6)
            }
            if text[offset + 1] == UInt8(ascii: "x"), let value = hexadecimal(offset + 2) {
                return Letter(byte: value, level: 0, end: offset + 4)
            }
        } else if byte == UInt8(ascii: "&"), let end = text[offset...].prefix(10).firstIndex(of: UInt8(ascii: ";")) {
            let name = String(decoding: text[(offset + 1)..<end], as: UTF8.self).lowercased()
            let code =
                name.hasPrefix("#x")
                ? Int(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? Int(name.dropFirst()) : Self.names[name]
            if let code { return Letter(byte: UInt8(clamping: code), level: 0, end: end + 1) }
        } else if byte == 0xEF, Self.lookalikes.contains(where: { text[offset...].starts(with: $0.utf8) }) {
            return Letter(byte: UInt8(ascii: "@"), level: 0, end: offset + 3)
        }
        return Letter(byte: byte, level: 0, end: offset + 1)
    }

    /// The character references of HTML for characters of a URL's authority.
    private static let names = ["commat": 0x40, "colon": 0x3A, "sol": 0x2F]
    private static let lookalikes = ["\u{FF20}", "\u{FE6B}"]

    private func hexadecimal(_ offset: Int) -> UInt8? {
        guard offset + 1 < text.count, text[offset].isHexDigit, text[offset + 1].isHexDigit else { return nil }
        return text[offset].hexValue << 4 | text[offset + 1].hexValue
    }

    /// True for white space and control characters (up to 0x20), and at the end of the text.
    ///
    /// A percent-encoded character does not count.
    private func isSpace(_ letter: Letter) -> Bool { letter.level == 0 && letter.byte <= 0x20 }

    /// True for a quotation mark that seems to end a quoted text.
    ///
    /// White space, punctuation or the end of the text follows such a mark.
    private func isClosingQuote(_ offset: Int) -> Bool {
        guard text[offset] == UInt8(ascii: "\""), offset == 0 || text[offset - 1] != UInt8(ascii: "\\") else {
            return false
        }
        return offset + 1 == text.count || text[offset + 1] <= 0x20
            || ",:;.)]}\"".utf8.contains(text[offset + 1])
    }

    /// Returns the slashes and backslashes from an offset on: their number, highest level and end.
    private func slashes(at start: Int) -> (count: Int, level: Int, end: Int) {
        var (count, level, offset) = (0, 0, start)
        while offset < text.count {
            let letter = letter(at: offset)
            guard letter.isOne(of: "/\\") else { break }
            (count, level, offset) = (count + 1, max(level, letter.level), letter.end)
        }
        return (count, level, offset)
    }
}
