import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Finds a free path for the file of each URL: the URL's host and path, in a form that every file system accepts.
///
/// Two paths that differ only in case count as the same path, because many systems treat them as the same file. Two
/// Unicode spellings of the same letter also count as the same name.
struct FileNames {
    /// The existing and the planned files and folders, with their paths in the original spelling.
    ///
    /// They are keyed by the result of `folded(_:)` for their path.
    private var taken: [String: (path: String, isFolder: Bool)] = [:]
    /// The next number to append to the name of a file whose path is taken, keyed by its folded path.
    private var numbers: [String: Int] = [:]

    /// The maximum length of a name and of a path, in bytes; most systems allow 255 and 1024.
    private static let (longestName, longestPath) = (120, 400)
    /// The maximum number of components in a path that the tool chooses; a manifest allows up to 101.
    private static let deepest = 40

    /// Creates names for an empty folder.
    init() {}

    /// Marks the paths of all files and folders in a folder as taken.
    init(in folder: URL) {
        let found = FileManager.default.enumerator(atPath: folder.path)
        while let path = found?.nextObject() as? String {
            let isFolder = found?.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            taken[Self.folded(path)] = (path, isFolder)
        }
    }

    /// True if a file or folder has this path already.
    func isTaken(_ path: String) -> Bool { taken[Self.folded(path)] != nil }

    /// Marks the path of a file and the paths of its parent folders as taken.
    mutating func markTaken(_ path: String) {
        for folder in path.foldersAbove { markTaken(folder, isFolder: true) }
        markTaken(path, isFolder: false)
    }

    private mutating func markTaken(_ path: String, isFolder: Bool) {
        if taken[Self.folded(path)]?.isFolder != isFolder { taken[Self.folded(path)] = (path, isFolder) }
    }

    /// Returns a path for a file, and marks the path as taken.
    ///
    /// - Parameters:
    ///   - wanted: The preferred path.
    ///   - isUsable: Returns true if the existing file at a path has the resource's bytes, so that its path can be used
    ///     again.
    /// - Returns: A free path below the folder, or the path of an existing file for which `isUsable` returns true.
    mutating func path(_ wanted: String, orExisting isUsable: (String) -> Bool) -> String {
        var folder = ""
        let parts = wanted.split(separator: "/").map(String.init)
        for part in parts.dropLast() { folder = free(folder + part, isFolder: true) + "/" }
        let first = folder + (parts.last ?? "file")
        if let found = taken[Self.folded(first)], !found.isFolder, isUsable(found.path) { return found.path }
        return free(first, isFolder: false)
    }

    /// Returns the path if it is free, or else the path with a number; marks the result as taken.
    ///
    /// For a folder, the path of an existing folder also counts as free. The function then returns the
    /// existing spelling, because a spelling in a different case would create a second folder on some systems.
    private mutating func free(_ path: String, isFolder: Bool) -> String {
        var candidate = path
        // Pages load thousands of URLs that differ only in their queries, so the search for a free file name starts at
        // the first number that has not been tried. The search for a folder starts at 2, because an existing folder can
        // be used again.
        var number = isFolder ? 2 : numbers[Self.folded(path), default: 2]
        defer { if !isFolder { numbers[Self.folded(path)] = number } }
        while let found = taken[Self.folded(candidate)] {
            if isFolder, found.isFolder { return found.path }
            let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
            let dot = isFolder ? path.endIndex : path[start...].dropFirst().lastIndex(of: ".") ?? path.endIndex
            candidate = "\(path[..<dot])-\(number)\(path[dot...])"
            number += 1
        }
        markTaken(candidate, isFolder: isFolder)
        return candidate
    }

    /// Returns the same text for all paths that a file system without case sensitivity treats as equal.
    private static func folded(_ path: String) -> String { path.composed.lowercased() }

    // MARK: - From a URL

    /// Returns the preferred path for the file of a URL; this path may be taken.
    static func path(for key: URLPattern, _ type: MediaType?) -> String {
        path(for: key.address.authority + key.address.path) { ending(of: $0, type) }
    }

    /// Returns the preferred path for a file, in a form that every file system accepts.
    ///
    /// - Parameters:
    ///   - address: A host and a path, percent-encoded.
    ///   - ending: Returns the text to append to a name.
    /// - Returns: The path.
    static func path(for address: String, ending: (String) -> String) -> String {
        // The path may contain a second URL with a password. Remove the password, because the names of files are
        // printed.
        let address = withoutUserInformation("//" + address).replacingOccurrences(of: "//…@", with: "//")
        var names = address.split(separator: "/").map(String.init).map(name)
        if address.hasSuffix("/") { names.append("index") }
        let last = names.removeLast()
        names.append(last + ending(last))
        // A long path is reduced to the server's name and one short name. The short name ends with the file's
        // extension, and contains a hash of the whole path.
        if names.count > deepest || names.joined(separator: "/").utf8.count > longestPath {
            names = [names[0], shortened(names.joined(separator: "/"))]
        }
        return names.joined(separator: "/")
    }

    /// Returns the extension to append to a name, with its dot.
    ///
    /// Empty if the name already has the extension of a known media type, or if no extension is known for `type`.
    private static func ending(of name: String, _ type: MediaType?) -> String {
        guard MediaType(fileName: name) == nil, let known = type?.fileExtension else { return "" }
        return ".\(known)"
    }

    /// Returns a name for a component of a URL's path, in a form that every file system accepts.
    private static func name(_ part: String) -> String {
        let text = (part.percentDecoded ?? part).composed
        var name = String(
            String.UnicodeScalarView(text.unicodeScalars.map { isForbidden($0) || isInvisible($0) ? "_" : $0 })
        )
        // An entry for a whole folder ignores files whose names begin with ".". A "~" means a home directory. Windows
        // drops a "." or a space at the end, and reserves the names of its devices.
        let scalars = name.unicodeScalars
        if let first = scalars.first, [".", "~", " "].contains(first) { name = "_" + String(scalars.dropFirst()) }
        if let last = name.unicodeScalars.last, [".", " "].contains(last) {
            name = String(name.unicodeScalars.dropLast()) + "_"
        }
        if isDevice(name) { name = "_" + name }
        // A combining mark at the start would form one character with the "/" before it. A character such as U+0D4E at
        // the end would form one character with the "/" after it (UAX #29, rule GB9b).
        if ("/" + name).first != "/" { name = "_" + name }
        if (name + "/").last != "/" { name += "_" }
        if name.utf8.count > longestName { name = shortened(name) }
        return name.isEmpty ? "_" : name
    }

    /// True for a name that Windows reserves for a device, with any extension.
    private static func isDevice(_ name: String) -> Bool { devices.contains(name.prefix { $0 != "." }.lowercased()) }

    private static let devices = Set(
        ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    )

    /// True for a character that Windows or a shell does not accept in a name, and for the separators "/" and "\".
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || scalar.value == 0x7F || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        case .spaceSeparator: scalar != " "
        default: false
        }
    }

    /// Returns a short name: the beginning of the long name, a hash of the long name, and the extension.
    private static func shortened(_ name: String) -> String {
        let file = name.split(separator: "/").last.map(String.init) ?? name
        let ending = (file as NSString).pathExtension
        let head = String(file.prefix { $0 != "." }.unicodeScalars.prefix(24).map(Character.init))
        return "\(head)-\(FNV1a(of: name))" + (ending.isEmpty || ending.utf8.count > 12 ? "" : ".\(ending)")
    }
}

extension String {
    /// The paths of the folders above a path, from the top.
    var foldersAbove: [String] { indices.filter { self[$0] == "/" }.map { String(self[..<$0]) } }
}
