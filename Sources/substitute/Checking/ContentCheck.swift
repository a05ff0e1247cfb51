import Foundation
import LocalSubstitutionCache

/// Looks into the files of a manifest for what no browser could use.
///
/// An app's launch does not: it takes such files. The first 4 KB decide; JSON and XML are read whole up to 5 MB.
struct ContentCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    /// What is wrong, in the order in which the files were looked into.
    private var problems: [(place: ManifestCheck.Place, sentence: String, paths: [String])] = []
    /// Index in `problems`, so that an entry for a folder tells each kind of problem once.
    private var known: [Kind: Int] = [:]
    private var seen: Set<Kind> = []

    /// JSON and XML above this size are not read, in bytes.
    private static let parsedSize = 5_000_000

    private struct Kind: Hashable {
        let place: ManifestCheck.Place
        let what: String
    }

    init(_ manifest: SubstitutionManifest, name: String) {
        (self.manifest, self.name) = (manifest, name)
    }

    /// Looks into one file.
    mutating func look(into substitution: Substitution) {
        let (line, column) = manifest.filePlace(of: substitution)
        let place = ManifestCheck.Place(line: line, column: column)
        // A folder's index answers for two URLs.
        guard seen.insert(Kind(place: place, what: substitution.file)).inserted,
            let problem = Self.problem(of: substitution)
        else { return }
        sentences[substitution.file] = problem.sentence
        if let index = known[Kind(place: place, what: problem.kind)] {
            problems[index].paths.append(substitution.file)
        } else {
            known[Kind(place: place, what: problem.kind)] = problems.count
            problems.append((place, problem.sentence, [substitution.file]))
        }
    }

    /// What is wrong with each file that something is wrong with, by its path below the manifest's folder.
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

    // MARK: - One file

    private static func problem(of substitution: Substitution) -> (kind: String, sentence: String)? {
        let subject = quoted(substitution.file)
        if substitution.size == 0 {
            let isText = FileFormat.expected(of: substitution.mediaType) == nil
            return (
                "empty",
                "\(subject) is empty; " + (isText ? "if that is meant, write a line break into it" : "export it again")
            )
        }
        guard let head = substitution.bytes(upTo: FileFormat.headLength) else { return nil }
        let type = substitution.mediaType
        let format = FileFormat(head: Array(head))
        switch format {
        case .lfsPointer:
            return (
                "lfs",
                "\(subject) is a placeholder of Git LFS, not the file itself; run \"git lfs pull\", or ask a developer"
            )
        case .alias:
            return ("alias", "\(subject) is an alias made by the Finder; put a copy of the file itself in its place")
        default:
            break
        }
        if let problem = mismatch(format, Array(head), substitution) { return problem }
        guard substitution.size <= parsedSize else { return nil }
        if type.isJSON {
            // A line before a source map that keeps browsers from running it.
            if head.starts(with: ")]}'".utf8) { return nil }
            guard let text = substitution.bytes(upTo: parsedSize), let problem = JSONProblem(in: text)
            else { return nil }
            let place = "\(visible(substitution.file)):\(problem.line):\(problem.column)"
            return ("json \(substitution.file)", "\(subject) cannot be read as JSON: \(place): \(problem.message)")
        }
        if type.isXML {
            guard let text = substitution.bytes(upTo: parsedSize), let problem = XMLCheck.problem(in: text)
            else { return nil }
            return ("xml \(substitution.file)", "\(subject) cannot be read as XML: \(problem)")
        }
        return nil
    }

    /// Whether the first bytes speak against the type.
    private static func mismatch(
        _ format: FileFormat?,
        _ head: [UInt8],
        _ substitution: Substitution
    ) -> (kind: String, sentence: String)? {
        let (type, subject) = (substitution.mediaType, quoted(substitution.file))
        guard let expected = FileFormat.expected(of: type) else {
            // Of other types only this is known: text is none of the formats, and hardly anything is a web page.
            let isPage = format == .html && !type.isXML && !type.isHTML && type.essence != "text/markdown"
            let isBinary = type.isText && FileFormat.isBinary(head)
            guard let format, isPage || isBinary else { return nil }
            return (
                format.rawValue,
                "\(subject) is \(format.article), but is sent as \(type.essence); \(remedy(format, [], substitution.file))"
            )
        }
        if let format, expected.contains(format) { return nil }
        let names = FileFormat.allCases.filter(expected.contains).map(\.article).joined(separator: " or ")
        if format == nil, isUnclear(head, among: expected) { return nil }
        guard let format else {
            return (
                "no \(names)",
                "\(subject) does not begin as \(names) does, so it is damaged or something else; export it again"
            )
        }
        return (
            format.rawValue,
            "\(subject) is \(format.article), but is sent as \(type.essence); \(remedy(format, expected, substitution.file))"
        )
    }

    private static func remedy(_ format: FileFormat, _ expected: Set<FileFormat>, _ file: String) -> String {
        if format == .html { return "servers send a page for a missing file, so load it again from the right address" }
        let name = file.lastIndex(of: ".").map { file[..<$0] } ?? file[...]
        let rename = format.fileExtension.map { "rename it to \(quoted("\(name).\($0)")), here, too" }
        let exported = FileFormat.allCases.filter(expected.contains).map(\.rawValue).joined(separator: " or ")
        return [rename, exported.isEmpty ? "name another file" : "export it as \(exported)"].compactMap(\.self)
            .joined(separator: ", or ")
    }
}

extension ContentCheck {
    /// Why bytes that somebody else sent are not what their name and their server say, as a clause.
    ///
    /// A web page that a server sends instead of a picture is refused, whatever the server calls it.
    static func refusal(of head: [UInt8], named path: String, _ type: MediaType?) -> String? {
        let meant = MediaType(fileName: path)
        let isTelling = meant.map { FileFormat.expected(of: $0) != nil } ?? false
        return [isTelling ? meant : nil, type ?? meant].compactMap(\.self).lazy.compactMap { refusal(of: head, as: $0) }
            .first
    }

    /// Why bytes that somebody else sent are not what a type says, as a clause; nil where nothing speaks against them.
    ///
    /// Lenient where sites are: one kind of picture under the name of another is shown by every browser.
    static func refusal(of head: [UInt8], as type: MediaType) -> String? {
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

    /// Whether a file may be one of these formats though it does not begin like it.
    ///
    /// A sound may begin with padding, an archive with a program that unpacks it, a PDF with a line of a printer, and
    /// an SVG with a long comment or in UTF-16: the parser of XML judges that.
    fileprivate static func isUnclear(_ head: [UInt8], among expected: Set<FileFormat>) -> Bool {
        expected == [.mp3] || expected == [.zip] && head.starts(with: "MZ".utf8)
            || expected == [.pdf] && Data(head.prefix(1024)).range(of: Data("%PDF-".utf8)) != nil
            || expected == [.svg]
                && (head.first { $0 > 0x20 } == UInt8(ascii: "<") || head.starts(with: [0xEF, 0xBB, 0xBF, 0x3C])
                    || FileFormat.isBinary(head) && head.contains(UInt8(ascii: "<")))
    }
}

extension MediaType {
    var isJSON: Bool { canonical.essence == "application/json" || essence.hasSuffix("+json") }

    var isXML: Bool { canonical.essence == "application/xml" || essence.hasSuffix("+xml") }

    var isJavaScript: Bool { canonical.essence == "text/javascript" }

    /// Whether people read its bytes.
    var isText: Bool { essence.hasPrefix("text/") || isJSON || isXML || isJavaScript }
}
