import Foundation
import LocalSubstitutionCache

/// A file that was probably left in the folder by mistake.
///
/// It is a link, the source of another file, or a file that a program made for its own use.
struct Leftover {
    /// The predicate of a sentence about the file, such as "is an unfinished download".
    let cause: String
    let remedy: String
    /// True if the file itself can be made or fetched from this one.
    private let standsForFile: Bool

    /// Recognises a leftover by its file name; nil for any other file.
    init?(_ path: String) {
        let name = (path.split(separator: "/").last ?? "").lowercased()
        let kind = Self.kinds.first { kind in
            kind.names.contains(name) || kind.prefixes.contains(where: name.hasPrefix)
                || kind.suffixes.contains { name.count > $0.count && name.hasSuffix($0) }
        }
        guard let kind else { return nil }
        (cause, remedy, standsForFile) = (kind.cause, kind.remedy, kind.standsForFile)
    }

    /// Returns the message about a missing file in whose place there is something that is not the file yet.
    ///
    /// Nil if there is no such thing, or if there is a better candidate.
    static func problem(ofMissing path: String, in folder: URL) -> String? {
        let file = folder.appendingPathComponent(path)
        let place = file.deletingLastPathComponent().path
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted()
        let name = file.lastPathComponent
        let stem = name.prefix { $0 != "." }.lowercased()
        let others = names.filter { Leftover($0)?.standsForFile != true }
        guard CopyName.match(for: name, among: others) == nil,
            let found = names.first(where: { candidate in
                Leftover(candidate)?.standsForFile == true && candidate.prefix { $0 != "." }.lowercased() == stem
            }), let leftover = Leftover(found)
        else { return nil }
        let shown = path.dropLast(name.count) + found
        return "\(quoted(path)) does not exist; \(quoted(String(shown))) \(leftover.cause); \(leftover.remedy)"
    }

    private struct Kind {
        let cause: String
        let remedy: String
        var names: Set<String> = []
        var prefixes: [String] = []
        var suffixes: [String] = []
        var standsForFile = false
    }

    private static let kinds = [
        Kind(
            cause: "is a file that Windows makes for itself",
            remedy: "delete it",
            names: ["thumbs.db", "ehthumbs.db", "desktop.ini"]
        ),
        Kind(
            cause: "is a file that the Finder makes for itself",
            remedy: "delete it",
            names: [".ds_store", "icon\r"],
            prefixes: ["._"]
        ),
        Kind(
            cause: "is an older version that an editor or Git keeps",
            remedy: "delete it",
            suffixes: ["~", ".orig", ".rej", ".bak", ".old", ".tmp", ".swp", ".swo"]
        ),
        Kind(
            cause: "belongs to a document that is open in an office program",
            remedy: "close it, or delete this file",
            prefixes: ["~$", ".~lock."]
        ),
        Kind(
            cause: "holds a key or passwords, which everybody who has the app could read",
            remedy: "move it out of this folder",
            names: [
                ".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".htpasswd", ".npmrc", ".netrc", ".pgpass",
                "credentials",
                "wp-config.php",
            ],
            prefixes: [".env."],
            suffixes: [
                ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".env", ".mobileprovision",
                ".ovpn",
            ]
        ),
        Kind(
            cause: "holds the data of a database",
            remedy: "move it out of this folder",
            suffixes: [".sql", ".sqlite", ".sqlite3", ".mdb", ".dump"]
        ),
        Kind(
            cause: "is a recording of a browser, with all that pages sent and got",
            remedy: "move it out of this folder",
            suffixes: [".har"]
        ),
        Kind(cause: "is a log of a program", remedy: "delete it", suffixes: [".log"]),
        Kind(
            cause: "is an unfinished download",
            remedy: "download the file again, and delete this one",
            suffixes: [".crdownload", ".part", ".partial", ".download"],
            standsForFile: true
        ),
        Kind(
            cause: "is the source of a stylesheet, which browsers do not read",
            remedy: "put the .css that is built from it in its place",
            suffixes: [".scss", ".sass", ".less", ".styl"],
            standsForFile: true
        ),
        Kind(
            cause: "is the source of a script, which browsers do not read",
            remedy: "put the .js that is built from it in its place",
            suffixes: [".jsx", ".tsx"],
            standsForFile: true
        ),
        Kind(
            cause: "is a document of a design program",
            remedy: "export the picture from it as .svg or .png",
            suffixes: [".sketch", ".fig", ".xd", ".afdesign", ".afphoto", ".indd", ".xcf", ".kra"],
            standsForFile: true
        ),
        Kind(
            cause: "is a link to something else, not the file itself",
            remedy: "put the file itself in its place",
            suffixes: [".lnk", ".url", ".webloc", ".desktop"],
            standsForFile: true
        ),
    ]
}
