import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The rule that the first bytes of a file must not contradict its type.
extension ContentRules {
    static func hasFormatOfType(_ file: FileSample) -> ContentProblem? {
        guard let expected = file.expected else { return textProblem(file) }
        if let format = file.format, expected.contains(format) { return nil }
        let names = FileFormat.allCases.filter(expected.contains).map(\.article).joined(separator: " or ")
        if let format = file.format { return problem(format, expected, file) }
        if ContentCheck.isUnclear(file.head, among: expected) { return nil }
        let cause =
            file.firstTag.map { "begins with \(quoted("<\($0)")), so it is HTML or XML, not \(names)" }
            ?? "does not begin like \(names), so it is damaged or something else"
        return file.problem("no \(names)", "\(cause); export it again")
    }

    /// Checks a file whose type has no known formats.
    ///
    /// Finds a binary file of a text type, text in no known encoding, and a page of another type.
    private static func textProblem(_ file: FileSample) -> ContentProblem? {
        let type = file.type
        if let format = file.format {
            let isBinary = type.isText && !file.isWide && FileFormat.isBinary(file.head)
            return file.isStrayPage || isBinary ? problem(format, [], file) : nil
        }
        guard type.takesCharset, EncodingGuess(Data(file.head)) == nil else { return nil }
        return file.problem(
            "no text",
            "is not text, but is sent as \(type.essence), so it is damaged or something else; export it again"
        )
    }

    private static func problem(
        _ format: FileFormat,
        _ expected: Set<FileFormat>,
        _ file: FileSample
    ) -> ContentProblem {
        let (path, essence) = (file.path, file.type.essence)
        // The entry's "type" is wrong, not the file. The field can be removed if the file's extension gives the right
        // type.
        if let type = format.usualType, file.substitution?.entry.type != nil {
            let isNamedRight = MediaType(fileName: path).flatMap(FileFormat.expected)?.contains(format) ?? false
            let remedy = isNamedRight ? "remove \"type\", or write" : "write"
            return file.problem(
                format.rawValue,
                "is \(format.article), but \"type\" says \(essence); \(remedy) \"type\": \(quoted(type.essence))",
                isAboutType: true
            )
        }
        return file.problem(
            format.rawValue,
            "is \(format.article), but is sent as \(essence); \(remedy(format, expected, path))"
        )
    }

    private static func remedy(_ format: FileFormat, _ expected: Set<FileFormat>, _ file: String) -> String {
        switch format {
        case .html: return "servers send a page for a missing file, so download it again from the right address"
        case .gzip: return "it is still compressed, so unpack it (gunzip), or download it again without compression"
        case .zip: return "unpack it, and put the file that it holds in its place"
        default: break
        }
        let start = file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex
        let name = file[..<(file[start...].lastIndex(of: ".") ?? file.endIndex)]
        // A film and a sound may be in the same format.
        let isSound = format == .mp4 && expected.contains(where: { [.mp3, .wav, .flac, .ogg].contains($0) })
        let rename = (isSound ? "m4a" : format.fileExtension).map {
            "rename it to \(quoted("\(name).\($0)")), on disk and here"
        }
        let exported = FileFormat.allCases.filter(expected.contains).map(\.rawValue).joined(separator: " or ")
        return [rename, exported.isEmpty ? "name another file" : "export it as \(exported)"].compactMap(\.self)
            .joined(separator: ", or ")
    }
}
