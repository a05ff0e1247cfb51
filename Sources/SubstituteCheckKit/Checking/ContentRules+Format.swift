import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The rule that the first bytes of a file must not contradict its type.
extension ContentRules {
    /// Finds a file whose entry says the wrong type, and which is right itself.
    static func wrongType(_ file: FileSample) -> Fact? {
        guard file.substitution?.entry.type != nil, let format = otherFormat(of: file),
            format.fileExtension != nil, let type = format.usualType
        else { return nil }
        // The field can be removed if the file's extension gives the right type.
        let isNamedRight = MediaType(fileName: file.path).flatMap(FileFormat.expected)?.contains(format) ?? false
        let remedy = isNamedRight ? "remove \"type\", or write" : "write"
        let cause = "\(format.article), but \"type\" says \(file.type.essence)"
        return Fact("\(cause); \(remedy) \"type\": \(quoted(type))")
    }

    /// Finds a file in another format than its type allows, and one whose bytes show no format.
    static func wrongFormat(_ file: FileSample) -> Fact? {
        if let format = otherFormat(of: file) {
            let remedy = remedy(format, file.expected ?? [], file.path)
            return Fact("is \(format.article), but is sent as \(file.type.essence); \(remedy)")
        }
        guard file.format == nil else { return nil }
        guard let expected = file.expected else {
            guard file.type.takesCharset, FileFormat.isBinary(file.head), Encoding.name(of: Data(file.head)) == nil
            else {
                return nil
            }
            let cause = "is not text, but is sent as \(file.type.essence), so it is damaged or something else"
            return Fact("\(cause); export it again")
        }
        if isUnclear(file.head, among: expected) { return nil }
        let names = FileFormat.list(expected, \.article)
        let cause =
            file.firstTag.map { "begins with \(quoted("<\($0)")), so it is HTML or XML, not \(names)" }
            ?? "does not begin like \(names), so it is damaged or something else"
        return Fact("\(cause); export it again")
    }

    /// Returns the format that the first bytes show, if the type does not allow it.
    private static func otherFormat(of file: FileSample) -> FileFormat? {
        guard let format = file.format else { return nil }
        if let expected = file.expected { return expected.contains(format) ? nil : format }
        // A text of a type without known formats may begin like another format.
        let isBinary = file.type.isText && !file.isWide && FileFormat.isBinary(file.head)
        return file.isStrayPage || isBinary ? format : nil
    }

    /// True if a file may have an expected format, although its first bytes are not those of the format.
    ///
    /// Other bytes may precede some formats, and an SVG may begin with a long comment, or be encoded in UTF-16.
    static func isUnclear(_ head: [UInt8], among expected: Set<FileFormat>) -> Bool {
        let (isBinary, start) = (FileFormat.isBinary(head), head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        let isTag = head.dropFirst(start).first { $0 > 0x20 } == UInt8(ascii: "<")
        return expected.allSatisfy(\.isLoose) && isBinary
            || expected == [.svg] && (isTag || isBinary && head.contains(UInt8(ascii: "<")))
    }

    private static func remedy(_ format: FileFormat, _ expected: Set<FileFormat>, _ file: String) -> String {
        if let remedy = format.remedy { return remedy }
        let start = file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex
        let name = file[..<(file[start...].lastIndex(of: ".") ?? file.endIndex)]
        let rename = format.fileExtension.map {
            "rename it to \(quoted("\(name).\($0)")), on disk and here"
        }
        let exported = FileFormat.list(expected, \.name)
        return [rename, exported.isEmpty ? "name another file" : "export it as \(exported)"].compactMap(\.self)
            .joined(separator: ", or ")
    }
}
