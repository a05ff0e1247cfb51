import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The rules about the form of a file: browsers must be able to read it.
///
/// The file must be neither source code for a build, nor a reference to another file.
extension ContentRules {
    /// Finds a file that has other text before its content, or something else in place of the content.
    static func isItself(_ file: FileSample) -> ContentProblem? {
        guard let predicate = wrapping(file) ?? otherCode(file) else { return nil }
        return file.problem(predicate, predicate)
    }

    /// Finds the traces of a program that added a header to a file, or stored something else in the file's place.
    private static func wrapping(_ file: FileSample) -> String? {
        // This is the magic number of AppleDouble ("AppleSingle and AppleDouble Formats", "AppleDouble file header").
        if file.head.starts(with: [0, 5, 0x16, 7]) {
            return "holds only a Mac's metadata about a file (AppleDouble); put the file itself in its place"
        }
        // The header of a shell link (MS-SHLLINK §2.1) begins with its size and its class.
        if file.head.starts(with: [0x4C, 0, 0, 0, 1, 0x14, 2, 0]) {
            return "is a shortcut made by Windows; put a copy of the file itself in its place"
        }
        guard file.isCode || file.expected != nil || file.type.isHTML || file.type.isJSON || file.type.isXML else {
            return nil
        }
        let isList =
            file.head.starts(with: "bplist0".utf8)
            || file.beginning.hasPrefix("<?xml") && file.beginning.contains("<!DOCTYPE plist")
        if isList, !file.type.isXML || file.expected != nil {
            return "is a property list, such as a Mac's link to a page (.webloc); put the file itself in its place"
        }
        if let head = file.beginning.prefixMatch(of: headOfAnswer)?.0 {
            return "begins with the header of a server's response (\(quoted(String(head)))); "
                + "download it again without the header (curl without -i)"
        }
        guard let path = path(in: file) else { return nil }
        return "holds only the path \(quoted(path)), as Git does for links on Windows; put the file itself in its place"
    }

