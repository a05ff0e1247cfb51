import Foundation
import LocalSubstitutionCache

/// Finds a name for the file of each URL: `host/path`, as every file system takes it, and free.
///
/// A name that is taken is never given, also not in another case: what differs in case alone is one file on many
/// systems. Two spellings of a letter are one name, too.
struct FileNames {
    /// What there is, by its path as file systems compare it.
    private var taken: [String: Kind] = [:]

    private enum Kind {
        case file
        case folder
    }

    /// The longest name and the longest path that are given, in bytes; most systems take 255 and 1024.
    private static let (longestName, longestPath) = (120, 400)

    /// Takes what lies in a folder as taken.
    init(in folder: URL) {
        let found = FileManager.default.enumerator(atPath: folder.path)
        while let path = found?.nextObject() as? String {
            let isFolder = found?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            taken[Self.folded(path)] = isFolder ? .folder : .file
        }
    }

    /// Whether something lies at a path.
    func isTaken(_ path: String) -> Bool { taken[Self.folded(path)] != nil }

    /// Takes a path that somebody has chosen.
    mutating func take(_ path: String) {
        let parts = path.split(separator: "/")
        for count in 1..<max(1, parts.count) { taken[Self.folded(parts[..<count].joined(separator: "/"))] = .folder }
        taken[Self.folded(path)] = .file
    }

    /// A free path for the file of a URL, which is taken then.
    ///
    /// - Parameters:
    ///   - key: The URL.
    ///   - type: What its server calls the content; gives an ending to a name without one.
    ///   - isUsable: Whether a file that is there already may be used, because it is the same.
    /// - Returns: A path below the folder.
    mutating func path(for key: URLPattern, _ type: MediaType?, orExisting isUsable: (String) -> Bool) -> String {
        let wanted = Self.path(for: key, type)
        var folder = ""
        let parts = wanted.split(separator: "/").map(String.init)
        for part in parts.dropLast() { folder = free(folder + part, as: .folder) + "/" }
        let first = folder + (parts.last ?? "file")
        let path = taken[Self.folded(first)] == .file && isUsable(first) ? first : free(first, as: .file)
        taken[Self.folded(path)] = .file
        return path
    }

    /// The path, or the same with a number, that is free, or a folder where one is wanted.
    private mutating func free(_ path: String, as kind: Kind) -> String {
        var candidate = path
        var number = 2
        while let found = taken[Self.folded(candidate)], kind == .file || found == .file {
            let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            let dot = kind == .file ? path[start...].dropFirst().lastIndex(of: ".") ?? path.endIndex : path.endIndex
            candidate = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        if kind == .folder { taken[Self.folded(candidate)] = .folder }
        return candidate
    }

    /// As file systems compare names that know no case and one form of each letter.
    private static func folded(_ path: String) -> String { path.precomposedStringWithCanonicalMapping.lowercased() }

    // MARK: - From a URL

    /// What a file is called after its URL, whether that is taken or not.
    static func path(for key: URLPattern, _ type: MediaType?) -> String {
        let (authority, path) = key.address
        var names = ([authority] + path.split(separator: "/").map(String.init)).map(name)
        if path.hasSuffix("/") { names.append("index") }
        let last = names.removeLast()
        names.append(last + ending(of: last, type))
        // Long paths keep server and ending, and are told apart by what else there was.
        if names.joined(separator: "/").utf8.count > longestPath {
            names = [names[0], shortened(names.joined(separator: "/"))]
        }
        return names.joined(separator: "/")
    }

    /// What a name without an ending gets, after which its type would not be known.
    private static func ending(of name: String, _ type: MediaType?) -> String {
        guard MediaType(fileName: name) == nil, let known = type?.fileExtension else { return "" }
        return ".\(known)"
    }

    /// One part of a path, as every file system takes it.
    private static func name(_ part: String) -> String {
        let text = (part.removingPercentEncoding ?? part).precomposedStringWithCanonicalMapping
        // What Windows or shells refuse, what nobody sees, and what would be a path.
        let forbidden: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]
        var name = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { forbidden.contains($0) || $0.value < 0x20 || isInvisible($0) ? "_" : $0 }
            )
        )
        // Names that begin with "." are no part of a folder's entry; Windows drops a "." or a space at the end.
        if name.hasPrefix(".") { name = "_" + name.dropFirst() }
        while let last = name.last, last == "." || last == " " { name = name.dropLast() + "_" }
        if name.first == " " { name = "_" + name.dropFirst() }
        if name.utf8.count > longestName { name = shortened(name) }
        return name.isEmpty ? "_" : name
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        case .spaceSeparator: scalar != " "
        default: false
        }
    }

    /// The beginning of a long name, what tells it from others, and its ending.
    private static func shortened(_ name: String) -> String {
        var hash = FNV1a()
        hash.combine(Data(name.utf8))
        let file = name.split(separator: "/").last.map(String.init) ?? name
        let ending = (file as NSString).pathExtension
        let head = String(file.prefix { $0 != "." }.unicodeScalars.prefix(24).map(Character.init))
        return "\(head)-\(hash)" + (ending.isEmpty || ending.utf8.count > 12 ? "" : ".\(ending)")
    }
}
