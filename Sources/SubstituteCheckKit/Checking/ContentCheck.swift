import Foundation
package import LocalSubstitutionCache

/// Looks into the files of a manifest for what no browser could use.
///
/// An app's launch does not: it takes such files. ``ContentRules`` say what is wrong with one.
package struct ContentCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    /// What is wrong, in the order in which the files were looked into.
    private var problems: [(place: ManifestCheck.Place, sentence: String, paths: [String])] = []
    /// Index in `problems`, so that an entry for a folder tells each kind of problem once.
    private var known: [Kind: Int] = [:]
    private var seen: Set<Kind> = []

    private struct Kind: Hashable {
        let place: ManifestCheck.Place
        let what: String
    }

    init(_ manifest: SubstitutionManifest, name: String) {
        (self.manifest, self.name) = (manifest, name)
    }

    /// Looks into one file.
    mutating func look(into substitution: Substitution) {
        let (line, column) = manifest.source.place(of: substitution.fileOffset)
        var place = ManifestCheck.Place(line: line, column: column)
        // A folder's index answers for two URLs.
        guard seen.insert(Kind(place: place, what: substitution.file)).inserted,
            let problem = ContentRules.problem(of: substitution)
        else { return }
        if problem.isAboutType, let type = substitution.entry.typeOffset {
            let (line, column) = manifest.source.place(of: type)
            place = ManifestCheck.Place(line: line, column: column)
        }
        sentences[substitution.file] = problem.sentence
        if let index = known[Kind(place: place, what: problem.kind)] {
            problems[index].paths.append(substitution.file)
        } else {
            known[Kind(place: place, what: problem.kind)] = problems.count
            problems.append((place, problem.sentence, [substitution.file]))
        }
    }

    /// A sentence for each file with a mistake, by its path below the manifest's folder.
    private(set) var sentences: [String: String] = [:]

    /// Warnings, one for each entry and kind of problem.
    var issues: [ManifestIssue] {
        problems.map { problem in
            let others = problem.paths.count - 1
            let rest =
                others == 0
                ? "" : others == 1 ? " (and one more file of this entry)" : " (and \(others) more files of this entry)"
            return ManifestIssue(
                severity: .warning,
                code: .wrongContent,
                message: problem.sentence + rest,
                file: name,
                line: problem.place.line,
                column: problem.place.column
            )
        }
    }
}

extension ContentCheck {
    /// Why bytes that somebody else sent are not what their name and their server say, as a clause.
    ///
    /// A web page that a server sends instead of a picture is refused, whatever the server calls it.
    package static func refusal(of head: [UInt8], named path: String, _ type: MediaType?) -> String? {
        let meant = MediaType(fileName: path)
        let isTelling = meant.map { FileFormat.expected(of: $0) != nil } ?? false
        return [isTelling ? meant : nil, type ?? meant].compactMap(\.self).lazy.compactMap { refusal(of: head, as: $0) }
            .first
    }

    /// Why bytes that somebody else sent are not what a type says, as a clause; nil where nothing speaks against them.
    ///
    /// Lenient where sites are: one kind of picture under the name of another is shown by every browser.
    package static func refusal(of head: [UInt8], as type: MediaType) -> String? {
        let format = FileFormat(head: head)
        if format == .lfsPointer { return "it is a placeholder of Git LFS" }
        guard let expected = FileFormat.expected(of: type) else {
            let isCode = type.isJSON || type.essence == "text/css" || type.isJavaScript
            if format == .html, isCode { return "it is a web page, not \(type.essence)" }
            let isWide = head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
            guard type.isText, !isWide, FileFormat.isBinary(head) else { return nil }
            return format == .gzip ? "it is still compressed" : "it is no text"
        }
        if let format, format != .html, format != .gzip || expected.contains(.gzip) { return nil }
        if format == .html { return "it is a web page, not \(type.essence)" }
        if format == .gzip { return "it is still compressed" }
        if FileFormat.isBinary(head) || isUnclear(head, among: expected) { return nil }
        return head.isEmpty ? nil : "it is text, not \(type.essence)"
    }

    /// True for a file that may have one of these formats though it does not begin like it.
    ///
    /// An MP3 may begin with padding, an archive with a program that unpacks it, a PDF with a line of a printer, and
    /// an SVG with a long comment or in UTF-16: the parser of XML judges that.
    static func isUnclear(_ head: [UInt8], among expected: Set<FileFormat>) -> Bool {
        expected == [.mp3] && FileFormat.isBinary(head) || expected == [.zip] && head.starts(with: "MZ".utf8)
            || expected == [.pdf] && Data(head.prefix(1024)).range(of: Data("%PDF-".utf8)) != nil
            || expected == [.svg]
                && (head.first { $0 > 0x20 } == UInt8(ascii: "<") || head.starts(with: [0xEF, 0xBB, 0xBF, 0x3C])
                    || FileFormat.isBinary(head) && head.contains(UInt8(ascii: "<")))
    }
}
