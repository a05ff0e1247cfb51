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
    let standsForFile: Bool

    /// Recognises a leftover by its file name; nil for any other file.
    init?(_ path: String) {
        let name = (path.split(separator: "/").last ?? "").lowercased()
        let row = Self.rows.first { row in
            row[0].split(separator: " ").contains { pattern in
                if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
                return pattern.hasPrefix("*")
                    ? name.count >= pattern.count && name.hasSuffix(pattern.dropFirst()) : name == pattern
            }
        }
        guard let row else { return nil }
        (cause, remedy, standsForFile) = (row[1], row[2], row.count > 3)
    }

    /// Returns the message about a missing file in whose place there is something that is not the file yet.
    ///
    /// Nil if there is no such thing.
    static func problem(ofMissing path: String, in folder: URL) -> String? {
        let file = folder.appendingPathComponent(path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)) ?? []
        let name = file.lastPathComponent
        func stem(_ name: String) -> String { name.prefix { $0 != "." }.lowercased() }
        let found = names.sorted().first { stem($0) == stem(name) && Leftover($0)?.standsForFile == true }
        guard let found, let leftover = Leftover(found) else { return nil }
        let shown = path.dropLast(name.count) + found
        return "\(quoted(path)) does not exist; \(quoted(String(shown))) \(leftover.cause); \(leftover.remedy)"
    }

    /// The names, in which "*" is any beginning or end, then the cause and the remedy.
    private static let rows = """
        thumbs.db ehthumbs.db desktop.ini | is a file that Windows makes for itself | delete it
        .ds_store icon\r ._* | is a file that the Finder makes for itself | delete it
        *~ *.orig *.rej *.bak *.old *.tmp *.swp *.swo | is an older version that an editor or Git keeps | delete it
        ~$* .~lock.* | belongs to a document that is open in an office program | close it, or delete this file
        .env .env.* *.env id_rsa id_ed25519 .htpasswd .npmrc .netrc *.pem *.key *.p8 *.p12 *.pfx *.jks *.keystore \
        | holds a key or passwords, which everybody who has the app could read | move it out of this folder
        *.sql *.sqlite *.sqlite3 *.dump | holds the data of a database | move it out of this folder
        *.har | is a recording of a browser, with all that pages sent and got | move it out of this folder
        *.log | is a log of a program | delete it
        *.crdownload *.part *.partial *.download | is an unfinished download \
        | download the file again, and delete this one | stands for it
        *.scss *.sass *.less *.styl | is the source of a stylesheet, which browsers do not read \
        | put the .css that is built from it in its place | stands for it
        *.jsx *.tsx | is the source of a script, which browsers do not read \
        | put the .js that is built from it in its place | stands for it
        *.sketch *.fig *.xd *.afdesign *.afphoto *.indd *.xcf *.kra | is a document of a design program \
        | export the picture from it as .svg or .png | stands for it
        *.lnk *.url *.webloc *.desktop | is a link to something else, not the file itself \
        | put the file itself in its place | stands for it
        """.split(separator: "\n").map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
}