    /// The beginning of an HTTP response's status line (RFC 9112 §4).
    nonisolated(unsafe) private static let headOfAnswer = /HTTP\/[0-9.]+ [1-5][0-9]{2}/
    nonisolated(unsafe) private static let relativePath =
        /(\.{0,2}\/)?([^\s\/:;<>(){}"']+\/)*[^\s\/:;<>(){}"']+\.([A-Za-z0-9]+)/
    /// The beginning of a source map (ECMA-426).
    nonisolated(unsafe) private static let sourceMap =
        /\{\s*"version"\s*:\s*3\s*,\s*"(file|sources|names|mappings|sourceRoot|sections)"/
    nonisolated(unsafe) private static let script =
        /import\s[^;'"]*['"]|export\s+(default|const|function)\s|(const|let|var)\s+\w+\s*=|module\.exports\s*=/
    /// A selector, and an indented declaration on the next line.
    nonisolated(unsafe) private static let indentedRule = /(^|\n)([.#&A-Za-z][^\n:;]*)\r?\n[ \t]+[a-z\-]+:[^\n]+/

    /// Returns the only line of a file if it is a path with the file's own extension; nil otherwise.
    private static func path(in file: FileSample) -> String? {
        guard file.size < 500 else { return nil }
        let line = file.beginning.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let match = line.wholeMatch(of: relativePath),
            file.path.lowercased().hasSuffix(".\(match.3.lowercased())")
        else { return nil }
        return line
    }

    /// Finds a text that was UTF-8, was read as windows-1252, and was then saved as UTF-8.
    ///
    /// Read back as windows-1252, such a text is UTF-8 again. No other text is: its accented letters stand alone.
    static func isDecodedOnce(_ file: FileSample) -> ContentProblem? {
        guard let text = file.text, text.contains(0xC3), let wrong = String(data: text, encoding: .utf8),
            let bytes = wrong.data(using: .windowsCP1252) ?? wrong.data(using: .isoLatin1),
            let right = String(data: bytes, encoding: .utf8),
            let place = wrong.firstIndex(where: { !$0.isASCII })
        else { return nil }
        func word(_ text: String, at place: String.Index) -> String {
            let start = text[..<place].lastIndex { !$0.isLetter }.map(text.index(after:)) ?? text.startIndex
            return String(text[start...].prefix { !$0.isASCII || $0.isLetter }.prefix(40))
        }
        guard let meant = right.firstIndex(where: { !$0.isASCII }) else { return nil }
        let line = wrong[..<place].count(where: \.isNewline) + 1
        return file.problem(
            "encoded twice",
            "has \(quoted(word(wrong, at: place))) in line \(line), which was \(quoted(word(right, at: meant))) "
                + "before a program read UTF-8 as another encoding; export it again as UTF-8"
        )
    }

    /// Finds code or data that does not match the file's type, such as JavaScript in an SVG file.
    private static func otherCode(_ file: FileSample) -> String? {
        if file.isCode, file.beginning.prefixMatch(of: sourceMap) != nil {
            return "is a source map, which only developer tools read; put the code itself in its place"
        }
        if file.expected == [.webAssembly], file.beginning.hasPrefix("(module") {
            return "is WebAssembly as text; compile it (wat2wasm), and put the binary in its place"
        }
        let isSVG = file.expected == [.svg]
        if isSVG || file.type.essence == "text/css", file.beginning.prefixMatch(of: script) != nil {
            let remedy =
                isSVG
                ? "replace it with the <svg> that it draws in a browser"
                : "put the stylesheet that is built from it in its place"
            return "is JavaScript, but is sent as \(file.type.essence); \(remedy)"
        }
        guard let expected = file.expected, file.format == nil, file.beginning.first == "{",
            file.head.count == file.size, JSONProblem(in: Data(file.head)) == nil
        else { return nil }
        let names = FileFormat.allCases.filter(expected.contains).map(\.article).joined(separator: " or ")
        return "is JSON, as a service sends it, not \(names); download the file itself"
    }

    // MARK: - Sources

    /// Finds text that a server or a build has to process before browsers can read it.
    static func isBuilt(_ file: FileSample) -> ContentProblem? {
        guard let text = file.text,
            let source = file.type.isHTML
                ? unbuiltPage(text)
                : file.type.isJavaScript
                    ? typeScript(text) ?? element(text) ?? module(text) : unbuiltStylesheet(file, text)
        else { return nil }
        return file.problem(source.sentence, "has \(quoted(source.word)) in line \(source.line); \(source.sentence)")
    }

    private typealias Source = (word: String, line: Int, sentence: String)

    private static func unbuiltPage(_ text: Data) -> Source? {
        let marks = [
            ("<?php", "a server runs this before it sends the page; save the page as a browser gets it"),
            ("/@vite/client\"", "only a development server answers this; build the site, and use the built page"),
        ]
        let found = marks.lazy.compactMap { word, sentence in
            text.range(of: Data(word.utf8)).map { (word, text.line(of: $0.lowerBound), sentence) }
        }.first
        if let found { return found }
        if let match = String(decoding: text, as: UTF8.self).firstMatch(of: sourceOfBuild) {
            let place = text.range(of: Data(match.1.utf8))?.lowerBound ?? text.startIndex
            let sentence = "a build turns this file into a script; build the site, and use the built page"
            return (String(match.1), text.line(of: place), sentence)
        }
        // A page may explain templates, or hold one for a script.
        guard let place = ["{% ", "<%"].lazy.compactMap({ text.range(of: Data($0.utf8)) }).first,
            let page = String(data: text[..<place.lowerBound], encoding: .utf8),
            !["<pre", "<code", "<script", "<!--"].contains(where: { page.contains($0) }),
            let match = String(decoding: text[place.lowerBound...].prefix(80), as: UTF8.self).prefixMatch(
                of: templateTag
            )
        else { return nil }
        return (
            String(match.0), text.line(of: place.lowerBound),
            "a server fills this template in before it sends the page; save the page as a browser gets it"
        )
    }

    /// A script of a page, in a language that browsers do not run.
    nonisolated(unsafe) private static let sourceOfBuild =
        /<script\b[^>]{0,200}\bsrc=["']?([^"'>\s?]{1,200}\.(?:tsx?|jsx|vue|svelte|coffee))["'\s>]/

    /// A tag of Jinja, Liquid, Twig, ERB, JSP and similar languages.
    nonisolated(unsafe) private static let templateTag =
        /<%[=@\-]? ?[@\w][^%\n]{0,60}%>|\{% (?:if|for|block|extends|include|import|set|assign|load|macro|render|layout|section|url|static|trans)\b[^%\n]{0,60}%\}/

    /// Finds an element of JSX that a function returns, before any block comment or template literal.
    private static func element(_ text: Data) -> Source? {
        for word in ["return <", "return (", "=> <", "=> ("] {
            guard let found = text.range(of: Data(word.utf8)) else { continue }
            let rest = String(decoding: text[found.lowerBound...].prefix(200), as: UTF8.self)
            let line =
                String(decoding: text[..<found.lowerBound], as: UTF8.self).split(
                    separator: "\n",
                    omittingEmptySubsequences: false
                ).last ?? ""
            let before = text[..<found.lowerBound]
            guard let match = rest.prefixMatch(of: elementStart), !line.contains(where: { "\"'/".contains($0) }),
                !before.contains(UInt8(ascii: "`")), before.range(of: Data("/*".utf8)) == nil
            else { continue }
            let sentence = "this is JSX, which browsers do not read; name the script that is built from it"
            return (String(match.1), text.line(of: found.lowerBound), sentence)
        }
        return nil
    }

    nonisolated(unsafe) private static let elementStart = /(?:return|=>)\s*\(?\s*(<[A-Za-z][\w.]*|<>)/

    /// Finds a TypeScript declaration at the beginning of a line, before any block comment or template literal.
    private static func typeScript(_ text: Data) -> Source? {
        let starts = ["interface ", "export interface ", "import type ", "export type ", "declare module "]
        for word in starts {
            let isFirst = text.starts(with: word.utf8)
            guard let place = isFirst ? text.startIndex : text.range(of: Data("\n\(word)".utf8))?.upperBound else {
                continue
            }
            let before = text[..<place]
            guard !before.contains(UInt8(ascii: "`")), before.range(of: Data("/*".utf8)) == nil else { continue }
            let sentence = "this is TypeScript, which browsers do not read; name the script that is built from it"
            let line = isFirst ? 1 : text.line(of: place)
            return (word.trimmingCharacters(in: .whitespaces), line, sentence)
        }
        return nil
    }

    /// Finds a call of `require()` at the beginning of a line, before any block comment or template literal.
    ///
    /// In a bundle, the call is in a function that has `require` as its parameter.
    private static func module(_ text: Data) -> Source? {
        guard let place = text.range(of: Data("require(".utf8)),
            case let before = String(decoding: text[..<place.lowerBound], as: UTF8.self),
            !["`", "/*", "function", "=>", "define"].contains(where: before.contains),
            let start = before.split(whereSeparator: \.isNewline).last?.wholeMatch(of: assignedName)
        else { return nil }
        let sentence = "browsers have no require(), as Node has; name the script that is built for browsers"
        return ("\(start.0)require(", text.line(of: place.lowerBound), sentence)
    }

    nonisolated(unsafe) private static let assignedName = /(?:const|let|var)\s[\s\w{},$]++=\s*/

    /// Finds a stylesheet whose rules have no braces, as in Sass and Stylus.
    private static func unbuiltStylesheet(_ file: FileSample, _ text: Data) -> Source? {
        guard file.type.essence == "text/css", !text.contains(UInt8(ascii: "{")), !text.contains(UInt8(ascii: "}")),
            text.range(of: Data("/*".utf8)) == nil,
            let match = file.beginning.firstMatch(of: indentedRule)
        else { return nil }
        let start = text.range(of: Data(match.2.utf8))?.lowerBound ?? text.startIndex
        let sentence = "no { follows, as in Sass and Stylus, which browsers do not read; name the built stylesheet"
        return (String(match.2.prefix(60)), text.line(of: start), sentence)
    }
}
