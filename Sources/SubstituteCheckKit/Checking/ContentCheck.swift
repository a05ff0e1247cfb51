import Foundation
package import LocalSubstitutionCache

/// A check of the files of a manifest, which finds content that no browser can use.
///
/// Call `check(_:)` for each substitution, and read `issues` afterwards. ``ContentRules`` find the first mistake in a
/// file. Files of one entry with the same kind of mistake share one warning, which names the first and counts the
/// others. An app's launch does not check content, and accepts such files.
package struct ContentCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    /// The mistakes, in the order in which they were found, each with all the files that have it.
    private var problems: [(place: ManifestCheck.Position, sentence: String, paths: [String])] = []
    /// The index in `problems` of each kind of mistake, so that an entry for a folder reports each kind once.
    private var known: [PlacedKind: Int] = [:]
    /// The files that were checked, with the positions of their entries.
    private var seen: Set<PlacedKind> = []

    /// A position in the manifest with a kind of mistake there, or with the path of a file that it names.
    private struct PlacedKind: Hashable {
        let place: ManifestCheck.Position
        let what: String
    }

    init(_ manifest: SubstitutionManifest, name: String) {
        (self.manifest, self.name) = (manifest, name)
    }

    /// Checks the file of a substitution, unless the same position in the manifest named it before.
    mutating func check(_ substitution: Substitution) {
        let (line, column) = manifest.source.position(of: substitution.fileOffset)
        var place = ManifestCheck.Position(line: line, column: column)
        // Without this, a folder's index.html would be checked twice, since it answers two URLs.
        guard seen.insert(PlacedKind(place: place, what: substitution.file)).inserted,
            let problem = ContentRules.problem(of: substitution)
        else { return }
        // If the type is wrong and not the file, the warning is about the entry's "type".
        if problem.isAboutType, let type = substitution.entry.typeOffset {
            let (line, column) = manifest.source.position(of: type)
            place = ManifestCheck.Position(line: line, column: column)
        }
        sentences[substitution.file] = problem.sentence
        if let index = known[PlacedKind(place: place, what: problem.kind)] {
            problems[index].paths.append(substitution.file)
        } else {
            known[PlacedKind(place: place, what: problem.kind)] = problems.count
            problems.append((place, problem.sentence, [substitution.file]))
        }
    }

    /// The message about each file with a mistake, by the file's path below the manifest's folder.
    private(set) var sentences: [String: String] = [:]

    /// The warnings, one for each entry and kind of mistake.
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
    /// Returns why bytes that a server sent do not fit their file name or media type, as a clause; nil if they fit.
    ///
    /// If the extension of `path` is that of a format such as PNG, the bytes must be allowed for it. They must also be
    /// allowed for `type`, the server's media type. So a web page that a server sends instead of an image is refused,
    /// whatever type the server gives it. `head` is the first bytes.
    package static func refusal(of head: [UInt8], named path: String, _ type: MediaType?) -> String? {
        let meant = MediaType(fileName: path)
        let isTelling = meant.map { FileFormat.expected(of: $0) != nil } ?? false
        return [isTelling ? meant : nil, type ?? meant].compactMap(\.self).lazy.compactMap { refusal(of: head, as: $0) }
            .first
    }

    /// Returns why bytes that a server sent do not fit a media type, as a clause; nil if nothing speaks against them.
    ///
    /// It allows what is common on sites: one image format under the type of another, which every browser shows.
    package static func refusal(of head: [UInt8], as type: MediaType) -> String? {
        let format = FileFormat(head: head)
        if format == .lfsPointer { return "it is a Git LFS pointer" }
        guard let expected = FileFormat.expected(of: type) else {
            let isCode = type.isJSON || type.essence == "text/css" || type.isJavaScript
            if format == .html, isCode { return "it is a web page, not \(type.essence)" }
            let isWide = head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
            guard type.isText, !isWide, FileFormat.isBinary(head) else { return nil }
            return format == .gzip ? "it is still compressed" : "it is not text"
        }
        if let format, format != .html, format != .gzip || expected.contains(.gzip) { return nil }
        if format == .html { return "it is a web page, not \(type.essence)" }
        if format == .gzip { return "it is still compressed" }
        if FileFormat.isBinary(head) || isUnclear(head, among: expected) { return nil }
        return head.isEmpty ? nil : "it is text, not \(type.essence)"
    }

    /// True if a file may have one of the formats although it does not begin like it.
    ///
    /// An MP3 may begin with padding, an archive with a program that unpacks it, and a PDF with a line for a printer.
    /// An SVG may begin with a long comment, or be UTF-16; the XML parser checks it later.
    static func isUnclear(_ head: [UInt8], among expected: Set<FileFormat>) -> Bool {
        expected == [.mp3] && FileFormat.isBinary(head) || expected == [.zip] && head.starts(with: "MZ".utf8)
            || expected == [.pdf] && Data(head.prefix(1024)).range(of: Data("%PDF-".utf8)) != nil
            || expected == [.svg]
                && (head.first { $0 > 0x20 } == UInt8(ascii: "<") || head.starts(with: [0xEF, 0xBB, 0xBF, 0x3C])
                    || FileFormat.isBinary(head) && head.contains(UInt8(ascii: "<")))
    }
}
