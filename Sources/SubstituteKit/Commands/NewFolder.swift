import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The checks before a folder for a new manifest is created.
enum NewFolder {
    /// Throws for a name that was probably not meant as the name of a folder.
    ///
    /// A name that begins with `./` is not questioned.
    static func checkName(_ name: String, _ console: Console) throws(UsageError) {
        let folder = console.folder
        switch folder.targetKind(of: name) {
        case .typeDirectory?: return
        case nil: break
        default: throw UsageError("\(quoted(name)) is a file; \(example(console))")
        }
        if name.isEmpty { throw UsageError("the name of the folder is empty; \(example(console))") }
        if name.contains("://") {
            throw UsageError(
                "\(quoted(name)) is a URL; name a folder, such as \(console.tool.words("init Substitutions")), and then load "
                    + "the URL into it: \(console.tool.words("add \(visible(name))"))"
            )
        }
    }

    private static func example(_ console: Console) -> String {
        "name a folder, as in: \(console.tool.words("init Sources/App/Substitutions"))"
    }

    /// Returns the manifests that already exist near a new one in `folder`.
    ///
    /// `name` is the folder's name in messages, and `isAsked` is true if the user gave it. The function throws if the
    /// new manifest would be inside the folder of another one, or around it, or if there is a manifest and the user
    /// has not named a folder.
    static func others(
        than folder: URL,
        named name: String,
        isAsked: Bool,
        _ console: Console
    ) throws(UsageError) -> [String] {
        let add = console.tool.words("add https://example.com/a.png")
        for above in folder.withFoldersAbove.dropFirst() {
            if let manifest = manifest(in: above) {
                throw UsageError(
                    "\(quoted(name)) would be inside the folder of \(quoted(console.folder.shown(manifest))), and a "
                        + "manifest's folder holds no second one; add to that one, as in: \(add)"
                )
            }
            if console.folder.isTop(above) { break }
        }
        let others = ManifestLocation(console).all().filter { path in
            let other = console.folder.standardizedURL(of: path).deletingLastPathComponent()
            return other.path != folder.path && isManifest(console.folder.url(path))
        }
        let inside = others.first { console.folder.standardizedURL(of: $0).path.hasPrefix(folder.path + "/") }
        if let inside, manifest(in: folder) == nil {
            throw UsageError(
                "\(quoted(name)) already holds the manifest \(quoted(inside)); add to that one, as in: \(add)"
            )
        }
        if let other = others.first, !isAsked, manifest(in: folder) == nil {
            throw UsageError(
                "there is a manifest already, \(quoted(other)); add to it, as in: \(add); "
                    + "for a second one, name its folder, as in: \(console.tool.words("init \(visible(name))"))"
            )
        }
        return others
    }

    /// Returns the manifest in a folder; nil if there is none.
    private static func manifest(in folder: URL) -> URL? {
        let file = folder.appendingPathComponent("manifest.json")
        return isManifest(file) ? file : nil
    }

    /// True for a file that may be a manifest of substitutions, and not that of a web app or an extension.
    private static func isManifest(_ file: URL) -> Bool {
        guard FileManager.default.fileExists(atPath: file.path) else { return false }
        guard let data = try? Data(contentsOf: file),
            let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return true }
        let isOfWeb = ["manifest_version", "start_url", "icons", "short_name"].contains { members[$0] != nil }
        return !isOfWeb || members.keys.contains { $0.contains("//") }
    }
}

extension CurrentFolder {
    /// Returns the path of a file as a user would write it: relative to this folder if the file is below it.
    fileprivate func shown(_ file: URL) -> String {
        let here = URL(fileURLWithPath: path).standardizedFileURL.path + "/"
        let path = file.standardizedFileURL.path
        return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
    }
}
