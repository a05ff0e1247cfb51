import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// Warnings about what a designer has probably not meant.
///
/// An app does not look for these warnings when it is launched.
extension ManifestResolver {
    /// Adds the warnings; reads the content of text files.
    ///
    /// If `listsUnused` is true, unused files are reported one by one; if it is false, they are reported by folder.
    mutating func warn(on today: CalendarDay, listsUnused: Bool) {
        for entry in manifest.entries {
            if let until = entry.until, until.value < today {
                let sentence = "\(until.value) has passed, so this entry is ignored; remove it, or set a later day"
                report(.warning, .expired, until.offset, sentence)
            }
        }
        warnOfWildcards()
        warnOfFields()
        warnOfHiddenSignIns()
        warnOfTypes()
        warnOfEmptyFolders()
        warnOfUnusedFiles(oneByOne: listsUnused)
    }

    /// True if no error was found.
    ///
    /// An entry with an error is not among the substitutions. So if there are errors, it is not certain which entry
    /// answers a URL.
    var isSound: Bool { (manifest.findings + findings).allSatisfy { $0.severity == .warning } }

    private mutating func warnOfWildcards() {
        // Leave out entries with errors: a designer should see the error first.
        let sound = Set(substitutions.map(\.entry.key.offset))
        for entry in manifest.entries where sound.contains(entry.key.offset) {
            guard entry.namesFolder != true || entry.pattern?.isFolder == true,
                let sentence = Wildcard.warning(for: entry)
            else { continue }
            report(.warning, .wildcard, entry.key.offset, sentence)
        }
    }

    private mutating func warnOfHiddenSignIns() {
        // The statuses with which a server asks the user to sign in (RFC 9110 §15.5), and those that include them.
        let hiding: Set<Substitution.Condition> = [.status(401), .status(403), .status(407), .clientError]
        for condition in manifest.entries.flatMap(\.conditions) where hiding.contains(condition.value) {
            let sentence =
                "with 401, 403 and 407, most servers ask for a sign-in or refuse access, and the file would hide that; "
                + "name other statuses, such as 404 and 410, unless the server has no sign-in"
            report(.warning, .hidesSignIn, condition.offset, sentence)
        }
    }

    private mutating func warnOfTypes() {
        var seen: Set<String> = []
        // Read each file once, even if several entries use the file.
        var encodings: [FilePath: String?] = [:]
        for substitution in substitutions
        where seen.insert("\(substitution.fileOffset) \(substitution.foundFile.path)").inserted {
            let path = substitution.foundFile.path
            // The tool has a better warning about a file in a folder whose name has a query.
            let hasQuery =
                substitution.folderLength != nil && MediaType(fileName: String(path.prefix { $0 != "?" })) != nil
            if substitution.entry.type == nil, MediaType(fileName: path) == nil, !hasQuery {
                let sentence = Self.sentence(ofUnknown: path, substitution)
                report(.warning, .unknownExtension, substitution.fileOffset, sentence)
            }
            warnOfKind(of: substitution)
            warnOfEncoding(of: substitution, &encodings)
        }
    }

    private static func sentence(ofUnknown path: String, _ substitution: Substitution) -> String {
        if let predicate = AdviceTable.leftover(path) { return "\(quoted(path)) \(predicate)" }
        let entry = "{ \"file\": \(quoted(path)), \"type\": \"…/…\" }"
        return "the media type of \(quoted(path)) is not known by its extension, so it is sent as "
            + "application/octet-stream; "
            + (substitution.folderLength == nil ? "write \(entry)" : "give the file an entry of its own: \(entry)")
    }

    /// Warns if a URL has the extension of a picture, font, film or code, and the file is of another kind.
    ///
    /// A stylesheet or a script may be some other text, such as JSON.
    private mutating func warnOfKind(of substitution: Substitution) {
        let url = substitution.pattern.targets.first.map { String($0.identity.path) } ?? ""
        guard substitution.folderLength == nil, let expected = MediaType(fileName: url) else { return }
        let (type, path) = (substitution.type, substitution.foundFile.path)
        guard let (noun, isMedia) = Self.use(of: expected) else { return }
        let (sent, own) = (Self.use(of: type), MediaType(fileName: path).flatMap(Self.use))
        let isPlainStyle = expected.essence == "text/css" && type.essence == "text/plain"
        guard sent?.noun != noun, !type.isUnknown, isMedia || sent != nil || type.isHTML || isPlainStyle else { return }
        // The file may be right, and the "type" wrong.
        let offset = own?.noun == noun ? substitution.entry.typeOffset : nil
        let sentence =
            "\(quoted(substitution.url)) is loaded as \(noun), and \(quoted(path)) is sent as \(type.essence); "
            + (offset == nil ? "name another file" : "remove \"type\"")
        report(.warning, .unlikelyType, offset ?? substitution.fileOffset, sentence)
    }

    /// Returns a noun for what browsers make of a type; nil if they make nothing of it by itself.
    private static func use(of type: MediaType) -> (noun: String, isMedia: Bool)? {
        let media = ["image": "an image", "font": "a font", "audio": "audio", "video": "video"]
        let code = ["text/css": "a stylesheet", "text/javascript": "a script"]
        return media[String(type.canonical.kind)].map { ($0, true) } ?? code[type.canonical.essence].map { ($0, false) }
    }

    private mutating func warnOfEncoding(of substitution: Substitution, _ known: inout [FilePath: String?]) {
        guard substitution.type.takesCharset, let charset = substitution.type.charset else { return }
        let (file, path) = (FilePath(substitution.foundFile.path), quoted(substitution.foundFile.path))
        // The guess is nil for bytes that are no text; a separate check of the tool reports such files.
        let guess = known[file] ?? substitution.bytes(upTo: Encoding.length).flatMap(Encoding.name)
        known[file] = guess
        switch (charset, guess) {
        case ("utf-8", let name?) where name != "ASCII" && name != "UTF-8":
            let sentence = "\(path) is \(name), and is sent as UTF-8; save it as UTF-8"
            report(.warning, .notUTF8, substitution.fileOffset, sentence)
        case (_, "UTF-8") where ["windows-125", "iso-8859-", "latin1", "us-ascii"].contains(where: charset.hasPrefix):
            let sentence = "\(path) is UTF-8, and is sent as \(quoted(charset)); write charset=utf-8"
            report(.warning, .notUTF8, substitution.entry.typeOffset ?? substitution.fileOffset, sentence)
        default: break
        }
    }

    private mutating func warnOfEmptyFolders() {
        let places = Set(substitutions.map(\.entry.key.offset))
        for entry in manifest.entries where entry.namesFolder && !places.contains(entry.key.offset) {
            guard let file = entry.file, entry.pattern?.isFolder == true,
                let found = try? files?.files(below: file.value), found.files.isEmpty, found.problems.isEmpty
            else { continue }
            let sentence =
                "\(quoted(file.value)) holds no files, so this entry answers nothing; put files there, or remove the entry"
            report(.warning, .emptyFolder, file.offset, sentence)
        }
    }
}
