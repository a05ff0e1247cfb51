import Foundation

/// What is probably not meant. An app's launch does not ask for it.
extension ManifestResolver {
    /// Adds the warnings; reads the content of text files.
    mutating func warn(on today: CalendarDay) {
        for entry in manifest.entries {
            if let until = entry.until, until.value < today {
                add(
                    .warning,
                    .expired,
                    until.offset,
                    "\(until.value) has passed, so this entry is ignored; remove it, or set a later day"
                )
            }
        }
        warnOfHiddenSignIns()
        warnOfTypes()
        if isSound { warnOfUnusedFiles() }
    }

    /// Whether there is no error so far.
    ///
    /// As long as an entry is wrong, the file that it means would seem unused, and its URL answered by another.
    var isSound: Bool { (manifest.findings + findings).allSatisfy { $0.severity == .warning } }

    private mutating func warnOfHiddenSignIns() {
        for condition in manifest.entries.flatMap(\.conditions) where condition.value.hidesSignIn {
            let (subject, remedy) =
                condition.value == .clientError
                ? ("\"4xx\" includes 401, 403 and 407, by which", "name single statuses, such as 404 and 410")
                : ("\(condition.value) is the status by which", "leave it out, unless nobody signs in there")
            add(
                .warning,
                .hidesSignIn,
                condition.offset,
                "\(subject) most servers ask somebody to sign in, and the file would hide that; \(remedy)"
            )
        }
    }

    private mutating func warnOfTypes() {
        var seen: Set<String> = []
        for substitution in substitutions
        where seen.insert("\(substitution.fileOffset) \(substitution.reference.path)").inserted {
            let path = substitution.reference.path
            if substitution.entry.type == nil, MediaType(fileName: path) == nil {
                add(
                    .warning,
                    .unknownExtension,
                    substitution.fileOffset,
                    "the media type of \(quoted(path)) is not known by its extension; set \"type\", "
                        + "or it is sent as application/octet-stream"
                )
            }
            if substitution.mediaType.takesCharset, substitution.entry.type?.charset == nil,
                !isUTF8(substitution.reference)
            {
                add(
                    .warning,
                    .notUTF8,
                    substitution.fileOffset,
                    "\(quoted(path)) is not UTF-8, and is sent as UTF-8; save it as UTF-8, or name its charset: "
                        + "\"type\": \"\(substitution.mediaType.essence); charset=windows-1252\""
                )
            }
        }
    }

    private func isUTF8(_ file: FoundFile) -> Bool {
        (try? files?.opened.file(file).isUTF8()) ?? true
    }

    private mutating func warnOfUnusedFiles() {
        guard let (found, _) = try? files?.files(below: "./", except: manifestPath) else { return }
        let used = Set(substitutions.map(\.reference.realPath))
        for (name, file) in found where !used.contains(file.realPath) && !name.hasSuffix(".schema.json") {
            add(.warning, .unusedFile, 0, "no entry uses \(quoted(name)); map it, or remove the file")
        }
    }
}
