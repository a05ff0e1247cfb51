import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The files and folders that may be meant by a path that does not exist.
///
/// The name of a file is near if it differs only in case, in the characters between words, and in what programs and
/// users add to the name of a copy; or if there is a slip in it, and the folder is the same. Of several, that with the
/// longest common end of its path is meant, and of these the one with the shortest path.
struct NearestFile {
    private let candidates: [(path: String, key: String)]

    init(_ files: [String]) {
        candidates = (files + Set(files.flatMap(\.folders)).sorted()).prefix(5000).map {
            ($0, Self.key(of: Self.name(of: $0)))
        }
    }

    /// Returns the path that was meant by `path`, which ends in "/" for a folder; nil if none is near.
    func path(meantBy path: String) -> String? {
        let name = Self.name(of: path)
        // No file system keeps a longer name, even without its percent-encoding.
        guard name.count > 1, name.utf8.count <= 255 * 3 else { return nil }
        let key = Self.key(of: name)
        let near = candidates.filter { $0.key == key || !key.contains(".") && $0.key.hasPrefix("\(key).") }
        let nearest = near.map(\.path).max { first, second in
            let shared = [first, second].map { Self.suffixLength(of: $0, and: path) }
            return (shared[0], second.count, second) < (shared[1], first.count, first)
        }
        if let nearest { return nearest }
        let folder = path.dropLast(name.count)
        let neighbours = candidates.map(\.path).filter { $0.dropLast(Self.name(of: $0).count) == folder }
        return suggestion(for: name, among: neighbours.map(Self.name)).map { folder + $0 }
    }

    /// Returns the last name of a path, with the slash after the name of a folder.
    private static func name(of path: String) -> String {
        String(path.split(separator: "/").last ?? "") + (path.hasSuffix("/") ? "/" : "")
    }

    /// Returns the number of characters at the ends of two paths that are equal; the slash before a path counts, too.
    private static func suffixLength(of first: String, and second: String) -> Int {
        zip("/\(first)".reversed(), "/\(second)".reversed()).prefix { $0 == $1 }.count
    }

    /// Returns the text that is equal for near names.
    private static func key(of name: String) -> String {
        let name = String(name.prefix { !"?#".contains($0) })
        let plain = name.percentDecoded ?? name
        let bare = AdviceTable.current.additions?.replaced(in: plain, with: "") ?? plain
        return bare.composed.lowercased().filter { !" _-+".contains($0) }.replacingOccurrences(
            of: ".jpeg",
            with: ".jpg"
        )
    }
}

extension String {
    /// The folders on a path, outermost first, each with "/" at its end.
    package var folders: [String] { indices.filter { self[$0] == "/" }.map { String(self[...$0]) } }
}
