package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking

/// A mistake in the content of a file.
struct ContentProblem {
    /// The kind of mistake; an entry for a folder reports each kind once.
    let kind: String
    let sentence: String
    /// True if the file is right, and the type in its entry is wrong.
    var isAboutType = false
}

/// A rule for the content of files; it returns the mistake in a file, or nil if there is none.
typealias ContentRule = @Sendable (FileSample) -> ContentProblem?

/// The rules for the content of files.
package enum ContentRules {
    /// All rules, in the order in which they are checked.
    ///
    /// Only the first mistake is reported, because further mistakes may be its consequences.
    private static let all: [ContentRule] = [
        isMeant, isFilled, isNoPlaceholder, isNoErrorMessage, isNotDisguised, isItself, hasFormatOfType, isNoData,
        isNoMarkup, isJoined, isJSON, beginsWithDeclaration, isInItsEncoding, isXML, declaresLinks, isBuilt,
        isForBrowsers, isForEveryComputer, hasSlashes, isDecodedOnce, isIndex, isForAllBrowsers, isWhole, isPublic,
        isSmallPicture, hasTimes, isSelfContained, isForScreens,
    ]

    /// Returns the first mistake in the content of a file; nil if there is none.
    static func problem(of substitution: Substitution) -> ContentProblem? {
        do {
            let sample = try FileSample(substitution)
            return all.firstResult { $0(sample) }
        } catch {
            return ContentProblem(kind: "unreadable", sentence: error.reason(for: substitution.file))
        }
    }

    /// Returns the first mistake in the content of a body that becomes a file, as a predicate; nil if there is none.
    package static func remark(on body: Data, named path: String, as type: MediaType) -> String? {
        let sample = FileSample(body, named: path, as: type)
        return all.firstResult { $0(sample) }.map { String($0.sentence.trimmingPrefix("\(sample.subject) ")) }
    }

    // MARK: - Files that are something else

    private static func isFilled(_ file: FileSample) -> ContentProblem? {
        guard file.size == 0 else { return nil }
        let remedy = file.expected == nil ? "if that is intended, write a line break into it" : "export it again"
        return file.problem("empty", "is empty; \(remedy)")
    }

    private static func isNoPlaceholder(_ file: FileSample) -> ContentProblem? {
        switch file.format {
        case .lfsPointer:
            let remedy = "run \"git lfs pull\", or ask a developer"
            return file.problem("lfs", "is a Git LFS pointer, not the file itself; \(remedy)")
        case .alias:
            return file.problem("alias", "is an alias made by the Finder; put a copy of the file itself in its place")
        default:
            return nil
        }
    }

    private static func isNoErrorMessage(_ file: FileSample) -> ContentProblem? {
        guard let message = ErrorMessage(file) else { return nil }
        return file.problem(
            "error message",
            "is \(message.what) (\(quoted(message.text))), not \(file.type.isHTML ? "the page" : "a file"); "
                + message.remedy
        )
    }

    private static func isNotDisguised(_ file: FileSample) -> ContentProblem? {
        Disguise.problem(of: file).map { file.problem($0, $0) }
    }

    /// Finds stylesheets that are a JSON object, such as a service's answer.
    private static func isNoData(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "text/css", file.isJSONObject else { return nil }
        return file.problem("data", "is JSON, but is sent as \(file.type.essence); put the right file in its place")
    }

    /// Finds stylesheets and scripts that begin with a tag; for browsers, this tag is a syntax error.
    private static func isNoMarkup(_ file: FileSample) -> ContentProblem? {
        guard file.isCode, let tag = file.firstTag else { return nil }
        let own = file.type.essence == "text/css" ? "style" : "script"
        let remedy =
            tag.lowercased() == own
            ? "remove the tags <\(own)> and </\(own)>, which belong in HTML"
            : "it is HTML or XML, so put the right file in its place"
        return file.problem(
            "markup",
            "begins with \(quoted("<\(tag)")), but is sent as \(file.type.essence); \(remedy)"
        )
    }

    // MARK: - Mistakes in texts

    private static func isJoined(_ file: FileSample) -> ContentProblem? {
        // Check only these types. A text of another type may explain Git's conflict markers to its readers.
        guard file.isCode || file.type.isJSON || file.type.isXML || file.type.isHTML, let text = file.text,
            let line = ConflictMarkers.line(in: text)
        else { return nil }
        return file.problem(
            "conflict",
            "has a Git merge conflict in line \(line); keep one version, and remove the lines with <, = and >"
        )
    }

    private static func isJSON(_ file: FileSample) -> ContentProblem? {
        // A source map may begin with `)]}'`, so that browsers do not run the map as a script.
        guard file.type.isJSON, !file.head.starts(with: ")]}'".utf8), let text = file.text else { return nil }
        guard let problem = JSONProblem(in: text) else {
            return repeatedName(in: JSONParser.parse(text).value).map { name, offset in
                let line = text.line(of: text.startIndex + offset)
                return file.problem(
                    "json name",
                    "has \(quoted(name)) in line \(line) a second time in one object, and programs keep only one of "
                        + "them; remove one"
                )
            }
        }
        if isInLines(text) {
            return file.problem(
                "json lines",
                "has a JSON value in each line (JSON Lines), but JSON is a single value; write [ before the first, "
                    + "a comma after each but the last, and ] at the end"
            )
        }
        let place = "\(visible(file.path)):\(problem.line):\(problem.column)"
        return file.problem("json \(file.path)", "cannot be read as JSON: \(place): \(problem.message)")
    }

    /// Returns a name that appears twice in an object, and the offset of its second place; nil if there is none.
    private static func repeatedName(in value: JSONValue) -> (name: String, offset: Int)? {
        switch value.kind {
        case .array(let elements): return elements.firstResult { repeatedName(in: $0) }
        case .object(let members):
            var names: Set<String> = []
            return members.firstResult { member in
                names.insert(member.name).inserted ? repeatedName(in: member.value) : (member.name, member.nameOffset)
            }
        default: return nil
        }
    }

    /// True for a text of several lines, each of which is a JSON object.
    private static func isInLines(_ text: Data) -> Bool {
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return lines.count > 1 && lines.allSatisfy { $0.first == UInt8(ascii: "{") && JSONProblem(in: Data($0)) == nil }
    }

    private static func isXML(_ file: FileSample) -> ContentProblem? {
        let isSVG = file.type.essence == "image/svg+xml"
        guard file.type.isXML, let text = file.text, let problem = XMLCheck.problem(in: text, isSVG: isSVG)
        else { return nil }
        return file.problem("xml \(file.path)", "cannot be read as \(isSVG ? "SVG" : "XML"): \(problem)")
    }

    private static func isForBrowsers(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "text/css", let text = file.text, let found = StylesheetScan.problem(in: text)
        else { return nil }
        return file.problem(
            "css \(found.sentence)",
            "has \(quoted(found.word)) in line \(found.line); \(found.sentence)"
        )
    }

    /// Finds a stylesheet, an SVG or a page that loads something from the designer's own disk.
    private static func isForEveryComputer(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "text/css" || file.type.essence == "image/svg+xml" || file.type.isHTML,
            let text = file.text
        else { return nil }
        // In a page, /Users/ may be a path of the site.
        let starts =
            ["url(file:", "url(\"file:", "url('file:", "href=\"file:", "href=\"C:\\", "url(http://localhost"]
            + (file.type.isHTML
                ? ["src=\"file:", "src=\"C:\\", "src=\"http://localhost:", "src=\"//localhost:", "src=\"cid:"]
                : ["href=\"/Users/"])
        guard let found = starts.firstResult({ text.range(of: Data($0.utf8)) }) else {
            return file.type.isHTML ? elsewhere(file, String(decoding: text, as: UTF8.self)) : nil
        }
        let word = String(
            decoding: text[found.lowerBound...].prefix(80).prefix { $0 > 0x20 && $0 != UInt8(ascii: ">") },
            as: UTF8.self
        )
        return file.problem(
            "own disk",
            "has \(quoted(word)) in line \(text.line(of: found.lowerBound)), "
                + (word.contains("cid:")
                    ? "a part of a mail, which a page does not have; name its URL"
                    : "an address on one computer; "
                        + (word.contains("localhost")
                            ? "remove it, or name its URL on the site's server" : "embed the file, or name its URL"))
        )
    }

    /// Finds a page that loads its files from a server for tests, or from the folder in which a browser saved them.
    private static func elsewhere(_ file: FileSample, _ page: String) -> ContentProblem? {
        if let match = page.firstMatch(of: savedFiles), page.contains("<!-- saved from url=(") {
            return file.problem(
                "saved with files",
                "was saved with its files, so it loads them from \(quoted(String(match.1))); save it as HTML only"
            )
        }
        guard let match = page.firstMatch(of: testServer),
            file.substitution.map({ $0.url.contains("//\(match.1)") }) != true
        else { return nil }
        let line = page[..<match.1.startIndex].count(where: \.isNewline) + 1
        return file.problem(
            "test server",
            "loads from \(quoted(String(match.1))) in line \(line), a server for tests; name the site's own server"
        )
    }

    nonisolated(unsafe) private static let savedFiles = /(?:src|href)="\.\/([^"\/]{1,200}_files\/)/
    nonisolated(unsafe) private static let testServer =
        /(?:<base\b[^>]{0,100}\bhref|\bsrc)\s*=\s*["']?(?:https?:)?\/\/((?:staging|stage|stg|dev|test|testing|uat|qa|preprod)[.\-][\w\-]+\.[\w.\-]+)/

    /// Finds subtitles with the commas of SubRip in their times (WebVTT §4.1); browsers skip such cues.
    private static func hasTimes(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "text/vtt", let match = file.firstMatch(of: timeWithComma) else { return nil }
        let time = String(match.1)
        return file.problem(
            "time",
            "has \(quoted(time)), and browsers skip a text with such a time; write "
                + "\(quoted(time.replacingOccurrences(of: ",", with: "."))), and so in each time"
        )
    }

    nonisolated(unsafe) private static let timeWithComma = /\n((?:[0-9]+:)?[0-9]{2}:[0-9]{2},[0-9]{3})[ \t]*-->/

    /// Finds an SVG that loads another image, which browsers do not do for an SVG that is itself an image.
    private static func isSelfContained(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "image/svg+xml", let match = file.firstMatch(of: outerImage) else { return nil }
        return file.problem(
            "outer image",
            "loads \(quoted(String(match.1))), and where a page shows it as an image, browsers load nothing for it; "
                + "embed that image"
        )
    }

    nonisolated(unsafe) private static let outerImage =
        /<(?:image|feImage)\b[^>]{0,300}\bhref="((?!data:|#|\{)[^"]{1,200})"/

    /// Finds an address in a stylesheet whose folders are separated as on Windows.
    ///
    /// In CSS, a backslash only escapes the next character, so it disappears.
    private static func hasSlashes(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence == "text/css", let text = file.text, text.contains(UInt8(ascii: "\\")),
            let match = file.firstMatch(of: backslash)
        else { return nil }
        let address = String(match.1)
        return file.problem(
            "backslash",
            "has \(quoted(String(match.0))), from which CSS drops each \"\\\"; write "
                + quoted("url(\(address.replacingOccurrences(of: "\\", with: "/")))")
        )
    }

    /// An address with a backslash before a letter that cannot begin the number of a character.
    nonisolated(unsafe) private static let backslash =
        /url\(\s*["']?([^"'()\s]{0,200}\\[g-zG-Z][^"'()\s]{0,200})["']?\s*\)/

    /// Finds a folder's page that is called `index.htm` or `Index.html`, for example.
    ///
    /// Only `index.html` answers for the folder's URL.
    private static func isIndex(_ file: FileSample) -> ContentProblem? {
        let path = file.path
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let substitution = file.substitution, substitution.namedFile.hasSuffix("/"), name != "index.html",
            ["index.htm", "index.html"].contains(name.lowercased()),
            let names = try? FileManager.default.contentsOfDirectory(
                atPath: String(substitution.realPath.dropLast(name.count))
            ), !names.contains("index.html")
        else { return nil }
        return file.problem(
            "index",
            "does not answer for its folder's URL, as only \"index.html\" does; "
                + "rename it to \(quoted(path.dropLast(name.count) + "index.html"))"
        )
    }

    // MARK: - Size

    /// Finds pictures, films, sounds, fonts and documents that end too early.
    private static func isWhole(_ file: FileSample) -> ContentProblem? {
        guard CutFile.isCut(file) else { return nil }
        let part = [.png, .jpeg, .webp].contains(file.format) ? "its lower part" : "a part of it"
        return file.problem(part, "ends too early, so \(part) is missing; download or export it again")
    }

    /// The size above which an image gets a warning, in bytes.
    ///
    /// An image above this size is larger than a whole page should be. Lighthouse warns if a page's files add up to
    /// more than 5,000 KiB ("Avoid enormous network payloads").
    private static let pictureSize = 5_000 * 1024

    private static func isSmallPicture(_ file: FileSample) -> ContentProblem? {
        guard file.type.essence.hasPrefix("image/"), file.size > pictureSize else { return nil }
        let size = ByteCount(file.size)
        return file.problem(
            "large picture",
            "is \(size), more than a whole page should be; export it smaller, at the size at which it is shown"
        )
    }
}
