package import Foundation

/// The second stage of reading a manifest: finds the entries' files, and converts entries to substitutions.
///
/// Every problem with a file is recorded.
package struct ManifestResolver {
    package let manifest: SubstitutionManifest
    package let folder: URL
    package private(set) var substitutions: [Substitution] = []
    package var findings: [Finding] = []
    package private(set) var files: ManifestFolder?
    private let budget: LoadBudget
    /// The limits that the manifest exceeds, each of which is reported once.
    private var exceeded: [LoadBudget.Limit] = []
    /// The paths of the folders whose problems were reported.
    private var reported: Set<FilePath> = []

    package init(_ manifest: SubstitutionManifest, folder: URL, budget: LoadBudget = LoadBudget()) {
        self.manifest = manifest
        self.folder = folder
        self.budget = budget
    }

    package mutating func resolve() {
        guard folder.isFileURL else {
            let cause = "is not a file URL; download the manifest and its files first"
            return reportFolder(.missingFile, "\(quoted(folder.absoluteString)), \(cause)")
        }
        let files: ManifestFolder
        do {
            // A manifest from memory is treated as if it were the folder's own `manifest.json`.
            let url = manifest.url ?? folder.appendingPathComponent("manifest.json")
            let name = url.deletingLastPathComponent().path == folder.path ? url.lastPathComponent : nil
            let path = try? FilePath(resolving: url.path)
            files = try ManifestFolder(folder, except: path, named: name, budget: budget)
        } catch {
            let reason = if case .unreadable(let reason) = error { ": \(reason)" } else { "" }
            let cause = error == .missing ? "does not exist" : "cannot be read\(reason)"
            return reportFolder(Finding.code(of: error), "\(quoted(folder.path)), \(cause)")
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
                    try spend(1, on: entry, pattern)
                    appendSubstitution(entry, pattern, found, folderLength: nil)
                } else {
                    _ = try files.file(file.value)
                }
            } catch {
                if case .exceeds(let limit) = error {
                    guard !exceeded.contains(limit) else { continue }
                    exceeded.append(limit)
                }
                findings.append(Finding(error, with: file.value, at: file.offset))
            }
        }
    }

    private mutating func reportFolder(_ code: ManifestIssue.Code, _ cause: String) {
        report(.error, code, 0, "the folder of the manifest's files, \(cause)")
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
        // Look at each file only while there is room, because many keys may name a folder of many files.
        try spend(found.files.count, on: entry, pattern)
        let paths = found.files.reduce(0) { $0 + $1.name.utf8.count }
        try spend(found.files.count { Self.isIndex($0.name) }, paths: paths, on: entry, pattern)
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
                            + "names differ only in their Unicode form"
                    )
                    continue
                }
                appendSubstitution(entry, pattern, file, folderLength: length)
            }
        }
    }

    /// True for a file that also answers for its folder's URL.
    private static func isIndex(_ name: String) -> Bool { name == "index.html" || name.hasSuffix("/index.html") }

    /// Spends the URLs of files of an entry, and the header fields that each of them repeats.
    ///
    /// `paths` is the length of the paths that follow the folder's URL.
    private func spend(
        _ files: Int,
        paths: Int = 0,
        on entry: ManifestEntry,
        _ pattern: URLPattern
    ) throws(FileProblem) {
        let count = pattern.targets.count
        try budget.spend(files * count, of: .urls)
        // An app holds each URL about three times: as written, in normal form, and in its response.
        let urls = 3 * (files * pattern.spelling.utf8.count + paths)
        try budget.spend((urls + files * entry.headerLength) * count, of: .bytes)
    }

    private mutating func appendSubstitution(
        _ entry: ManifestEntry,
        _ pattern: URLPattern,
        _ file: FoundFile,
        folderLength: Int?
    ) {
        let (line, column) = manifest.source.position(of: entry.key.offset)
        substitutions.append(
            Substitution(
                entry: entry,
                pattern: pattern,
                foundFile: file,
                folderLength: folderLength,
                line: line,
                column: column
            )
        )
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
