import Foundation
import LocalSubstitutionCache

/// Finds a name for the file of each URL: `host/path`, as every file system takes it, and free.
///
/// A name that is taken is never given, also not in another case: what differs in case alone is one file on many
/// systems. Two spellings of a letter are one name, too.
struct FileNames {
    /// What there is, by its path as file systems compare it.
    private var taken: [String: Taken] = [:]
    /// The number that was given last to a path that was taken.
    private var numbers: [String: Int] = [:]

    private struct Taken {
        let kind: Kind
        /// As it is spelled there.
        let path: String
    }

    private enum Kind {
        case file
        case folder
    }

    /// The longest name and the longest path that are given, in bytes; most systems take 255 and 1024.
    private static let (longestName, longestPath) = (120, 400)
    /// The most parts of a path that are given; a manifest takes no more than 100.
    private static let deepest = 40

    /// Takes what lies in a folder as taken.
    init(in folder: URL) {
        let found = FileManager.default.enumerator(atPath: folder.path)
        while let path = found?.nextObject() as? String {
            let isFolder = found?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            taken[Self.folded(path)] = Taken(kind: isFolder ? .folder : .file, path: path)
        }
    }

    /// Whether something lies at a path.
    func isTaken(_ path: String) -> Bool { taken[Self.folded(path)] != nil }

    /// Takes a path that somebody has chosen.
    mutating func take(_ path: String) {
        let parts = path.split(separator: "/")
        for count in 1..<max(1, parts.count) { take(parts[..<count].joined(separator: "/"), as: .folder) }
        take(path, as: .file)
    }

    private mutating func take(_ path: String, as kind: Kind) {
        if taken[Self.folded(path)]?.kind != kind { taken[Self.folded(path)] = Taken(kind: kind, path: path) }
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
        if let found = taken[Self.folded(first)], found.kind == .file, isUsable(found.path) { return found.path }
        return free(first, as: .file)
    }

    /// The path, or the same with a number, that is free, or a folder where one is wanted; it is taken then.
    ///
    /// A folder that is there keeps its spelling: in another case it would be a second one on some systems.
    private mutating func free(_ path: String, as kind: Kind) -> String {
        var candidate = path
        // Pages load thousands of URLs that differ in their queries only. A folder may be used again.
        var number = kind == .file ? numbers[path, default: 2] : 2
        defer { if kind == .file { numbers[path] = number } }
        while let found = taken[Self.folded(candidate)] {
            if kind == .folder, found.kind == .folder { return found.path }
            let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            let dot = kind == .file ? path[start...].dropFirst().lastIndex(of: ".") ?? path.endIndex : path.endIndex
            candidate = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        take(candidate, as: kind)
        return candidate
    }

    /// As file systems compare names that know no case and one form of each letter.
    private static func folded(_ path: String) -> String { path.precomposedStringWithCanonicalMapping.lowercased() }

    // MARK: - From a URL

    /// What a file is called after its URL, whether that is taken or not.
    static func path(for key: URLPattern, _ type: MediaType?) -> String {
        // A URL in the path may hold a password, and names of files are told.
        let address = UserInformation.removed(from: "//" + key.address.authority + key.address.path)
        var names = address.split(separator: "/").map(String.init).map(name)
        if address.hasSuffix("/") { names.append("index") }
        let last = names.removeLast()
        names.append(last + ending(of: last, type))
        // Long paths keep server and ending, and are told apart by what else there was.
        if names.count > deepest || names.joined(separator: "/").utf8.count > longestPath {
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
        // Names that begin with "." are no part of a folder's entry, "~" is somebody's home; Windows drops a "." or a
        // space at the end, and has devices of these names.
        let scalars = name.unicodeScalars
        if let first = scalars.first, [".", "~", " "].contains(first) { name = "_" + String(scalars.dropFirst()) }
        if let last = name.unicodeScalars.last, [".", " "].contains(last) {
            name = String(name.unicodeScalars.dropLast()) + "_"
        }
        if devices.contains(name.prefix { $0 != "." }.lowercased()) { name = "_" + name }
        // A combining mark would be one character with the "/" beside it.
        if ("/" + name).first != "/" { name = "_" + name }
        if (name + "/").last != "/" { name += "_" }
        if name.utf8.count > longestName { name = shortened(name) }
        return name.isEmpty ? "_" : name
    }

    private static let devices = Set(
        ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] }
    )

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
