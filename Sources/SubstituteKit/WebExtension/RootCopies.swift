import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Finds the files that must lie at the root of a web extension, too.
///
/// A stylesheet or script in the extension looks for `/img/a.png` at the extension's root, and not at that of its host.
/// Only what some stylesheet or script names so is copied there, with all that such a copy names itself. Several hosts
/// share the root: a path that two of them answer with different files is left out, and also one that a host names and
/// does not answer.
struct RootCopies {
    /// The file that answers at one path, and its hosts.
    private struct Candidate {
        let copy: ExtensionLayout.Copy
        var authorities: Set<String>
        /// False once two hosts, or two schemes, have different files there.
        var isOne = true
    }

    /// By the path, without percent-encoding.
    private var candidates: [String: Candidate] = [:]
    /// Path → the hosts whose stylesheets or scripts name it from the root.
    private var namedBy: [String: Set<String>] = [:]

    /// Finds the paths.
    ///
    /// - Parameters:
    ///   - copies: The copies below the hosts' names.
    ///   - scanned: What stylesheets and scripts name.
    init(_ copies: [ExtensionLayout.Copy], _ scanned: inout ScannedReferences) {
        for copy in copies {
            guard let path = Self.decoded(copy.path) else { continue }
            if var candidate = candidates[path] {
                let (old, new) = (candidate.copy.substitution, copy.substitution)
                candidate.authorities.insert(copy.authority)
                if old.realPath != new.realPath || !old.mediaType.isSame(as: new.mediaType) { candidate.isOne = false }
                candidates[path] = candidate
            } else {
                candidates[path] = Candidate(copy: copy, authorities: [copy.authority])
            }
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

    /// The files to copy, by their paths below the root.
    var paths: [(path: String, substitution: Substitution)] {
        namedBy.keys.sorted().compactMap { path in
            guard let candidate = candidates[path], candidate.isOne,
                namedBy[path, default: []].isSubset(of: candidate.authorities)
            else { return nil }
            return (path, candidate.copy.substitution)
        }
    }

    /// The path below the root that answers for a copy, if it lies there.
    static func path(of copy: ExtensionLayout.Copy) -> String? { decoded(copy.path) }

    /// A path of a URL as the path of a file; nil where a part of it would be something else there.
    private static func decoded(_ path: String) -> String? {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let names = parts.compactMap { $0.removingPercentEncoding }.filter { !$0.contains("/") }
        return names.count == parts.count ? names.joined(separator: "/") : nil
    }
}

/// The references of stylesheets and scripts, each file read once.
struct ScannedReferences {
    private var found: [String: [ReferenceScanner.Reference]] = [:]

    /// The references of a stylesheet or script; none of another file, or of one that cannot be read.
    mutating func references(in substitution: Substitution) -> [ReferenceScanner.Reference] {
        let type = substitution.mediaType.canonical.essence
        guard type == "text/css" || type == "text/javascript" else { return [] }
        let key = "\(type) \(substitution.realPath)"
        if let known = found[key] { return known }
        let text = substitution.bytes(upTo: substitution.size) ?? Data()
        let references =
            type == "text/css"
            ? ReferenceScanner.references(inStylesheet: text) : ReferenceScanner.references(inScript: text)
        found[key] = references
        return references
    }
}

extension ReferenceScanner.Reference {
    /// The path below the extension's folder to which the reference leads from a file there.
    ///
    /// Nil where it leads elsewhere: a whole URL, a fragment, or the name of a module, which the page resolves.
    func path(from place: String) -> String? {
        let path = String(text.prefix { !"?#".contains($0) })
        if path.isEmpty || Self.hasScheme(path) { return nil }
        if path.hasPrefix("//") { return nil }
        if isSpecifier, !["/", "./", "../"].contains(where: path.hasPrefix) { return nil }
        var parts = path.hasPrefix("/") ? [] : place.split(separator: "/").dropLast().map(String.init)
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(path.hasPrefix("/") ? 1 : 0)
        {
            switch part {
            case ".": continue
            case "..": _ = parts.popLast()
            default: parts.append(part.removingPercentEncoding ?? String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    /// Returns whether an address begins with a scheme (RFC 3986 §3.1).
    private static func hasScheme(_ address: String) -> Bool {
        let rest = address.utf8.drop { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "+-.".utf8.contains(byte)
        }
        let isLetter = address.utf8.first.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 } ?? false
        return isLetter && rest.first == UInt8(ascii: ":")
    }
}
