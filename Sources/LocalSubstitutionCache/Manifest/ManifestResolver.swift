import Foundation

/// The second stage: from entries to substitutions, with everything that is wrong with the files they name.
struct ManifestResolver {
    let manifest: SubstitutionManifest
    let folder: URL
    private(set) var substitutions: [Substitution] = []
    private(set) var findings: [Finding] = []
    private var files: ManifestFolder?
    private let manifestPath: String?

    init(_ manifest: SubstitutionManifest, folder: URL) {
        self.manifest = manifest
        self.folder = folder
        // A manifest that came from memory is taken for the one that lies where manifests do.
        let url = manifest.url ?? folder.appendingPathComponent("manifest.json")
        manifestPath = try? ManifestFolder.realPath(of: url.path)
    }

    mutating func resolve() {
        let files: ManifestFolder
        do {
            files = try ManifestFolder(folder)
        } catch {
            let message = error == .missing(suggestion: nil) ? "does not exist" : "cannot be read"
            add(.error, error.code, 0, "the folder of the manifest's files, \(quoted(folder.path)), \(message)")
            return
        }
        self.files = files
        substitutions.reserveCapacity(manifest.entries.count)
        for entry in manifest.entries {
            guard let file = entry.file else { continue }
            do {
                if file.value.hasSuffix("/") {
                    try expand(entry, file, in: files)
                } else if let pattern = entry.pattern {
                    add(entry, pattern, try files.file(file.value), folderLength: nil, fileOffset: file.offset)
                } else {
                    _ = try files.file(file.value)
                }
            } catch {
                add(.error, error.code, file.offset, error.reason(for: file.value))
            }
        }
    }

    private mutating func expand(
        _ entry: SubstitutionManifest.Entry,
        _ folder: SubstitutionManifest.Located<String>,
        in files: ManifestFolder
    ) throws(FileProblem) {
        let (found, problems) = try files.files(below: folder.value, except: manifestPath)
        for (path, problem) in problems {
            add(.error, problem.code, folder.offset, problem.reason(for: path))
        }
        guard let pattern = entry.pattern else { return }
        let length = pattern.targets.first?.identity.base.count ?? 0
        for (name, file) in found {
            var paths = [name]
            if name == "index.html" || name.hasSuffix("/index.html") { paths.append(String(name.dropLast(10))) }
            for path in paths {
                let pattern = pattern.appending(path: path)
                add(entry, pattern, file, folderLength: length, fileOffset: folder.offset)
            }
        }
    }

    private mutating func add(
        _ entry: SubstitutionManifest.Entry,
        _ pattern: URLPattern,
        _ file: FileReference,
        folderLength: Int?,
        fileOffset: Int
    ) {
        let place = manifest.source.place(of: entry.key.offset)
        substitutions.append(
            Substitution(
                url: pattern.spelling,
                file: file.path,
                mediaType: (entry.type ?? MediaType(fileName: file.path) ?? .octetStream).withCharset,
                conditions: entry.conditions,
                line: place.line,
                column: place.column,
                pattern: pattern,
                reference: file,
                declaredType: entry.type,
                headers: entry.headers,
                query: entry.query,
                folderLength: folderLength,
                until: entry.until?.value,
                keyOffset: entry.key.offset,
                fileOffset: fileOffset
            )
        )
    }

    private mutating func add(
        _ severity: ManifestIssue.Severity,
        _ code: ManifestIssue.Code,
        _ offset: Int,
        _ message: String
    ) {
        findings.append(Finding(offset: offset, severity: severity, code: code, message: message))
    }

    // MARK: - Warnings

    /// Adds what is probably not meant.
    ///
    /// An app's launch does not ask for it: it reads the content of text files.
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
        warnOfTypes()
        // As long as an entry is wrong, the file that it means would seem unused, and its URL answered by another.
        let isSound = (manifest.findings + findings).allSatisfy { $0.severity == .warning }
        guard isSound else { return }
        warnOfUnusedFiles()
        warnOfShadowedEntries()
    }

    private mutating func warnOfTypes() {
        var seen: Set<String> = []
        for substitution in substitutions
        where seen.insert("\(substitution.fileOffset) \(substitution.reference.path)").inserted {
            let path = substitution.reference.path
            if substitution.declaredType == nil, MediaType(fileName: path) == nil {
                add(
                    .warning,
                    .unknownExtension,
                    substitution.fileOffset,
                    "the media type of \(quoted(path)) is not known by its extension; set \"type\", "
                        + "or it is sent as application/octet-stream"
                )
            }
            if substitution.mediaType.takesCharset, substitution.declaredType?.charset == nil,
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

    private func isUTF8(_ file: FileReference) -> Bool {
        guard let opened = try? OpenedFile(path: file.realPath, followsLink: false),
            let contents = try? FileContents(of: opened, reading: .copied)
        else { return true }
        return String(data: contents.data, encoding: .utf8) != nil
    }

    private mutating func warnOfUnusedFiles() {
        guard let (found, _) = try? files?.files(below: "./", except: manifestPath) else { return }
        let used = Set(substitutions.map(\.reference.realPath))
        for (name, file) in found where !used.contains(file.realPath) && !name.hasSuffix(".schema.json") {
            add(.warning, .unusedFile, 0, "no entry uses \(quoted(name)); map it, or remove the file")
        }
    }

    private mutating func warnOfShadowedEntries() {
        var answering: Set<Int> = []
        var shadows: [Int: Substitution] = [:]
        let shadowed = MatchOrder(substitutions).shadowed()
        for (index, substitution) in substitutions.enumerated() {
            if let shadow = shadowed[index] {
                shadows[substitution.keyOffset] = substitutions[shadow]
            } else {
                answering.insert(substitution.keyOffset)
            }
        }
        for (offset, shadow) in shadows where !answering.contains(offset) {
            add(
                .warning,
                .shadowed,
                offset,
                "this entry never answers, because the one in line \(shadow.line) always answers before it; "
                    + "remove one of the two"
            )
        }
    }
}
