import Foundation
import LocalSubstitutionCache

/// Names of files that came from one name: what the Finder, Windows and browsers call a copy, and what people write
/// behind a version.
enum CopyName {
    /// The candidate that is `name` but for what was added to it, or the reverse; the shortest of several.
    ///
    /// Looks at a few thousand candidates.
    static func match(for name: String, among candidates: [String]) -> String? {
        let (own, plain) = (normalised(name), plain(name))
        func stem(_ name: String) -> Substring { name.prefix { $0 != "." } }
        return candidates.prefix(5000).filter { candidate in
            let other = normalised(candidate)
            if other == own || other == plain { return true }
            // The longer name holds the shorter one, which is cheaper to find out.
            return other.contains(stem(own)) && self.plain(candidate) == own
        }.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    /// The name without percent-encoding and what stands between words, in lower case.
    private static func normalised(_ name: String) -> String {
        let name = String(name.drop { "'<`".contains($0) }.prefix { !"?#'>`".contains($0) })
        let decoded = (name.removingPercentEncoding ?? name).precomposedStringWithCanonicalMapping.lowercased()
        let stem = String(decoded.filter { !" _-+".contains($0) })
        return stem.hasSuffix(".jpeg") ? stem.dropLast(4) + "jpg" : stem
    }

    /// The same without what was added to the name or to its extension.
    private static func plain(_ name: String) -> String {
        var name = (name.removingPercentEncoding ?? name).precomposedStringWithCanonicalMapping.lowercased()
        // A second extension: `.png.png`, and what editors, browsers and converters write behind a whole name.
        while let (stem, last) = split(name), let (_, inner) = split(stem),
            inner == last || extras.contains(last) || isPicture(name) && isPicture(stem)
        {
            name = stem
        }
        guard let (whole, last) = split(name) else { return normalised(name) }
        var stem = whole
        while let shorter = additions.lazy.compactMap({ withoutAddition($0, stem) }).first { stem = shorter }
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

    /// Regular expressions of what is added, in lower case.
    private static let additions = [
        // Finder, Explorer and GNOME in several languages.
        "^(copy of|kopie von|kopie van|copie de|copia de|copia di|cópia de|kopi av|kopia) ",
        "[ _]?[-–]? ?(copy|kopie|copie|copia|cópia|kopia|kopi|kopio)( [0-9]+)?$", "のコピー( ?[0-9]+)?$", "( ?的副本|副本)$",
        // Browsers, and a second download.
        " ?\\([0-9]+\\)$", "[ _-][0-9]{1,2}$",
        // Scales of a picture, and versions.
        "@[234]x$", "[ _-](final|neu|new|alt|old|v[0-9]+)$",
    ]
}
