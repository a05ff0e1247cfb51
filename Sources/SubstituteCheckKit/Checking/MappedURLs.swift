import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
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
    private lazy var nearest = NearestIndex(order, substitutions)

    /// The reason why no entry answers a URL that the manifest is meant to have.
    struct Gap {
        /// The cause as a clause.
        let cause: String
        /// The entry to write; nil if only the URL's server knows whether there is a file.
        var remedy: String?
    }

    init(_ substitutions: [Substitution], in folder: URL) {
        (self.substitutions, self.folder, used) = (substitutions, folder, Set(substitutions.map(\.path)))
        order = MatchOrder(substitutions)
        for candidate in order.candidates {
            folders.insert(candidate.target.identity.folder)
            let isPage = substitutions[candidate.substitution].type.isHTML
            if isPage { pageFolders.insert(candidate.target.identity.folder) }
        }
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
        return parts.indices.lazy.map { parts[$0...].joined(separator: "/") }.first { path in
            (path == url.path.dropFirst() || !used.contains(path)) && path != "manifest.json"
                && FileSystem.kind(of: folder.appendingPathComponent(path).path) == .typeRegular
        }
    }

    /// Returns why no entry answers a URL; nil if the manifest is not meant to have it.
    ///
    /// The page, stylesheet or script at `referrer` loads the URL. The manifest is meant to have a URL if one of these
    /// conditions holds:
    /// - An entry names another URL in the same folder.
    /// - It lies below the folder of an entry, of `referrer` or of a mapped page.
    /// - An unused file of the manifest's folder lies at the end of its path.
    mutating func gap(at url: URLIdentity, from referrer: URLIdentity) -> Gap? {
        let covering = nearest.folder(above: url)?.file
        // Each folder of the URL is looked up.
        let above = url.base.utf8.count > 2000 ? [] : url.base.folders
        let isMeant =
            covering != nil || folders.contains(url.folder) || url.base.hasPrefix(referrer.folder)
            || above.contains(where: pageFolders.contains)
        if isMeant, let similar = nearest.nearest(to: url), similar.differences.count == 1 {
            let cause = "but the entry in line \(similar.substitution.line) differs in \(similar.words)"
            return Gap(cause: cause, remedy: similar.remedy)
        }
        if let name = covering?.namedFile {
            return Gap(cause: "but the folder \(quoted(name)) has no such file, so the network answers")
        }
        if let file = file(for: url), isMeant || !used.contains(file) {
            return Gap(cause: "which no entry names", remedy: "write \(quoted(url.description)): \(quoted(file))")
        }
        return isMeant ? Gap(cause: "which no entry names, so the network answers") : nil
    }
}
