import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// A URL in the parts by which the preview groups and orders its cards.
struct PreviewTitle {
    /// The server, with the scheme unless that is https.
    let host: String
    /// The path before the name, such as `/img/`.
    let folder: String
    /// The last path component with the query; for the URL of a folder, it ends with "/".
    let name: String
    /// The URL before the name.
    private let start: String

    init(_ url: String) {
        // User information would not be found in a part.
        let url = withoutUserInformation(url)
        // Compare scalars, because a combining character may follow a "/".
        let scalars = url.unicodeScalars
        let path = scalars.prefix { $0 != "?" }
        let host = url.range(of: "//")?.upperBound ?? url.startIndex
        let root = path[host...].firstIndex(of: "/") ?? path.endIndex
        let last = path[root...].dropLast().lastIndex(of: "/").map { scalars.index(after: $0) } ?? root
        self.host = String(scalars[(url.hasPrefix("https://") ? host : url.startIndex)..<root])
        folder = last == root ? "/" : String(scalars[root..<last])
        (name, start) = (String(scalars[last...]), String(scalars[..<last]))
    }

    /// The whole URL, in two parts that the page's style can place separately.
    var html: String {
        "<span class=\"dir\">\(HTML.breakable(start))</span><span class=\"name\">\(HTML.breakable(name))</span>"
    }

    /// Returns true if this title comes first in the order in which people expect names: `i2` before `i10`.
    func precedes(_ other: PreviewTitle) -> Bool {
        for part in [\PreviewTitle.host, \.folder, \.name] {
            let order = self[keyPath: part].compare(other[keyPath: part], options: [.numeric, .caseInsensitive])
            if order != .orderedSame { return order == .orderedAscending }
        }
        return false
    }
}
