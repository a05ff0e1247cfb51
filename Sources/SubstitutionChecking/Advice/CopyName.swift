import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// A comparison of file names that ignores additions.
///
/// Finder, Windows and browsers add a word or number to the name of a copy. Users add a version.
enum CopyName {
    /// Returns the shortest candidate that equals `name`, apart from additions to one of these two names.
    ///
    /// Nil if there is none. Only the first 5,000 candidates are examined.
    static func match(for name: String, among candidates: [String]) -> String? {
        // No file system keeps a longer name, even without its percent-encoding.
        guard name.utf8.count <= 255 * 3 else { return nil }
        let (own, plain) = (normalised(name), plain(name))
        func stem(_ name: String) -> Substring { name.prefix { $0 != "." } }
        return candidates.prefix(5000).filter { candidate in
            let other = normalised(candidate)
            if other == own || other == plain { return true }
            // If only the candidate has additions, it contains the stem of `name`. This test comes first, because it
            // costs less than removing the additions.
            return other.contains(stem(own)) && self.plain(candidate) == own
        }.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// Returns `name` in lower case, without percent-encoding and without the characters between words.
    private static func normalised(_ name: String) -> String {
        let name = String(name.drop { "'<`".contains($0) }.prefix { !"?#'>`".contains($0) })
        let decoded = (name.percentDecoded ?? name).composed.lowercased()
        let stem = String(decoded.filter { !" _-+".contains($0) })
        return stem.hasSuffix(".jpeg") ? stem.dropLast(4) + "jpg" : stem
    }

    /// Returns the normalised name without additions, such as " copy", "(1)" or a second ".png".
    private static func plain(_ name: String) -> String {
        var name = (name.percentDecoded ?? name).composed.lowercased()
        // Drop a second extension, as in `.png.png`. Editors, browsers and converters append a second extension to a
        // complete name.
        while let (stem, last) = split(name), let (_, inner) = split(stem),
            inner == last || extras.contains(last) || isPicture(name) && isPicture(stem)
        {
            name = stem
        }
        guard let (whole, last) = split(name) else { return normalised(name) }
        var stem = whole
        while let shorter = additions.firstResult({ withoutAddition($0, stem) }) { stem = shorter }
        return normalised("\(stem).\(last)")
    }

    private static func isPicture(_ name: String) -> Bool { MediaType(fileName: name)?.kind == "image" }

    private static func split(_ name: String) -> (stem: String, extension: String)? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }

    private static func withoutAddition(_ addition: String, _ stem: String) -> String? {
        guard let range = stem.range(of: addition, options: .regularExpression),
            range.lowerBound != stem.startIndex
                || range.upperBound != stem.endIndex
        else { return nil }
        return stem.replacingCharacters(in: range, with: "")
    }

    private static let extras: Set = ["txt", "bak", "orig", "tmp", "download", "crdownload", "part"]

    /// The regular expressions of the additions, for names in lower case.
    private static let additions = [
        // Added by Finder, Explorer and GNOME, in several languages.
        "^(copy of|kopie von|kopie van|copie de|copia de|copia di|cópia de|kopi av|kopia) ",
        "[ _]?[-–]? ?(copy|kopie|copie|copia|cópia|kopia|kopi|kopio)( [0-9]+)?$", "のコピー( ?[0-9]+)?$", "( ?的副本|副本)$",
        // Added by browsers, for a second download of the same file.
        " ?\\([0-9]+\\)$", "[ _-][0-9]{1,2}$",
        // Added by users and design programs: the scale of an image, or a version.
        "@[234]x$", "[ _-](final|neu|new|alt|old|v[0-9]+)$",
    ]
}
