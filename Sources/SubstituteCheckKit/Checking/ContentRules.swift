package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

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
        isMeant, isFilled, isNoPlaceholder, hasStart, hasFormatOfType, isNoMarkup, isJoined, isJSON, isSent, isPublic,
        isSmallPicture, isForScreens,
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

    private static func hasStart(_ file: FileSample) -> ContentProblem? {
        file.missingStart.map { start in
            file.problem(
                "start",
                "does not begin with \(quoted(start)), as \(file.type.canonical.essence) must; export it again"
            )
        }
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

    /// Finds a page that a server has to run.
    private static func isSent(_ file: FileSample) -> ContentProblem? {
        guard file.type.isHTML, let text = file.text, let found = text.range(of: Data("<?php".utf8)) else { return nil }
        return file.problem(
            "php",
            "has \"<?php\" in line \(text.line(of: found.lowerBound)); a server runs this before it sends the page; "
                + "save the page as a browser gets it"
        )
    }

    // MARK: - Size

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
