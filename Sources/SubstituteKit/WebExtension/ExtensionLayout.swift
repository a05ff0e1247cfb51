import Foundation
import LocalSubstitutionCache

/// Where the copies of files lie in a web extension.
///
/// A copy lies at its URL's host and path, so that what a stylesheet or a script names relative to itself is found
/// there, too. Where a file lies there already, as for two queries of one path, or for `A` and `a` on a disk to which
/// they are the same, it lies in the same folder under another name. Where a file lies at the place of the folder, the
/// copy goes to the same place in the next of several trees. ``RootCopies`` finds what lies at the extension's root,
/// too.
struct ExtensionLayout {
    /// The folder of all copies.
    static let root = "files"

    /// Path → the file that is copied there.
    private(set) var copies: [String: Substitution] = [:]
    /// Path → the file that is copied there, at the root.
    private(set) var rootCopies: [String: Substitution] = [:]
    /// Path in small letters → the real path of the file there, "" for a folder.
    private var taken: [String: String] = [:]
    private var places: [Address: String] = [:]
    /// Path in small letters → the number of the next file that is to lie there.
    private var numbers: [String: Int] = [:]

    /// A copy, and the URL at which it answers.
    struct Copy {
        let authority: String
        /// Percent-encoded.
        let path: String
        let place: String
        let substitution: Substitution
    }

    /// Every URL's copy; those of several URLs may lie in one place.
    var all: [Copy] {
        places.compactMap { address, place in
            copies[place].map { Copy(authority: address.authority, path: address.path, place: place, substitution: $0) }
        }
        .sorted { ($0.authority, $0.path, $0.place) < ($1.authority, $1.path, $1.place) }
    }

    private struct Address: Hashable {
        let authority: String
        let path: String
        let file: String
        let type: String
    }

    /// Chooses a place for the copy that answers at a URL.
    mutating func place(_ substitution: Substitution, authority: String, path: String) -> String {
        let address = Address(
            authority: authority,
            path: path,
            file: substitution.realPath,
            type: substitution.mediaType.canonical.essence
        )
        if let place = places[address] { return place }
        let place = newPlace(substitution, authority, path)
        places[address] = place
        copies[place] = substitution
        return place
    }

    /// Takes a place at the extension's root, if that can be: its own files lie there, and Chromium refuses names that
    /// begin with "_".
    mutating func placeAtRoot(_ substitution: Substitution, _ path: String) {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let first = names.first, let last = names.last, names.allSatisfy(Self.isPortable),
            // Patterns of what pages may load are compared with what is percent-encoded.
            first == WebExtension.encoded(first), !first.hasPrefix("_"), !Self.ownNames.contains(first.lowercased()),
            path.utf8.count <= 600,
            Self.suffix(for: substitution, in: last).isEmpty,
            names.count == 1 || isFree(names.dropLast().joined(separator: "/")), take(path, for: substitution)
        else { return }
        rootCopies[path] = substitution
    }

    /// What pages may load, as patterns of paths.
    var patterns: [String] {
        let tops = rootCopies.keys.map { path in path.firstIndex(of: "/").map { path[..<$0] + "/*" } ?? path[...] }
        return ["\(Self.root)/*"] + Set(tops.map(String.init)).sorted()
    }

    /// The names at the extension's root that are taken.
    private static let ownNames = Set(
        ([root] + WebExtension.fileNames + OutputFolder.reservedNames).map { $0.lowercased() }
    )

    private mutating func newPlace(_ substitution: Substitution, _ authority: String, _ path: String) -> String {
        let file = path.hasSuffix("/") ? path + "index.html" : path
        var folders = file.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.name)
        folders.insert(authority.replacingOccurrences(of: ":", with: "_"), at: 0)
        var name = folders.removeLast()
        if folders.joined().utf8.count + name.utf8.count > 600 {
            (folders, name) = (["~long"], Self.replacement(for: path))
        }
        let suffix = Self.suffix(for: substitution, in: name)
        for tree in 1... {
            let folder = ([Self.root] + (tree == 1 ? [] : ["~\(tree)"]) + folders).joined(separator: "/")
            guard isFree(folder) else { continue }
            let key = Self.key("\(folder)/\(name)\(suffix)")
            while true {
                let number = numbers[key, default: 1]
                let place = "\(folder)/\(Self.numbered(name, number))\(suffix)"
                if take(place, for: substitution) { return place }
                numbers[key] = number + 1
            }
        }
        return ""
    }

    /// `name.css` → `name~2.css`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        return "\(name[..<dot])~\(number)\(name[dot...])"
    }

    /// More letters are the same to this than to any disk.
    private static func key(_ place: String) -> String { place.uppercased().lowercased() }

    /// Whether no file lies where this folder, or one around it, is to be.
    private func isFree(_ folder: String) -> Bool {
        Self.foldersUpToTop(Self.key(folder)[...]).allSatisfy { taken[$0, default: ""].isEmpty }
    }

    private static func foldersUpToTop(_ folder: Substring) -> [String] {
        var folders = [String(folder)]
        var rest = folder
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            folders.append(String(rest))
        }
        return folders
    }

    /// Takes a place and the folders on the way to it, if nothing else lies there.
    private mutating func take(_ place: String, for substitution: Substitution) -> Bool {
        let key = Self.key(place)
        if let other = taken[key] { return other == substitution.realPath && copies[place] != nil }
        for folder in Self.foldersUpToTop(key[...]).dropFirst() { taken[folder] = "" }
        taken[key] = substitution.realPath
        return true
    }

    /// What must follow the name, so that a browser finds the media type, which it reads off the extension.
    private static func suffix(for substitution: Substitution, in name: String) -> String {
        let type = substitution.mediaType
        let read = MediaType(fileName: name)
        // Servers that do not know a font send it so, and browsers take it by its bytes.
        if read != nil, type.isUnknown { return "" }
        if read?.isSame(as: type) ?? (type.fileExtension == nil) { return "" }
        return ".\(type.fileExtension ?? "bin")"
    }

    /// What a part of a path is called on disks: the same, or where some take no such name another that is always the
    /// same, so that what lies in one folder stays in one.
    private static func name(of part: Substring) -> String {
        if part.isEmpty { return replacement(for: part) }
        guard let name = part.removingPercentEncoding, isPortable(name) else { return replacement(for: part) }
        return name
    }

    private static func replacement(for text: some StringProtocol) -> String {
        var hash = FNV1a()
        hash.combine(Data(text.utf8))
        return "~\(hash)"
    }

    /// Whether disks of every system take a name, and keep it as it is.
    private static func isPortable(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.lowercased()
        let devices = ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
        return !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".")
            && !name.hasSuffix(".") && !name.hasSuffix(" ") && !devices.contains(stem)
            && name.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0.value != 0x7F && !"/\\:*?\"<>|".unicodeScalars.contains($0)
            }
            // As characters, other spellings would be equal.
            && name.unicodeScalars.elementsEqual(name.precomposedStringWithCanonicalMapping.unicodeScalars)
    }
}
