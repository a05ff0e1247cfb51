import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The paths of the file copies in a web extension.
///
/// The path of a copy contains the host and path of its URL, so that relative references in stylesheets and scripts
/// still resolve. If a different file already has this path, the copy gets a different name in the same folder. This
/// happens for two URLs that differ only in their queries. It also happens for the names `A` and `a`, because a disk
/// may be case-insensitive.
///
/// A copy may need a folder at a path that a file already has. The host folder of this copy is then in `files/~2`
/// instead of in `files`. ``RootCopies`` finds the files that are also needed at the extension's root.
struct ExtensionLayout {
    /// The folder of all copies.
    static let root = "files"

    /// The copied files, keyed by path.
    private(set) var copies: [String: Substitution] = [:]
    /// The files that are also copied to the root, keyed by path.
    private(set) var rootCopies: [String: Substitution] = [:]
    /// The real path of each copied file, or "" for a folder, keyed by the copy's path after case folding.
    private var taken: [String: String] = [:]
    private var places: [Address: String] = [:]
    /// The number for the next copy with the same preferred path, keyed by this path after case folding.
    private var numbers: [String: Int] = [:]

    /// A copy, with the host and path of a URL that it answers.
    struct Copy {
        let authority: String
        /// The URL's path, percent-encoded.
        let path: String
        let place: String
        let substitution: Substitution
    }

    /// The copies for all URLs, sorted by host, path and place.
    ///
    /// Copies for two URLs that differ only in their queries have the same `path`.
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

    /// Chooses, reserves and returns the path of the copy that answers a URL.
    mutating func assignPath(_ substitution: Substitution, authority: String, path: String) -> String {
        let address = Address(
            authority: authority,
            path: path,
            file: substitution.realPath,
            type: substitution.type.canonical.essence
        )
        if let place = places[address] { return place }
        let place = newPlace(substitution, authority, path)
        places[address] = place
        copies[place] = substitution
        return place
    }

    /// Adds a copy at the extension's root if the path is free and allowed.
    ///
    /// The names of the extension's own files are not allowed, because these files are at the root. Chromium rejects
    /// names that begin with "_".
    mutating func placeAtRoot(_ substitution: Substitution, _ path: String) {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let first = names.first, let last = names.last, names.allSatisfy(Self.isPortable),
            // Do not allow a name that needs percent-encoding. Browsers compare the extension's patterns
            // (`web_accessible_resources`) with percent-encoded paths.
            first == WebExtension.encoded(first), !first.hasPrefix("_"), !Self.ownNames.contains(first.lowercased()),
            path.utf8.count <= 600,
            Self.suffix(for: substitution, in: last).isEmpty,
            names.count == 1 || isFree(names.dropLast().joined(separator: "/")), reserve(path, for: substitution)
        else { return }
        rootCopies[path] = substitution
    }

    /// The path patterns of the files that pages may load (web-accessible resources).
    var patterns: [String] {
        let tops = rootCopies.keys.map { path in path.firstIndex(of: "/").map { path[..<$0] + "/*" } ?? path[...] }
        return ["\(Self.root)/*"] + Set(tops.map(String.init)).sorted()
    }

    /// The lowercase names that are reserved at the extension's root.
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
        let trees = (1...).lazy.map { tree in
            ([Self.root] + (tree == 1 ? [] : ["~\(tree)"]) + folders).joined(separator: "/")
        }
        let folder = trees.first { isFree($0) } ?? Self.root
        let key = Self.key("\(folder)/\(name)\(suffix)")
        while true {
            let number = numbers[key, default: 1]
            let place = "\(folder)/\(Self.numbered(name, number))\(suffix)"
            if reserve(place, for: substitution) { return place }
            numbers[key] = number + 1
        }
    }

    /// Returns the name with a number: `name.css` becomes `name~2.css`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        return "\(name[..<dot])~\(number)\(name[dot...])"
    }

    /// Returns the path after case folding.
    ///
    /// All paths that a case-insensitive disk treats as equal have the same result.
    private static func key(_ place: String) -> String { place.uppercased().lowercased() }

    /// Returns true if no file has the path of `folder`, or the path of one of its parent folders.
    private func isFree(_ folder: String) -> Bool {
        let key = Self.key(folder)
        return (key.foldersAbove + [key]).allSatisfy { taken[$0, default: ""].isEmpty }
    }

    /// Reserves a path and its parent folders; returns false if the path belongs to a different file.
    private mutating func reserve(_ place: String, for substitution: Substitution) -> Bool {
        let key = Self.key(place)
        if let other = taken[key] { return other == substitution.realPath && copies[place] != nil }
        for folder in key.foldersAbove { taken[folder] = "" }
        taken[key] = substitution.realPath
        return true
    }

    /// Returns the extension to append to a name; empty if the name needs no extension.
    ///
    /// A browser infers the media type from the extension.
    private static func suffix(for substitution: Substitution, in name: String) -> String {
        let type = substitution.type
        let read = MediaType(fileName: name)
        // Some servers send a font as `application/octet-stream`. Browsers recognise a font by its bytes, so the name
        // needs no extension for that type.
        if read != nil, type.isUnknown { return "" }
        if read?.isSame(as: type) ?? (type.fileExtension == nil) { return "" }
        return ".\(type.fileExtension ?? "bin")"
    }

    /// Returns the file name for a component of a URL's path.
    ///
    /// The name is the decoded component, or a replacement if a file system might reject it. The replacement depends
    /// only on the component. The files of one folder therefore stay in one folder.
    private static func name(of part: Substring) -> String {
        guard let name = part.percentDecoded, isPortable(name) else { return replacement(for: part) }
        return name
    }

    private static func replacement(for text: some StringProtocol) -> String { "~\(FNV1a(of: text))" }

    /// Returns true if every file system accepts the name and keeps it unchanged.
    private static func isPortable(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && !name.hasSuffix(".") && !name.hasSuffix(" ")
            && !FileNames.isDevice(name) && !name.unicodeScalars.contains(where: FileNames.isForbidden)
            // Compare Unicode scalars. A comparison of characters treats all normalisation forms of a name as equal.
            && name.unicodeScalars.elementsEqual(name.precomposedStringWithCanonicalMapping.unicodeScalars)
    }
}
