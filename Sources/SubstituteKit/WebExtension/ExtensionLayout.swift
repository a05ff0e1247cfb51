import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The paths of the file copies in a web extension.
///
/// The path of a copy contains the host and path of its URL, so that relative references in stylesheets and scripts
/// still resolve. If a different file already has this path, the copy gets a different name in the same folder. This
/// happens for two URLs that differ only in their queries. ``RootCopies`` finds the files that are also needed at the
/// extension's root.
struct ExtensionLayout {
    /// The folder of all copies.
    static let root = "files"

    /// The copied files, keyed by path.
    private(set) var copies: [String: Substitution] = [:]
    /// The files that are also copied to the root, keyed by path.
    private(set) var rootCopies: [String: Substitution] = [:]
    private var (names, rootNames) = (FileNames(), FileNames())
    private var places: [Address: String] = [:]

    /// A copy, with the host and path of a URL that it answers.
    struct Copy {
        let authority: String
        /// The URL's path, percent-encoded.
        let path: String
        let place: String
        let substitution: Substitution
    }

    /// The copies for all URLs, sorted by host, path and place.
    ///
    /// Copies for two URLs that differ only in their queries have the same `path`.
    var all: [Copy] {
        places.compactMap { address, place in
            copies[place].map { Copy(authority: address.authority, path: address.path, place: place, substitution: $0) }
        }
        .sorted { ($0.authority, $0.path, $0.place) < ($1.authority, $1.path, $1.place) }
    }

    private struct Address: Hashable {
        let authority: String
        let path: String
        let file: String
        let type: String
    }

    /// Chooses, reserves and returns the path of the copy that answers a URL.
    mutating func assignPath(_ substitution: Substitution, authority: String, path: String) -> String {
        let address = Address(
            authority: authority,
            path: path,
            file: substitution.realPath,
            type: substitution.type.canonical.essence
        )
        if let place = places[address] { return place }
        let wanted = FileNames.path(for: authority + path) { Self.suffix(for: substitution, in: $0) }
        let place = names.path("\(Self.root)/\(wanted)") { copies[$0]?.realPath == substitution.realPath }
        places[address] = place
        copies[place] = substitution
        return place
    }

    /// Adds a copy at the extension's root if the path is free and allowed.
    ///
    /// The names of the extension's own files are not allowed, because these files are at the root. Chromium rejects
    /// names that begin with "_".
    mutating func placeAtRoot(_ substitution: Substitution, _ path: String) {
        let first = String(path.prefix { $0 != "/" })
        // Do not allow a name that needs percent-encoding. Browsers compare the extension's patterns
        // (`web_accessible_resources`) with percent-encoded paths.
        guard first == first.percentEncoded, !first.hasPrefix("_"), !Self.ownNames.contains(first.lowercased()),
            FileNames.path(for: path, ending: { Self.suffix(for: substitution, in: $0) }).utf8.elementsEqual(path.utf8),
            rootNames.path(path, orExisting: { _ in false }) == path
        else { return }
        rootCopies[path] = substitution
    }

    /// The path patterns of the files that pages may load (web-accessible resources).
    var patterns: [String] {
        let tops = rootCopies.keys.map { path in path.firstIndex(of: "/").map { path[..<$0] + "/*" } ?? path[...] }
        return ["\(Self.root)/*"] + Set(tops.map(String.init)).sorted()
    }

    /// The lowercase names that are reserved at the extension's root.
    private static let ownNames = Set(
        ([root] + WebExtension.fileNames + OutputFolder.reservedNames).map { $0.lowercased() }
    )

    /// Returns the extension to append to a name; empty if the name needs no extension.
    ///
    /// A browser infers the media type from the extension.
    private static func suffix(for substitution: Substitution, in name: String) -> String {
        let type = substitution.type
        let read = MediaType(fileName: name)
        // Some servers send a font as `application/octet-stream`. Browsers recognise a font by its bytes, so the name
        // needs no extension for that type.
        if read != nil, type.isUnknown { return "" }
        if read?.isSame(as: type) ?? (type.fileExtension == nil) { return "" }
        return ".\(type.fileExtension ?? "bin")"
    }
}
