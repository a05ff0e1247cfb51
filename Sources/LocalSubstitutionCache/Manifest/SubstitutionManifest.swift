package import Foundation

/// A manifest as it is written: entries and their positions, before any file is looked up.
///
/// Reading continues after an error, unless the error is in the JSON itself. A cache that is created from the manifest
/// throws all errors in the text, together with the errors of the files. The tool and `LocalSubstitutionDevelopment`
/// add remedies and warnings.
package struct SubstitutionManifest: Sendable {
    package let source: SourceText
    package var entries: [ManifestEntry]
    package var findings: [Finding]
    /// The value of `$version`; 0 if there is none.
    package let version: Int64
    /// The file that the manifest was read from, if any; no folder entry includes this file.
    package let url: URL?
    package let text: Data

    /// Returns the bytes of a manifest file, which is an error if it is larger than `maximumSize`.
    package static func text(
        of url: URL,
        name: String,
        maximumSize: Int = .max
    ) throws(ManifestError) -> Data {
        guard url.isFileURL else {
            throw ManifestError(
                unreadable: name,
                because: "\(quoted(url.absoluteString)) is not a file URL; download the manifest and its files first"
            )
        }
        do throws(FileProblem) {
            let file = try OpenedFile(url.path, followsLink: true)
            guard file.size <= maximumSize else { throw .unreadable("it has \(file.size) bytes") }
            return try FileContents(of: file, reading: .copied).data
        } catch {
            let reason =
                switch error {
                case .isFolder: "\(quoted(name)) is a folder, not a manifest"
                case .missing: "\(quoted(name)) does not exist"
                default: error.cause(of: name)
                }
            throw ManifestError(unreadable: name, because: reason)
        }
    }

    /// Reads a manifest from memory.
    ///
    /// - Parameters:
    ///   - text: The text, in UTF-8.
    ///   - name: The name of the file in messages.
    ///   - url: The file that the text came from, if any.
    ///   - document: The content of the text; nil to parse it, up to the first mistake.
    package init(_ text: Data, name: String, url: URL? = nil, _ document: JSONDocument? = nil) {
        (source, self.text, self.url) = (SourceText(name: name, bytes: text), text, url)
        var reader = ManifestReader()
        reader.read(document ?? JSONParser.parse(text), source: source)
        (entries, findings, version) = (reader.entries, reader.findings, reader.version)
    }

    /// Returns the manifest with the files that it names, with folders expanded.
    ///
    /// Checks the names and kinds of the files, but does not read them. Entries whose `until` has passed are checked,
    /// and then left out. Cost: a few system calls per file.
    ///
    /// - Parameters:
    ///   - folder: The folder that the files lie in.
    ///   - date: The moment that `until` is compared with.
    /// - Returns: The substitutions, in the order of the manifest's entries. The files of a folder entry are sorted by
    ///   name in each directory.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or if `folder` is not a file URL.
    func resolved(in folder: URL, on date: Date = Date()) throws(ManifestError) -> ResolvedManifest {
        var resolver = ManifestResolver(self, folder: folder)
        resolver.resolve()
        let errors = source.issues(findings + resolver.findings).filter { $0.severity == .error }
        guard errors.isEmpty, let files = resolver.files else { throw ManifestError(errors) }
        return ResolvedManifest(self, resolver.substitutions, in: files.opened, on: CalendarDay(date))
    }

    /// The line and column of each entry's key, in the order of the file.
    package var places: [(line: Int, column: Int)] { entries.map { source.position(of: $0.key.offset) } }
}

/// A manifest without errors, and the files on disk that it names.
struct ResolvedManifest {
    private let manifest: SubstitutionManifest
    /// The substitutions in use, with folders expanded.
    let substitutions: [Substitution]
    /// The substitutions whose last day has passed.
    let expired: [Substitution]
    let folder: OpenedFolder

    init(
        _ manifest: SubstitutionManifest,
        _ substitutions: [Substitution],
        in folder: OpenedFolder,
        on today: CalendarDay
    ) {
        (self.manifest, self.folder) = (manifest, folder)
        let isExpired = { (substitution: Substitution) in substitution.entry.until.map { $0.value < today } ?? false }
        expired = substitutions.filter(isExpired)
        // Usually no substitution has expired, and then no copy of the array is needed.
        self.substitutions = expired.isEmpty ? substitutions : substitutions.filter { !isExpired($0) }
    }

    var source: SourceText { manifest.source }
    var version: Int64 { manifest.version }

    /// Returns the bytes of each substitution, in the order of ``substitutions``; each file is read or mapped once.
    ///
    /// - Throws: ``ManifestError`` with each file that has become unusable since it was found.
    func contents(
        _ reading: ReadingMode,
        _ budget: LoadBudget? = nil,
        maximumMappings: Int = FileContents.maximumMappings
    ) throws(ManifestError) -> [FileContents] {
        var known: [FilePath: FileContents] = [:]
        var mappings = 0
        var findings: [Finding] = []
        let all = substitutions.compactMap { substitution -> FileContents? in
            let path = substitution.foundFile.realPath
            if let contents = known[path] { return contents }
            // Beyond a limit, no more is read.
            if case .exceeds = findings.last?.problem { return nil }
            do throws(FileProblem) {
                let file = try folder.file(substitution.foundFile)
                let reading = mappings < maximumMappings ? reading : .copied
                let contents = try FileContents(of: file, reading: reading, path: path, budget)
                if contents.isMapped { mappings += 1 }
                known[path] = contents
                return contents
            } catch {
                findings.append(Finding(error, with: substitution.path, at: substitution.fileOffset))
                return nil
            }
        }
        guard findings.isEmpty else { throw ManifestError(source.issues(findings)) }
        return all
    }

    /// Checks what a folder holds that did not come with the app.
    ///
    /// The manifest and each file must still be those that were read, so that they belong to one set. A server may have
    /// sent a page instead of a script, a stylesheet, JSON or an image.
    ///
    /// - Throws: ``ManifestError`` with each file that was changed meanwhile, or that is such a page.
    func check(_ contents: [FileContents]) throws(ManifestError) {
        var findings: [Finding] = []
        do throws(FileProblem) {
            let file = try folder.file("manifest.json", in: folder.realPath)
            guard file.size == manifest.text.count,
                try FileContents(of: file, reading: .copied).data == manifest.text
            else { throw .replaced }
        } catch {
            findings.append(Finding(error, with: "manifest.json", at: 0))
        }
        var known: Set<FilePath> = []
        for (substitution, contents) in zip(substitutions, contents) {
            let (name, offset, type) = (substitution.path, substitution.fileOffset, substitution.type)
            if type.isNeverPage, contents.isPage {
                let cause = "\(quoted(name)) is a page of HTML, but is sent as \(type.essence)"
                findings.append(Finding(offset: offset, severity: .error, code: .wrongContent, message: cause))
            }
            guard known.insert(substitution.foundFile.realPath).inserted else { continue }
            do throws(FileProblem) {
                let identity = try folder.file(substitution.foundFile).identity
                guard identity == contents.identity, identity.size == contents.data.count else { throw .replaced }
            } catch {
                findings.append(Finding(error, with: name, at: offset))
            }
        }
        guard findings.isEmpty else { throw ManifestError(source.issues(findings)) }
    }
}
