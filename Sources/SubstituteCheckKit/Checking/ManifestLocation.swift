import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// A search for the manifest that a command works on; every command searches in the same places.
package struct ManifestLocation: Sendable {
    private let current: CurrentFolder
    private let environment: [String: String]

    package init(_ console: Console) { (current, environment) = (console.folder, console.environment) }

    /// The words with which the user calls this tool.
    var tool: ToolName { ToolName(environment) }

    /// The paths at which a manifest may be, below the folder of an app, a package or a project.
    private static let places = [
        "manifest.json", "Substitutions/manifest.json", "*/Substitutions/manifest.json",
        "Sources/*/Substitutions/manifest.json", "Sources/*/Resources/Substitutions/manifest.json",
    ]

    /// Returns the manifest that the user named, or the only manifest that a search finds.
    ///
    /// - Parameter operand: A file, or a folder with `manifest.json` or `Substitutions/manifest.json`; nil if the user
    ///   named nothing.
    /// - Returns: The manifest. If the user named one, it is returned even if it does not exist.
    /// - Throws: ``UsageError`` if the user named nothing, and the search finds no manifest or several.
    package func find(_ operand: String?) throws(UsageError) -> ManifestFile {
        let path = try path(operand)
        return ManifestFile(name: path, url: current.url(path), named: operand, location: self)
    }

    /// Returns the manifest for a command that has no other operand.
    package func only(_ operands: [String]) throws(UsageError) -> ManifestFile {
        guard operands.count <= 1 else { throw UsageError("name one manifest") }
        return try find(operands.first)
    }

    /// True if a search from the current folder finds this manifest and no other.
    func findsAlone(_ url: URL) -> Bool {
        let found = (try? path(nil)).map { current.url($0).resolvingSymlinksInPath() }
        return found == url.resolvingSymlinksInPath()
    }

    private func path(_ operand: String?) throws(UsageError) -> String {
        if let operand {
            if operand.contains("://"), current.targetKind(of: operand) == nil {
                throw UsageError(
                    "\(quoted(operand)) is a URL, and this command reads a manifest or the folder that holds it; "
                        + "\(quoted(tool.words("add"))) loads a URL, and \(quoted(tool.words("explain"))) says which file answers it"
                )
            }
            try checkKind(of: operand)
            return manifest(in: operand) ?? operand
        }
        let found = all()
        guard let first = found.first else {
            throw UsageError(
                "there is no manifest here; the tool looks for \(Self.places.dropFirst().joined(separator: ", ")) "
                    + "and manifest.json, here and in the folders above, up to the package's. "
                    + "Name one, or create one with: \(tool.words("init"))"
            )
        }
        guard found.count == 1 else {
            throw UsageError(
                "there are several manifests here; name one:\n  " + found.map { visible($0) }.joined(separator: "\n  ")
            )
        }
        return first
    }

    /// Refuses a file that can only be one of those that ship.
    ///
    /// `img/logo.png` and `logo.png` name no server, so they are files, even if no such file is in the current folder.
    private func checkKind(of operand: String) throws(UsageError) {
        let server = operand.prefix { $0 != "/" }
        let isPath = server.count == operand.count || server != "localhost" && !server.contains { ".:".contains($0) }
        guard isFile(operand) || isPath && !operand.hasPrefix("//"), Self.isShipped(operand) else { return }
        let file = operand.components(separatedBy: "Substitutions/").last ?? operand
        throw UsageError(
            "\(quoted(operand)) is a file, and this command takes a manifest or URLs; name the URL for which the file answers. To ship "
                + "the file, write an entry, such as \"https://example.com/\(visible(file))\": \(quoted(file))"
        )
    }

    /// True for the name of a file that can only be one of those that ship.
    package static func isShipped(_ name: String) -> Bool {
        guard let type = MediaType(fileName: name) else { return false }
        return type.isHTML || type.isJavaScript || type.essence == "text/css"
            || ["image", "font", "audio", "video"].contains(type.kind)
    }

    /// Splits operands into the URLs and the manifest before them; the manifest is nil if the first operand is a URL.
    ///
    /// - Throws: ``UsageError`` if the first operand is neither.
    package func split(_ operands: [String]) throws(UsageError) -> (manifest: String?, urls: [String]) {
        for operand in operands { try checkKind(of: operand) }
        guard let first = operands.first, !isURL(first) else { return (nil, operands) }
        return (first, Array(operands.dropFirst()))
    }

    /// True if a word is a URL and not a file.
    private func isURL(_ word: String) -> Bool {
        if Self.isURL(word) { return true }
        return current.targetKind(of: word) == nil && (!word.hasSuffix(".json") || current.isServer(word))
    }

    /// True for a URL with its host, and for `-`, the name of standard input; no file is looked for.
    package static func isURL(_ word: String) -> Bool {
        word == "-" || word.contains("://") || word.hasPrefix("//")
    }

    /// Returns a question that suggests another manifest if there is none at `path`; nil without a suggestion.
    func hint(for path: String) -> String? {
        if isFile(path) { return "give yourself the right to read it, such as with: chmod u+r \(visible(path))" }
        let near = current.targetKind(of: path) == nil ? current.namesake(of: path) : nil
        return (near ?? all().first).map { "did you mean \(quoted($0))?" }
    }

    /// Returns the manifests of the nearest folder that has any, and those in the targets' resource folders.
    ///
    /// The search begins in the current folder and continues upwards to the folder of the package.
    package func all() -> [String] {
        var found: [String] = []
        var prefix = ""
        for folder in foldersUpToTop() {
            found = Self.places.flatMap { expand($0, in: folder.path) }.map { prefix + $0 }
            if !found.isEmpty { break }
            prefix += "../"
        }
        // In this variable, the command plugin passes the manifests in the targets' resource folders.
        let known = environment["SUBSTITUTE_MANIFESTS", default: ""]
            .split(separator: "\n").map(String.init)
        var seen: Set<String> = []
        return (found + known).filter { path in
            seen.insert(current.url(path).resolvingSymlinksInPath().path).inserted
        }
    }

    /// Returns the paths of manifests below `folder` that match `place`, in which `*` is any folder.
    private func expand(_ place: String, in folder: String) -> [String] {
        var paths = [""]
        for part in place.split(separator: "/").map(String.init) {
            paths = paths.flatMap { path in
                guard part == "*" else { return [joined(path, part)] }
                let names = current.names(in: joined(folder, path))
                return names.filter { !$0.hasPrefix(".") }.sorted().map { joined(path, $0) }
            }
        }
        return paths.filter { isFile(joined(folder, $0)) }
    }

    /// Returns the manifest in a folder; nil if `path` is not a folder, or has no manifest.
    private func manifest(in path: String) -> String? {
        ["manifest.json", "Substitutions/manifest.json"].map { joined(path, $0) }.first(where: isFile)
    }

    /// Returns the current folder and those above it, up to the folder of the package or project.
    ///
    /// Outside of a package or project, only the current folder is returned.
    private func foldersUpToTop() -> [URL] {
        // If the current folder was removed, there is no path.
        guard current.path.hasPrefix("/") else { return [] }
        let first = URL(fileURLWithPath: current.path).standardizedFileURL
        let folders = first.withFoldersAbove.dropLast()
        return folders.firstIndex(where: current.isTop).map { Array(folders[...$0]) } ?? [first]
    }

    private func isFile(_ path: String) -> Bool {
        let kind = current.targetKind(of: path)
        return kind != nil && kind != .typeDirectory
    }

    private func joined(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}
