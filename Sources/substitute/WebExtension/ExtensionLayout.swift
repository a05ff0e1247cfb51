import Foundation
import LocalSubstitutionCache

/// Where the copies of files lie in a web extension.
///
/// A copy lies at its URL's host and path, so that what a stylesheet or a script names relative to itself is found
/// there, too. Where a file lies there already, as for two queries of one path, for `A` and `a` on a disk to which
/// they are the same, or for a path that is also a folder's, the copy goes to the same place in the next of several
/// trees.
struct ExtensionLayout {
    /// The folder of all copies.
    static let root = "files"

    /// Path → the file that is copied there.
    private(set) var copies: [String: Substitution] = [:]
    /// Path in small letters → the real path of the file there, "" for a folder.
    private var taken: [String: String] = [:]
    private var places: [Address: String] = [:]
    private var odd = 0

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
            type: substitution.mediaType.essence
        )
        if let place = places[address] { return place }
        let place = newPlace(substitution, authority, path)
        places[address] = place
        copies[place] = substitution
        return place
    }

    private mutating func newPlace(_ substitution: Substitution, _ authority: String, _ path: String) -> String {
        let suffix = Self.suffix(for: substitution, in: path)
        guard let parts = Self.parts(authority, path) else {
            odd += 1
            let own = substitution.mediaType.fileExtension.map { ".\($0)" } ?? ""
            return "\(Self.root)/~other/\(odd)\(suffix.isEmpty ? own : suffix)"
        }
        for tree in 1... {
            let place = ([Self.root] + (tree == 1 ? [] : ["~\(tree)"]) + parts).joined(separator: "/") + suffix
            if take(place, for: substitution) { return place }
        }
        return ""
    }

    /// Takes a place and the folders on the way to it, if all of them are free.
    private mutating func take(_ place: String, for substitution: Substitution) -> Bool {
        // More letters are the same to this than to any disk.
        let key = place.uppercased().lowercased()
        if let other = taken[key] { return other == substitution.realPath && copies[place] != nil }
        var folders: [String] = []
        var folder = key[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            folders.append(String(folder))
        }
        guard folders.allSatisfy({ taken[$0, default: ""].isEmpty }) else { return false }
        for folder in folders { taken[folder] = "" }
        taken[key] = substitution.realPath
        return true
    }

    /// What must follow the name, so that a browser finds the media type, which it reads off the extension.
    private static func suffix(for substitution: Substitution, in path: String) -> String {
        let type = substitution.mediaType
        let name = path.hasSuffix("/") ? "index.html" : path
        let read = MediaType(fileName: name)
        if read?.essence == type.essence || read == nil && type.fileExtension == nil { return "" }
        return ".\(type.fileExtension ?? "bin")"
    }

    /// The parts of the path of a copy; nil when a disk might not take them.
    private static func parts(_ authority: String, _ path: String) -> [String]? {
        let path = path.hasSuffix("/") ? path + "index.html" : path
        var parts = [authority.replacingOccurrences(of: ":", with: "_")]
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let name = part.removingPercentEncoding else { return nil }
            parts.append(name)
        }
        return parts.allSatisfy(isPortable) && parts.joined().utf8.count < 600 ? parts : nil
    }

    /// Whether disks of every system take a name, and keep it as it is.
    private static func isPortable(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.lowercased()
        let devices = ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
        return !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && !name.hasPrefix("~")
            && !name.hasSuffix(".") && !name.hasSuffix(" ") && !devices.contains(stem)
            && name.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0.value != 0x7F && !"/\\:*?\"<>|".unicodeScalars.contains($0)
            }
            && name == name.precomposedStringWithCanonicalMapping
    }
}
