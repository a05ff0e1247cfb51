import Foundation
import LocalSubstitutionCache

/// Finds a free path for the file of each URL: `host/path`, in a form that every file system accepts.
///
/// A path that is taken is never returned, not even in another case, because on many systems names that differ only in
/// case are the same file. Two Unicode spellings of the same letter also count as one name.
struct FileNames {
    /// The files and folders that are taken, keyed by their path as file systems compare it.
    private var taken: [String: Taken] = [:]
    /// The next number to append to a file path that is taken, keyed by that path.
    private var numbers: [String: Int] = [:]

    private struct Taken {
        let kind: Kind
        /// The path as it was spelled when it was taken.
        let path: String
    }

    private enum Kind {
        case file
        case folder
    }

    /// The maximum length of a name and of a path, in bytes; most systems allow 255 and 1024.
    private static let (longestName, longestPath) = (120, 400)
    /// The maximum number of components in a path; a manifest allows at most 100.
    private static let deepest = 40

    /// Marks everything in a folder as taken.
    init(in folder: URL) {
        let found = FileManager.default.enumerator(atPath: folder.path)
        while let path = found?.nextObject() as? String {
            let isFolder = found?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            taken[Self.folded(path)] = Taken(kind: isFolder ? .folder : .file, path: path)
        }
    }

    /// True if a file or folder has this path already.
    func isTaken(_ path: String) -> Bool { taken[Self.folded(path)] != nil }

    /// Marks a path that the user chose as taken, together with its folders.
    mutating func markTaken(_ path: String) {
        let parts = path.split(separator: "/")
        for count in 1..<max(1, parts.count) { markTaken(parts[..<count].joined(separator: "/"), as: .folder) }
        markTaken(path, as: .file)
    }

    private mutating func markTaken(_ path: String, as kind: Kind) {
        if taken[Self.folded(path)]?.kind != kind { taken[Self.folded(path)] = Taken(kind: kind, path: path) }
    }

    /// Returns a path for the file of a URL, and marks it as taken.
    ///
    /// - Parameters:
    ///   - key: The URL.
    ///   - type: The media type that the server sent; provides an extension for a name without one.
    ///   - isUsable: Returns true if the existing file at a path may be used, because it has the same bytes.
    /// - Returns: A path below the folder: a free one, or that of a usable file.
    mutating func path(for key: URLPattern, _ type: MediaType?, orExisting isUsable: (String) -> Bool) -> String {
        let wanted = Self.path(for: key, type)
        var folder = ""
        let parts = wanted.split(separator: "/").map(String.init)
        for part in parts.dropLast() { folder = free(folder + part, as: .folder) + "/" }
        let first = folder + (parts.last ?? "file")
        if let found = taken[Self.folded(first)], found.kind == .file, isUsable(found.path) { return found.path }
        return free(first, as: .file)
    }

    /// Returns the path, or the same path with a number, whichever is free, and marks it as taken.
    ///
    /// For a folder, an existing folder also counts as free. Its spelling is kept, because with a different case it
    /// would be a second folder on some systems.
    private mutating func free(_ path: String, as kind: Kind) -> String {
        var candidate = path
        // Pages load thousands of URLs that differ only in their queries, so the numbers of files continue from the
        // last one. The numbers of folders start again, because an existing folder may be used again.
        var number = kind == .file ? numbers[path, default: 2] : 2
        defer { if kind == .file { numbers[path] = number } }
        while let found = taken[Self.folded(candidate)] {
            if kind == .folder, found.kind == .folder { return found.path }
            let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            let dot = kind == .file ? path[start...].dropFirst().lastIndex(of: ".") ?? path.endIndex : path.endIndex
            candidate = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        markTaken(candidate, as: kind)
        return candidate
    }

    /// Returns a path in the form that file systems compare if they ignore case and Unicode normalisation.
    private static func folded(_ path: String) -> String { path.precomposedStringWithCanonicalMapping.lowercased() }

    // MARK: - From a URL

    /// Returns the path that a URL gives to its file, whether that path is taken or not.
    static func path(for key: URLPattern, _ type: MediaType?) -> String {
        // The path may contain another URL with a password, and the names of files are printed.
        let address = UserInformation.removed(from: "//" + key.address.authority + key.address.path)
        var names = address.split(separator: "/").map(String.init).map(name)
        if address.hasSuffix("/") { names.append("index") }
        let last = names.removeLast()
        names.append(last + ending(of: last, type))
        // A long path is reduced to the server's name and one short name. That name keeps the extension, and contains a
        // hash that distinguishes it from other paths.
        if names.count > deepest || names.joined(separator: "/").utf8.count > longestPath {
            names = [names[0], shortened(names.joined(separator: "/"))]
        }
        return names.joined(separator: "/")
    }

    /// Returns the extension to append to a name, with its dot; empty if none is needed, or none is known.
    ///
    /// None is needed if the name has an extension with a known media type.
    private static func ending(of name: String, _ type: MediaType?) -> String {
        guard MediaType(fileName: name) == nil, let known = type?.fileExtension else { return "" }
        return ".\(known)"
    }

    /// Returns one component of a path in a form that every file system accepts.
    private static func name(_ part: String) -> String {
        let text = (part.removingPercentEncoding ?? part).precomposedStringWithCanonicalMapping
        // Replace what Windows or shells refuse, what is invisible, and what would separate components.
        let forbidden: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|"]
        var name = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { forbidden.contains($0) || $0.value < 0x20 || isInvisible($0) ? "_" : $0 }
            )
        )
        // A folder's entry leaves out names that begin with ".", and "~" means a home directory. Windows drops a "." or
        // a space at the end, and reserves the names of its devices.
        let scalars = name.unicodeScalars
        if let first = scalars.first, [".", "~", " "].contains(first) { name = "_" + String(scalars.dropFirst()) }
        if let last = name.unicodeScalars.last, [".", " "].contains(last) {
            name = String(name.unicodeScalars.dropLast()) + "_"
        }
        if devices.contains(name.prefix { $0 != "." }.lowercased()) { name = "_" + name }
        // A combining mark at either end would form one character with the "/" beside it.
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

    /// Returns the beginning of a long name, a hash that distinguishes it from other names, and its extension.
    private static func shortened(_ name: String) -> String {
        var hash = FNV1a()
        hash.combine(Data(name.utf8))
        let file = name.split(separator: "/").last.map(String.init) ?? name
        let ending = (file as NSString).pathExtension
        let head = String(file.prefix { $0 != "." }.unicodeScalars.prefix(24).map(Character.init))
        return "\(head)-\(hash)" + (ending.isEmpty || ending.utf8.count > 12 ? "" : ".\(ending)")
    }
}
