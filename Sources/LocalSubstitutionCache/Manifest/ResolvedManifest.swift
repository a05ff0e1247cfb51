import Foundation

/// A manifest without errors, and the files on disk that it names.
struct ResolvedManifest {
    let source: SourceText
    /// The substitutions in use, with folders expanded.
    let substitutions: [Substitution]
    /// The substitutions whose last day has passed.
    let expired: [Substitution]
    let folder: OpenedFolder

    init(_ source: SourceText, _ substitutions: [Substitution], in folder: OpenedFolder, on today: CalendarDay) {
        self.source = source
        self.folder = folder
        let isExpired = { (substitution: Substitution) in substitution.entry.until.map { $0.value < today } ?? false }
        expired = substitutions.filter(isExpired)
        // Usually no substitution has expired, and then no copy of the array is needed.
        self.substitutions = expired.isEmpty ? substitutions : substitutions.filter { !isExpired($0) }
    }

    /// Returns the bytes of each substitution, in the order of ``substitutions``; each file is read or mapped once.
    ///
    /// - Throws: ``ManifestError`` with each file that has become unusable since it was found.
    func contents(
        _ reading: ReadingMode,
        maximumMappings: Int = FileContents.maximumMappings
    ) throws(ManifestError) -> [FileContents] {
        var known: [FilePath: FileContents] = [:]
        var mappings = 0
        var findings: [Finding] = []
        let all = substitutions.compactMap { substitution -> FileContents? in
            let path = substitution.foundFile.realPath
            if let contents = known[path] { return contents }
            do throws(FileProblem) {
                let file = try folder.file(substitution.foundFile)
                let reading = mappings < maximumMappings ? reading : .copied
                let contents = try FileContents(of: file, reading: reading, path: path)
                if contents.isMapped { mappings += 1 }
                known[path] = contents
                return contents
            } catch {
                findings.append(Finding(error, with: substitution.file, at: substitution.fileOffset))
                return nil
            }
        }
        guard findings.isEmpty else { throw ManifestError(source.issues(findings)) }
        return all
    }
}
