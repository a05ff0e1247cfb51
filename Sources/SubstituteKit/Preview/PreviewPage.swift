import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The page that shows a manifest's files: one HTML file with its style, script and data inside.
struct PreviewPage {
    /// The checked manifest.
    let check: ManifestCheck
    /// The words with which the user calls the tool.
    let tool: ToolName
    /// The version of a page from the preview server; nil for a page that is written to a file.
    var version: Int?
    /// Sentences about the servers' versions of the files, keyed by path.
    var marks: [String: String] = [:]
    /// The number of times that each URL was answered from a file; nil if not known.
    var use: RecordedUse?
    /// The manifest, for a page that stays on this machine; nil for a page that the user may give to other people.
    ///
    /// The lines of the first open the manifest in an editor.
    var editable: URL?
    /// Returns the address of a file for the page.
    let address: (Substitution) -> String

    /// Lays out the page.
    func page() throws -> Page {
        let summary = PreviewSummary(check)
        let excerpts = Excerpts(check.text)
        let warnings = check.issues.count - check.errors.count
        let isEmpty = check.substitutions.isEmpty && check.errors.isEmpty
        let data: JSONObject = [
            "name": visible(check.name), "heading": summary.heading, "summary": summary.sentences,
            "isRefused": !check.errors.isEmpty, "warnings": warnings == 0 ? nil : counted(warnings, "warning"),
            "issues": check.issues.map { issue -> JSONObject in
                let line = issue.severity == .error ? excerpts.line(of: issue) : nil
                return [
                    "severity": issue.severity.rawValue, "line": issue.line, "column": issue.column,
                    "message": visible(issue.message), "isAboutTheWhole": issue.isAboutTheWhole,
                    "excerpt": line.map { [$0.before, String($0.after.prefix(1)), String($0.after.dropFirst())] },
                ]
            },
            "rows": check.substitutions.map(row), "entries": check.entries.map { [$0.line, $0.column] },
            "next": isEmpty
                ? ["add --in-browser https://example.com/", "add https://example.com/css/site.css"]
                    .map(tool.words).joined(separator: "\n") : nil,
            "manifest": editable.map { $0.absoluteURL.standardizedFileURL.path.percentEncoded }, "version": version,
        ]
        // A page that is served shows each version of its files.
        let live = version == nil ? [] : [PackageResources.preview_live_js]
        return try Page(
            "\(summary.heading): \(visible(check.name))",
            data,
            style: PackageResources.preview_css,
            scripts: [PackageResources.preview_js] + live,
            connects: version != nil
        )
    }

    private func row(_ substitution: Substitution) -> JSONObject {
        let kind = FileKind(substitution.type)
        let problem = check.contentProblems[substitution.path]
        return substitution.row(use).with([
            "column": substitution.column, "kind": kind.rawValue, "address": address(substitution),
            "problem": problem.map { visible($0) }, "expired": substitution.isExpired(on: check.date),
            "sample": kind == .text && problem == nil ? Self.firstLines(of: substitution) : nil,
            "remarks": remarks(on: substitution).map { visible($0) },
        ])
    }

    /// The beginning of a text file: at most 8 lines (the style shows no more) and at most 640 characters.
    ///
    /// A wide card has room for 640 characters of a single long line.
    private static func firstLines(of substitution: Substitution) -> String {
        do throws(FileProblem) {
            let data = try substitution.contents(upTo: 2048)
            var text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\t", with: "    ")
            // The 2048 bytes may end in the middle of a character.
            if data.count < substitution.size, text.hasSuffix("\u{FFFD}") { text.removeLast() }
            let lines = text.prefix(640).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return lines.prefix(8).map { printable($0) }.joined(separator: "\n")
        } catch {
            return error.reason(for: substitution.path)
        }
    }

    private func remarks(on substitution: Substitution) -> [String] {
        let ignored: String? =
            switch substitution.entry.query {
            case .exact: nil
            case .ignoring(let names): names.map(\.description).joined(separator: ", ")
            case .any: "the whole query"
            }
        let isExpired = substitution.isExpired(on: check.date)
        let headers = substitution.entry.headers.sorted { $0.key < $1.key }
        return [
            substitution.conditionWords, ignored.map { "ignores \($0)" },
            substitution.lastDay.map { isExpired ? "ended on \($0), no longer used" : "until \($0)" },
            marks[substitution.path], use?.words(substitution),
        ].compactMap(\.self) + headers.map { name, value in value.map { "\(name): \($0)" } ?? "no \(name)" }
    }

    /// Returns a function for the addresses of files in a folder, relative to the folder of a page.
    static func addresses(in folder: URL, from page: URL) -> (Substitution) -> String {
        let prefix = path(to: folder, from: page)
        return { (prefix + $0.path).percentEncoded }
    }

    /// Returns the relative path from one folder to another, ending in "/".
    private static func path(to folder: URL, from page: URL) -> String {
        let (target, start) = (components(folder), components(page))
        let common = zip(target, start).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        let way = Array(repeating: "..", count: start.count - common) + target.dropFirst(common)
        return ((way.first == ".." ? way : ["."] + way) + [""]).joined(separator: "/")
    }

    private static func components(_ folder: URL) -> [String] {
        folder.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().pathComponents
    }
}

extension Substitution {
    /// The conditions under which the file answers; nil if it always answers.
    var conditionWords: String? {
        conditions.isEmpty ? nil : "only when " + conditions.map(\.description).joined(separator: " or ")
    }

    /// Returns the object for a list and for a page, with the number of answers in a recording.
    func row(_ use: RecordedUse? = nil) -> JSONObject {
        [
            "url": visible(url), "file": visible(path), "type": visible(mediaType), "size": size, "line": line,
            "when": conditions.map { $0.description.filter { $0 != "\"" } }, "until": lastDay,
            "times": use?.times(self),
        ]
    }
}
