/// A loader that reads each file once, however many URLs name it.
struct ContentsLoader {
    /// The maximum number of files to map; further files are read.
    ///
    /// On Linux, a process can have at most 65,530 mappings. While a manifest is reloaded, its files are mapped twice:
    /// for the substitutions in use, and for the new ones.
    static let maximumMappings = 16_384

    private let folder: OpenedFolder
    private let reading: ReadingMode
    private var known: [FilePath: FileContents] = [:]
    private var mappings = 0

    private let maximumMappings: Int

    init(in folder: OpenedFolder, reading: ReadingMode, maximumMappings: Int = ContentsLoader.maximumMappings) {
        (self.folder, self.reading, self.maximumMappings) = (folder, reading, maximumMappings)
    }

    mutating func contents(of reference: FoundFile) throws(FileProblem) -> FileContents {
        let path = reference.realPath
        if let contents = known[path] { return contents }
        let contents = try FileContents(
            of: folder.file(reference),
            reading: mappings < maximumMappings ? reading : .copied,
            path: path
        )
        if contents.isMapped { mappings += 1 }
        known[path] = contents
        return contents
    }
}
