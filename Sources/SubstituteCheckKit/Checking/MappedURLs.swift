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
    /// The URLs of folder entries, each with one of the entry's files.
    private var folderEntries: [String: Substitution] = [:]
    /// The lengths of the URLs in `pageFolders` and `folderEntries`, in bytes.
    private var lengths: Set<Int> = []
    /// The names of the files and folders in `folder`.
    private let names: Set<String>
    /// The candidates, keyed by URL in lower case, without a query.
    private var namesakes: [String: [MatchOrder.Candidate]] = [:]

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
            if let length = substitution.folderLength {
                let end = url.base.utf8.count - url.path.utf8.count + length
                folderEntries[String(decoding: url.base.utf8.prefix(end), as: UTF8.self)] = substitution
            }
            namesakes[url.base.lowercased(), default: []].append(candidate)
        }
        lengths = Set(pageFolders.union(folderEntries.keys).map(\.utf8.count))
    }

    /// Returns the substitution that answers a URL, or would answer it if it had not expired.
    func answer(to url: URLIdentity) -> Substitution? {
        order.first(matching: url).map { substitutions[order.candidates[$0].substitution] }
    }

    /// Returns the ending with which a bundler finds a module's mapped file, and a browser does not; nil for none.
    func bundlerEnding(of module: URLIdentity) -> String? {
        [".js", ".mjs", ".jsx", ".ts", ".tsx", "/index.js"].first { ending in
            (try? URLIdentity(module.base + ending)).flatMap(answer) != nil
        }
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

    /// Returns why no entry answers a URL; nil if the manifest is not meant to have it.
    ///
    /// The page, stylesheet or script at `referrer` loads the URL. The manifest is meant to have a URL if one of these
    /// conditions holds:
    /// - A folder entry covers it.
    /// - An entry names another URL in the same folder.
    /// - It lies below the folder of `referrer` or of a mapped page.
    /// - An unused file of the manifest's folder lies at the end of its path.
    func gap(at url: URLIdentity, from referrer: URLIdentity) -> Gap? {
        let similar = namesakes[url.base.lowercased(), default: []]
        if let candidate = similar.first(where: { $0.target.identity.base == url.base }) {
            let line = substitutions[candidate.substitution].line
            let query =
                url.query == nil ? "a query" : candidate.target.identity.query == nil ? "no query" : "another query"
            return Gap(
                kind: "query \(line)",
                cause: "but the entry in line \(line) has \(query)",
                remedy: "write \"ignoreQuery\" in that entry"
            )
        }
        let near = similar.first.map { "did you mean \(quoted($0.target.spelling))?" }
        // A URL with such a question gets its own message.
        let kind = near == nil ? "" : url.base
        let ancestors = ancestors(of: url)
        if let entry = ancestors.lazy.compactMap({ folderEntries[$0] }).first {
            let cause = "but the folder \(quoted(entry.namedFile)) has no such file"
            return Gap(kind: "folder \(entry.line) \(kind)", cause: cause, remedy: near)
        }
        var isMeant =
            folders.contains(url.folder) || url.base.hasPrefix(referrer.folder)
            || ancestors.contains(where: pageFolders.contains)
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
