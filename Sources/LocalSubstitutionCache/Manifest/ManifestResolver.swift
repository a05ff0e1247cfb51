package import Foundation

/// The second stage of reading a manifest: finds the entries' files, and converts entries to substitutions.
///
/// Every problem with a file is recorded.
package struct ManifestResolver {
    /// The maximum number of URLs that a manifest may map; each file of a folder counts, and a `//` key counts twice.
    ///
    /// An app holds every URL in memory. A few folders, each mapped to a few URLs, could add up to millions of URLs.
    package static let maximumRows = 200_000

    package let manifest: SubstitutionManifest
    let folder: URL
    package private(set) var substitutions: [Substitution] = []
    package private(set) var findings: [Finding] = []
    package private(set) var files: ManifestFolder?
    /// The path of the manifest itself, which no folder entry includes.
    let manifestPath: FilePath?
    private let maximumRows: Int
    private var rows = 0
    /// The paths of the folders whose problems were reported.
    private var reported: Set<FilePath> = []

    package init(_ manifest: SubstitutionManifest, folder: URL, maximumRows: Int = ManifestResolver.maximumRows) {
        self.manifest = manifest
        self.folder = folder
        self.maximumRows = maximumRows
        // A manifest from memory is treated as if it were the folder's own `manifest.json`.
        let url = manifest.url ?? folder.appendingPathComponent("manifest.json")
        manifestPath = try? FilePath(resolving: url.path)
    }

    package mutating func resolve() {
        guard folder.isFileURL else {
            report(
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
            files = try ManifestFolder(folder, except: manifestPath, advice: manifest.advice)
        } catch {
            let message = error == .missing(suggestion: nil) ? "does not exist" : "cannot be read"
            report(
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
                    let found = try files.file(file.value)
                    if hasRoom(for: pattern.targets.count, of: file) {
                        appendSubstitution(entry, pattern, found, folderLength: nil)
                    }
                } else {
                    _ = try files.file(file.value)
                }
            } catch {
                var finding = Finding(error, with: file.value, at: file.offset)
                if finding.code == .missingFile,
                    let other = manifest.advice?.finding(aboutMissing: file, of: entry, in: folder)
                {
                    finding = other
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
        let found = try files.files(below: folder.value)
        // Report a problem with a file once, even if several entries name the file's folder.
        if reported.insert(FilePath(folder.value)).inserted {
            for (path, problem) in found.problems {
                findings.append(Finding(problem, with: path, at: folder.offset))
            }
        }
        guard let pattern = entry.pattern else { return }
        let urls = found.files.count + found.files.count { Self.isIndex($0.name) }
        guard hasRoom(for: urls * pattern.targets.count, of: folder) else { return }
        let length = pattern.targets.first?.identity.path.utf8.count ?? 0
        var known: Set<String> = []
        for (name, file) in found.files {
            for path in Self.isIndex(name) ? [name, String(name.dropLast(10))] : [name] {
                let pattern = pattern.appending(path: path)
                guard known.insert(pattern.identityKey).inserted else {
                    report(
                        .error,
                        .duplicateKey,
                        folder.offset,
                        "two files of \(quoted(folder.value)) have the URL \(quoted(pattern.spelling)), because their "
                            + "names differ only in their Unicode form; rename one"
                    )
                    continue
                }
                appendSubstitution(entry, pattern, file, folderLength: length)
            }
        }
    }

    /// True for a file that also answers for its folder's URL.
    private static func isIndex(_ name: String) -> Bool { name == "index.html" || name.hasSuffix("/index.html") }

    /// Counts the URLs of an entry, and reports the first entry that exceeds the limit.
    ///
    /// - Returns: False once the limit is exceeded.
    private mutating func hasRoom(for urls: Int, of file: Located<String>) -> Bool {
        let wasExceeded = rows > maximumRows
        rows += urls
        guard rows > maximumRows else { return true }
        if !wasExceeded {
            report(
                .error,
                .tooManyURLs,
                file.offset,
                "with \(quoted(file.value)) the manifest maps more than \(maximumRows) URLs, all of which an app "
                    + "would hold in memory; remove entries, or map smaller folders"
            )
        }
        return false
    }

    private mutating func appendSubstitution(
        _ entry: ManifestEntry,
        _ pattern: URLPattern,
        _ file: FoundFile,
        folderLength: Int?
    ) {
        let place = manifest.source.position(of: entry.key.offset)
        substitutions.append(Substitution(entry, pattern, file, folderLength: folderLength, at: place))
    }

    package mutating func report(
        _ severity: ManifestIssue.Severity,
        _ code: ManifestIssue.Code,
        _ offset: Int,
        _ message: String
    ) {
        findings.append(Finding(offset: offset, severity: severity, code: code, message: message))
    }
}
