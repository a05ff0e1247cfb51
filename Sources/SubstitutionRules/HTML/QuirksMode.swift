import LocalSubstitutionCache

/// The doctypes that select quirks mode, in which a paragraph may hold a table (HTML §13.2.6.4.1).
enum QuirksMode {
    /// Checks a doctype.
    ///
    /// - Parameter words: The doctype's text between `<!DOCTYPE` and `>`.
    /// - Returns: True if the doctype selects quirks mode.
    static func isSelected(byDoctype words: String) -> Bool {
        let bytes = words.utf8.map { $0.isHTMLSpace ? UInt8(ascii: " ") : $0.asciiLowercased }
        let text = String(decoding: bytes, as: UTF8.self)
        let start = text.drop { $0 == " " }
        let name = start.prefix { $0 != " " }
        var rest = start.dropFirst(name.count).drop { $0 == " " }
        guard name == "html" else { return true }
        if rest.isEmpty { return false }
        let isPublic = rest.hasPrefix("public")
        // A doctype selects quirks mode if a word other than `PUBLIC` and `SYSTEM` follows the name, or if the
        // identifier after `PUBLIC` or `SYSTEM` is missing (HTML §13.2.5).
        guard isPublic || rest.hasPrefix("system") else { return true }
        rest = rest.dropFirst("public".count)
        guard let first = identifier(&rest) else { return true }
        guard isPublic else { return first == systemIdentifier }
        let second = identifier(&rest)
        if second == nil, rest.contains(where: { $0 != " " }) { return true }
        return second == systemIdentifier || publicIdentifiers.contains(first)
            || prefixes.contains { first.hasPrefix($0) }
            || second == nil && prefixesWithoutSystemIdentifier.contains { first.hasPrefix($0) }
    }

    /// Reads an identifier in quotation marks; nil if there is none, or if its second mark is missing.
    private static func identifier(_ text: inout Substring) -> String? {
        let quoted = text.drop { $0 == " " }
        guard let mark = quoted.first, mark == "\"" || mark == "'" else { return nil }
        let identifier = quoted.dropFirst().prefix { $0 != mark }
        let rest = quoted.dropFirst(identifier.count + 1)
        guard rest.first == mark else { return nil }
        text = rest.dropFirst()
        return String(identifier)
    }

    private static let systemIdentifier = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"

    private static let publicIdentifiers: Set = [
        "-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html",
    ]

    /// The beginnings of public identifiers that select quirks mode only if there is no system identifier.
    private static let prefixesWithoutSystemIdentifier = [
        "-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//",
    ]

    /// The beginnings of public identifiers that select quirks mode.
    private static let prefixes = [
        "+//silmaril//dtd html pro v0r11 19970101//", "-//advasoft ltd//dtd html 3.0 aswedit + extensions//",
        "-//as//dtd html 3.0 aswedit + extensions//", "-//ietf//dtd html 2.0 level 1//",
        "-//ietf//dtd html 2.0 level 2//", "-//ietf//dtd html 2.0 strict level 1//",
        "-//ietf//dtd html 2.0 strict level 2//", "-//ietf//dtd html 2.0 strict//", "-//ietf//dtd html 2.0//",
        "-//ietf//dtd html 2.1e//", "-//ietf//dtd html 3.0//", "-//ietf//dtd html 3.2 final//",
        "-//ietf//dtd html 3.2//", "-//ietf//dtd html 3//", "-//ietf//dtd html level 0//",
        "-//ietf//dtd html level 1//", "-//ietf//dtd html level 2//", "-//ietf//dtd html level 3//",
        "-//ietf//dtd html strict level 0//", "-//ietf//dtd html strict level 1//",
        "-//ietf//dtd html strict level 2//", "-//ietf//dtd html strict level 3//", "-//ietf//dtd html strict//",
        "-//ietf//dtd html//", "-//metrius//dtd metrius presentational//",
        "-//microsoft//dtd internet explorer 2.0 html strict//", "-//microsoft//dtd internet explorer 2.0 html//",
        "-//microsoft//dtd internet explorer 2.0 tables//", "-//microsoft//dtd internet explorer 3.0 html strict//",
        "-//microsoft//dtd internet explorer 3.0 html//", "-//microsoft//dtd internet explorer 3.0 tables//",
        "-//netscape comm. corp.//dtd html//", "-//netscape comm. corp.//dtd strict html//",
        "-//o'reilly and associates//dtd html 2.0//", "-//o'reilly and associates//dtd html extended 1.0//",
        "-//o'reilly and associates//dtd html extended relaxed 1.0//",
        "-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//",
        "-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//", "-//spyglass//dtd html 2.0 extended//",
        "-//sq//dtd html 2.0 hotmetal + extensions//", "-//sun microsystems corp.//dtd hotjava html//",
        "-//sun microsystems corp.//dtd hotjava strict html//", "-//w3c//dtd html 3 1995-03-24//",
        "-//w3c//dtd html 3.2 draft//", "-//w3c//dtd html 3.2 final//", "-//w3c//dtd html 3.2//",
        "-//w3c//dtd html 3.2s draft//", "-//w3c//dtd html 4.0 frameset//", "-//w3c//dtd html 4.0 transitional//",
        "-//w3c//dtd html experimental 19960712//", "-//w3c//dtd html experimental 970421//", "-//w3c//dtd w3 html//",
        "-//w3o//dtd w3 html 3.0//", "-//webtechs//dtd mozilla html 2.0//", "-//webtechs//dtd mozilla html//",
    ]
}
