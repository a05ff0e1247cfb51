import Foundation

/// A manifest without errors, with the files that it names found on disk.
struct ResolvedManifest {
    let source: SourceText
    /// What is mapped, folders expanded.
    let substitutions: [Substitution]
    /// What was mapped until its day had passed.
    let expired: [Substitution]
    let folder: OpenedFolder

    init(_ source: SourceText, _ substitutions: [Substitution], in folder: OpenedFolder, on today: CalendarDay) {
        self.source = source
        self.folder = folder
        let isExpired = { (substitution: Substitution) in substitution.entry.until.map { $0.value < today } ?? false }
        expired = substitutions.filter(isExpired)
        // Usually no substitution has expired, and then the array need not be copied.
        self.substitutions = expired.isEmpty ? substitutions : substitutions.filter { !isExpired($0) }
    }

    /// The bytes of each substitution, in their order; each file is read or mapped once.
    ///
    /// - Throws: Whatever became wrong with a file since it was found.
    func contents(
        _ reading: ReadingMode,
        maximumMappings: Int = ContentsLoader.maximumMappings
    ) throws(ManifestError) -> [FileContents] {
        var loader = ContentsLoader(in: folder, reading: reading, maximumMappings: maximumMappings)
        var contents: [FileContents] = []
        contents.reserveCapacity(substitutions.count)
        var findings: [Finding] = []
        for substitution in substitutions {
            do throws(FileProblem) {
                contents.append(try loader.contents(of: substitution.reference))
            } catch {
                findings.append(Finding(error, with: substitution.file, at: substitution.fileOffset))
            }
        }
        guard findings.isEmpty else { throw ManifestError(source.issues(findings)) }
        return contents
    }
}
