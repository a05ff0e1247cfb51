import Foundation

/// The second stage: from entries to substitutions, with everything that is wrong with the files they name.
struct ManifestResolver {
    let manifest: SubstitutionManifest
    let folder: URL
    private(set) var substitutions: [Substitution] = []
    private(set) var findings: [Finding] = []
    private(set) var files: ManifestFolder?
    /// The manifest itself, which no folder entry ships.
    let manifestPath: FilePath?

    init(_ manifest: SubstitutionManifest, folder: URL) {
        self.manifest = manifest
        self.folder = folder
        // A manifest from memory is treated as if it were the folder's own `manifest.json`.
        let url = manifest.url ?? folder.appendingPathComponent("manifest.json")
        manifestPath = try? OpenedFolder.realPath(of: url.path)
    }

    mutating func resolve() {
        guard folder.isFileURL else {
            add(
                .error,
                .missingFile,
                0,
                "the folder of the manifest's files, \(quoted(folder.absoluteString)), is not a file URL; "
                    + "download the manifest and its files first"
            )
            return
        }
        let files: ManifestFolder
        do {
            files = try ManifestFolder(folder)
        } catch {
            let message = error == .missing(suggestion: nil) ? "does not exist" : "cannot be read"
            add(
                .error,
                Finding.code(of: error),
                0,
                "the folder of the manifest's files, \(quoted(folder.path)), \(message)"
            )
            return
        }
        self.files = files
        substitutions.reserveCapacity(manifest.entries.count)
        for entry in manifest.entries {
            guard let file = entry.file else { continue }
            do {
                if entry.namesFolder {
                    try expand(entry, file, in: files)
                } else if let pattern = entry.pattern {
                    add(entry, pattern, try files.file(file.value), folderLength: nil)
                } else {
                    _ = try files.file(file.value)
                }
            } catch {
                var finding = Finding(error, with: file.value, at: file.offset)
                if finding.code == .missingFile, let problem = Wildcard.problem(with: file.value, of: entry) {
                    finding.message = problem
                }
                if finding.code == .missingFile,
                    let problem = CloudPlaceholder.problem(ofMissing: file.value, in: folder)
                {
                    finding.message = problem
                }
                if finding.code == .missingFile, let problem = CommentName.problem(ofMissing: file, of: entry) {
                    finding = Finding(offset: entry.key.offset, severity: .error, code: .badURL, message: problem)
                }
                findings.append(finding)
            }
        }
    }

    private mutating func expand(
        _ entry: ManifestEntry,
        _ folder: Located<String>,
        in files: ManifestFolder
    ) throws(FileProblem) {
        let (found, problems) = try files.files(below: folder.value, except: manifestPath)
        for (path, problem) in problems {
            findings.append(Finding(problem, with: path, at: folder.offset))
        }
        guard let pattern = entry.pattern else { return }
        let length = pattern.targets.first?.identity.path.utf8.count ?? 0
        var urls: Set<String> = []
        for (name, file) in found {
            var paths = [name]
            if name == "index.html" || name.hasSuffix("/index.html") { paths.append(String(name.dropLast(10))) }
            for path in paths {
                let pattern = pattern.appending(path: path)
                guard urls.insert(pattern.identityKey).inserted else {
                    add(
                        .error,
                        .duplicateKey,
                        folder.offset,
                        "two files of \(quoted(folder.value)) have the URL \(quoted(pattern.spelling)), because their "
                            + "names differ only in their Unicode form; rename one"
                    )
                    continue
                }
                add(entry, pattern, file, folderLength: length)
            }
        }
    }

    private mutating func add(
        _ entry: ManifestEntry,
        _ pattern: URLPattern,
        _ file: FoundFile,
        folderLength: Int?
    ) {
        let place = manifest.source.place(of: entry.key.offset)
        substitutions.append(Substitution(entry, pattern, file, folderLength: folderLength, at: place))
    }

    mutating func add(
        _ severity: ManifestIssue.Severity,
        _ code: ManifestIssue.Code,
        _ offset: Int,
        _ message: String
    ) {
        findings.append(Finding(offset: offset, severity: severity, code: code, message: message))
    }
}
