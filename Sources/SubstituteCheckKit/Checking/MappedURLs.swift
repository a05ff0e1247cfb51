import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The URLs of a manifest, and the URLs that it is meant to have.
struct MappedURLs {
    private let substitutions: [Substitution]
    private let order: MatchOrder
    private let folder: URL
    /// The paths of the files below `folder` that an entry uses.
    private let used: Set<String>
    /// The folders of the URLs.
    private var folders: Set<String> = []
    /// The folders of the pages' URLs.
    private var pageFolders: Set<String> = []
    /// The lengths of the URLs in `pageFolders`, in bytes.
    private var lengths: Set<Int> = []
    /// The names of the files and folders in `folder`.
    private let names: Set<String>
    private lazy var nearest = NearestIndex(order, substitutions)

    /// The reason why no entry answers a URL that the manifest is meant to have.
    struct Gap {
        /// The text that is equal for gaps with the same cause.
        let kind: String
        /// The cause as a clause.
        let cause: String
        /// A remedy other than loading the URL; nil if there is none.
        var remedy: String?
        /// True if the file of the URL lies in the manifest's folder, so that nothing needs to be loaded.
        var isHere = false
    }

    init(_ substitutions: [Substitution], in folder: URL) {
        (self.substitutions, self.folder, used) = (substitutions, folder, Set(substitutions.map(\.file)))
        order = MatchOrder(substitutions)
        names = Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        for candidate in order.candidates {
            let (url, substitution) = (candidate.target.identity, substitutions[candidate.substitution])
            folders.insert(url.folder)
            if substitution.type.isHTML { pageFolders.insert(url.folder) }
        }
        lengths = Set(pageFolders.map(\.utf8.count))
    }

    /// Returns the substitution that answers a URL, or would answer it if it had not expired.
    func answer(to url: URLIdentity) -> Substitution? {
        order.first(matching: url).map { substitutions[order.candidates[$0].substitution] }
    }

    /// Returns the path of the file in the manifest's folder that is meant for a URL; nil if there is none.
    ///
    /// It is the file at the URL's path, or an unused file at the end of this path.
    private func file(for url: URLIdentity) -> String? {
        // A manifest maps no deeper folder.
        let parts = url.path.split(separator: "/").suffix(ManifestFolder.maximumDepth + 1)
        let starts = parts.indices.lazy.filter { names.contains(String(parts[$0])) }
        return starts.map { parts[$0...].joined(separator: "/") }.first { path in
            (path == url.path.dropFirst() || !used.contains(path)) && path != "manifest.json"
                && FileSystem.kind(of: folder.appendingPathComponent(path).path) == .typeRegular
        }
    }

    /// The differences between two spellings of one name.
    private static let spellings: Set<NearEntry.Difference> = [.letterCase, .percentEncoding, .trailingSlash]

    /// Returns why no entry answers a URL; nil if the manifest is not meant to have it.
    ///
    /// The page, stylesheet or script at `referrer` loads the URL. The manifest is meant to have a URL if one of these
    /// conditions holds:
    /// - A folder entry covers it.
    /// - An entry names another URL in the same folder.
    /// - It lies below the folder of `referrer` or of a mapped page.
    /// - An unused file of the manifest's folder lies at the end of its path.
    mutating func gap(at url: URLIdentity, from referrer: URLIdentity) -> Gap? {
        let similar = nearest.nearest(to: url)
        if let similar, similar.differences.count == 1, case .query = similar.differences[0] {
            let line = similar.substitution.line
            let cause = "but the entry in line \(line) has another query"
            return Gap(kind: "query \(line)", cause: cause, remedy: similar.remedy)
        }
        let isOneName = similar.map { Set($0.differences).isSubset(of: Self.spellings) } ?? false
        // Tools for builds find a module without its ending, and browsers do not.
        let module = [".js", "/index.js"].map { url.base + $0 }.first { (try? URLIdentity($0)).flatMap(answer) != nil }
        let near = (isOneName ? similar?.substitution.url : module).map { "did you mean \(quoted($0))?" }
        // A URL with such a question gets its own message.
        let kind = near == nil ? "" : url.base
        if let entry = nearest.folder(above: url)?.file {
            let cause = "but the folder \(quoted(entry.namedFile)) has no such file"
            return Gap(kind: "folder \(entry.line) \(kind)", cause: cause, remedy: near)
        }
        var isMeant =
            folders.contains(url.folder) || url.base.hasPrefix(referrer.folder)
            || ancestors(of: url).contains(where: pageFolders.contains)
        var gap = Gap(kind: kind, cause: "which no entry names", remedy: near)
        if near == nil, let file = file(for: url), isMeant || !used.contains(file) {
            (gap.remedy, gap.isHere, isMeant) = ("write \(quoted(url.description)): \(quoted(file))", true, true)
        }
        return isMeant ? gap : nil
    }

    /// Returns the folders that contain a URL and may be known, the innermost first.
    private func ancestors(of url: URLIdentity) -> [String] {
        let base = Array(url.base.utf8)
        return base.indices.reversed().filter { base[$0] == UInt8(ascii: "/") && lengths.contains($0 + 1) }.map {
            String(decoding: base[...$0], as: UTF8.self)
        }
    }
}
