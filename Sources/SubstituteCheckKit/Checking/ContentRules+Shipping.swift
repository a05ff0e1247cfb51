import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The rules about files that must not, or need not, be in an app.
extension ContentRules {
    /// Finds passwords, keys and tokens.
    static func isPublic(_ file: FileSample) -> ContentProblem? {
        guard let (mark, line) = PublishedKey.found(in: file) else { return nil }
        return file.problem(
            "key \(file.path)",
            "has a key (\(quoted(mark))) in line \(line), and everybody who has the app can read it; remove it, and have "
                + "it replaced where it is valid"
        )
    }

    /// Finds files of a project that an entry for a folder takes along.
    static func isMeant(_ file: FileSample) -> ContentProblem? {
        guard let substitution = file.substitution, substitution.namedFile.hasSuffix("/") else { return nil }
        let parts = file.path.split(separator: "/").map(String.init)
        let (folders, name) = (parts.dropLast(), (parts.last ?? "").lowercased())
        for folder in folders {
            guard let what = strayFolders[folder.lowercased()] else { continue }
            return file.problem(
                "stray \(folder)",
                "is in \(quoted(folder + "/")), which holds \(what), and ships with the app; move that "
                    + "folder out of \(quoted(substitution.namedFile))"
            )
        }
        if let problem = addressInName(file, substitution) { return problem }
        guard
            let what = name.firstMatch(of: conflict) == nil
                ? strayFiles[name] : "a copy that a program kept after a conflict"
        else { return nil }
        return file.problem(
            "stray \(what)",
            "is \(what), and ships with the app; move it out of \(quoted(substitution.namedFile))"
        )
    }

    /// Finds a file whose name still has the query or the escapes of its URL, as downloads leave them.
    ///
    /// In the URL for which the file answers, the "?" or the "%" of the name is escaped.
    private static func addressInName(_ file: FileSample, _ substitution: Substitution) -> ContentProblem? {
        let path = file.path
        let plain = String(path.prefix { $0 != "?" })
        let isQuery = plain != path && MediaType(fileName: plain) != nil
        let name = isQuery ? plain : path.firstMatch(of: escape) == nil ? nil : path.percentDecoded
        guard let name, name.count(where: { $0 == "/" }) == path.count(where: { $0 == "/" }) else { return nil }
        let rest = isQuery ? ", and write \"ignoreQuery\" into the entry if requests have a query" : ""
        return file.problem(
            isQuery ? "query in name" : "escape in name",
            "answers only for \(quoted(substitution.url)), because its name has \(isQuery ? "a query" : "an escape") of "
                + "a URL; rename it to \(quoted(name))\(rest)"
        )
    }

    /// The marks of Dropbox, Syncthing, ownCloud, OneDrive's and Git's tools in the names of copies.
    nonisolated(unsafe) private static let conflict =
        /conflicted copy|konflikt|copie en conflit|copia en conflicto|\.sync-conflict-|_(backup|base|local|remote)_[0-9]+\./
    nonisolated(unsafe) private static let escape = /%[0-9A-Fa-f]{2}/

    private static let strayFolders = [
        "node_modules": "packages of npm", "bower_components": "packages of Bower", "jspm_packages": "packages of jspm",
        "__macosx": "a Mac's metadata", "__pycache__": "files of Python", "cvs": "files of a version control system",
        "pods": "packages of CocoaPods", "backup": "old copies", "backups": "old copies", "bak": "old copies",
        "_backup": "old copies", "sicherung": "old copies", "trash": "deleted files",
        "@eadir": "thumbnails of a server",
        "thumbs": "thumbnails", ".thumbs": "thumbnails", "git": "a repository", "nppbackup": "old copies",
        "_notes": "notes of a web editor", "lost+found": "fragments of files", "venv": "packages of Python",
        "deriveddata": "files of Xcode",
    ]

    private static let strayFiles = [
        "package.json": "a file of npm", "package-lock.json": "a file of npm", "npm-shrinkwrap.json": "a file of npm",
        "yarn.lock": "a file of Yarn", "pnpm-lock.yaml": "a file of pnpm", "composer.json": "a file of Composer",
        "composer.lock": "a file of Composer", "bower.json": "a file of Bower", "gulpfile.js": "a file of a build",
        "gruntfile.js": "a file of a build", "webpack.config.js": "a file of a build",
        "vite.config.js": "a file of a build",
        "rollup.config.js": "a file of a build", "tsconfig.json": "a file of a build", "makefile": "a file of a build",
        "dockerfile": "a file of a build", "gemfile.lock": "a file of Ruby", "podfile": "a file of CocoaPods",
        "web.config": "a file of a server", "nginx.conf": "a file of a server", "_htaccess": "a file of a server",
    ]
}
