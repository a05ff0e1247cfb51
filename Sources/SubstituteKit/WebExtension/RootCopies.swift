import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

/// Finds the files that also need a copy at the root of a web extension.
///
/// On a site, a reference such as `/img/a.png` in a stylesheet or script resolves to the root of the host. In an
/// extension, it resolves to the extension's root. A file is copied to the extension's root only if such a reference
/// leads to the file, or if another copied file refers to it.
///
/// All hosts share the extension's root. The file at a path is not copied if two URLs with this path have different
/// files or media types, or if a host refers to the path but has no entry for it.
struct RootCopies {
    /// The file that answers one path, and the hosts for which the file answers.
    private struct Candidate {
        let copy: ExtensionLayout.Copy
        var authorities: Set<String>
        /// False if two URLs with this path have different files or media types.
        var isOne = true
    }

    /// The candidates, keyed by path without percent-encoding.
    private var candidates: [String: Candidate] = [:]
    /// For each path, the hosts with stylesheets or scripts that refer to the path.
    private var namedBy: [String: Set<String>] = [:]

    /// Finds the paths of the files to copy to the root.
    ///
    /// - Parameters:
    ///   - copies: The copies in the folders of the hosts.
    ///   - scanned: The references of stylesheets and scripts; files that are scanned for the first time are added.
    init(_ copies: [ExtensionLayout.Copy], _ scanned: inout ScannedFiles) {
        for copy in copies {
            guard let path = Self.decoded(copy.path) else { continue }
            var candidate = candidates[path] ?? Candidate(copy: copy, authorities: [])
            let (old, new) = (candidate.copy.substitution, copy.substitution)
            candidate.authorities.insert(copy.authority)
            if old.realPath != new.realPath || !old.type.isSame(as: new.type) { candidate.isOne = false }
            candidates[path] = candidate
        }
        var open: [(authority: String, path: String)] = []
        for copy in copies {
            for reference in scanned.references(in: copy.substitution) where reference.text.hasPrefix("/") {
                if let path = reference.path(from: "") { open.append((copy.authority, path)) }
            }
        }
        while let (authority, path) = open.popLast() {
            guard namedBy[path, default: []].insert(authority).inserted,
                let candidate = candidates[path], candidate.authorities.contains(authority)
            else { continue }
            for reference in scanned.references(in: candidate.copy.substitution) {
                if let next = reference.path(from: path) { open.append((authority, next)) }
            }
        }
    }

    /// The files to copy, with their paths below the root.
    var paths: [(path: String, substitution: Substitution)] {
        namedBy.keys.sorted().compactMap { path in
            guard let candidate = candidates[path], candidate.isOne,
                namedBy[path, default: []].isSubset(of: candidate.authorities)
            else { return nil }
            return (path, candidate.copy.substitution)
        }
    }

    /// Returns the file path for a URL's path; nil if a component contains an encoded slash or cannot be decoded.
    static func decoded(_ path: String) -> String? {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let names = parts.compactMap { $0.percentDecoded }.filter { !$0.contains("/") }
        return names.count == parts.count ? names.joined(separator: "/") : nil
    }
}

extension ScannedFiles {
    /// Returns the references of a stylesheet or script; empty for other files, and for files that cannot be read.
    mutating func references(in substitution: Substitution) -> [ReferenceScanner.Reference] {
        substitution.type.isHTML ? [] : file(of: substitution)?.references ?? []
    }
}

extension ReferenceScanner.Reference {
    /// Resolves this reference in the file at `place`, and returns the result as a path in the extension.
    ///
    /// Nil for a URL with a scheme or a host, and for a bare module specifier, which the page resolves.
    func path(from place: String) -> String? {
        if isSpecifier, !["/", "./", "../"].contains(where: text.hasPrefix) { return nil }
        guard let base = URL(string: "https://extension.invalid/\(place.percentEncoded)"),
            let url = URL(reference: text, in: base), url.host == base.host
        else { return nil }
        return RootCopies.decoded(url.path(percentEncoded: true))
    }
}
