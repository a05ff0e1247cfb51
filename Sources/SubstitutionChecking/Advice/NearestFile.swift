import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The file or folder that was probably meant by a path that does not exist.
///
/// A file is as near as its name: first with the same letters, then with the same words, then apart from what programs
/// and users add to the name of a copy, and last with a slip in the same folder. Of several, that with the longest
/// common end of its path is meant, and of these the one with the shortest path.
enum NearestFile {
    /// Returns the path that was meant by `path`, which ends in "/" for a folder; nil if none is near.
    static func path(meantBy path: String, among files: [String]) -> String? {
        let (folder, name) = parts(of: path)
        // No file system keeps a longer name, even without its percent-encoding.
        guard !name.isEmpty, name.utf8.count <= 255 * 3 else { return nil }
        let candidates = (path.hasSuffix("/") ? folders(of: files) : files).prefix(5000).map { ($0, parts(of: $0)) }
        let (words, plain, lowercased) = (words(of: name), plain(name), name.lowercased())
        let stem = words.prefix { $0 != "." }
        let ranks: [(String) -> Bool] = [
            { $0.lowercased() == lowercased },
            { Self.words(of: $0) == words },
            { other in
                let others = Self.words(of: other)
                // To remove additions takes long, so look first whether the name can be in it.
                return others == plain || others.contains(stem) && Self.plain(other) == words
            },
            { !lowercased.contains(".") && $0.lowercased().hasPrefix(lowercased + ".") },
        ]
        for isNear in ranks {
            let nearest = candidates.filter { isNear($0.1.name) }.map(\.0).max { first, second in
                let shared = [first, second].map { suffixLength(of: $0, and: path) }
                return (shared[0], second.count, second) < (shared[1], first.count, first)
            }
            if let nearest { return nearest }
        }
        let neighbours = candidates.filter { $0.1.folder == folder }
        let meant = suggestion(for: name, among: neighbours.map(\.1.name))
        return neighbours.first { $0.1.name == meant }?.0
    }

    /// Returns the folder and the last name of a path; the folder ends in "/", or is empty.
    private static func parts(of path: String) -> (folder: String, name: String) {
        let name = String(path.split(separator: "/").last ?? "")
        return (String(path.dropLast(name.count + (path.hasSuffix("/") ? 1 : 0))), name)
    }

    /// Returns the number of characters at the ends of two paths that are equal; the slash before a path counts, too.
    private static func suffixLength(of first: String, and second: String) -> Int {
        zip("/\(first)".reversed(), "/\(second)".reversed()).prefix { $0 == $1 }.count
    }

    /// Returns a name in lower case, without query, percent-encoding and the characters between words.
    private static func words(of name: String) -> String {
        let name = String(name.drop { "'<`".contains($0) }.prefix { !"?#'>`".contains($0) })
        let decoded = (name.percentDecoded ?? name).composed.lowercased().filter { !" _-+".contains($0) }
        return decoded.hasSuffix(".jpeg") ? decoded.dropLast(4) + "jpg" : decoded
    }

    /// Returns the words of a name without additions, such as " copy", "(1)", "@2x" or a second extension.
    private static func plain(_ name: String) -> String {
        var name = name.percentDecoded ?? name
        while let stem = extensionless(name), MediaType(fileName: stem) != nil { name = stem }
        guard let stem = extensionless(name) else { return words(of: name) }
        let plain = stem.replacingOccurrences(of: additions, with: "", options: [.regularExpression, .caseInsensitive])
        return words(of: plain + name.dropFirst(stem.count))
    }

    private static func extensionless(_ name: String) -> String? {
        name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? String(name[..<$0]) : nil }
    }

    /// The additions of file managers and browsers to a copy's name, and of users and design programs.
    private static let additions =
        "^(copy of|kopie von|copie de|copia de) |"
        + #"([ _]?[-–]? ?(copy|kopie|copie|copia)( [0-9]+)?| ?\([0-9]+\)|[ _-][0-9]{1,2}|@[234]x|[ _-](final|new|old|v[0-9]+))+$"#

    /// Returns the paths of all folders that contain a file, each with "/" at its end.
    private static func folders(of files: [String]) -> [String] {
        var folders: Set<Substring> = []
        for file in files {
            var folder = file[...]
            while let slash = folder.lastIndex(of: "/"), folders.insert(folder[...slash]).inserted {
                folder = folder[..<slash]
            }
        }
        return folders.map(String.init).sorted()
    }
}
