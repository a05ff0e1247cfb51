/// Files and folders that have the name that was written, but lie elsewhere.
enum Namesake {
    /// Finds a path with the last component of `path`, in any letter case, or for a file in the name of a copy.
    ///
    /// - Parameters:
    ///   - path: The path as it was written; one that ends in "/" names a folder.
    ///   - files: The paths of all files.
    /// - Returns: The path; of several, the one that shares the longest suffix with what was written, as the mistake is
    ///   in the folders before it.
    static func path(of path: String, among files: [String]) -> String? {
        let isFolder = path.hasSuffix("/")
        guard let name = name(of: path) else { return nil }
        let others = isFolder ? folders(of: files) : files
        func named(_ isMeant: (String) -> Bool) -> [String] {
            others.filter { Self.name(of: $0).map(isMeant) ?? false }
        }
        var paths = named { $0.lowercased() == name.lowercased() }
        if paths.isEmpty, !isFolder { paths = named { CopyName.match(for: name, among: [$0]) != nil } }
        return paths.max { first, second in
            let shared = [first, second].map { zip($0.reversed(), path.reversed()).prefix { $0 == $1 }.count }
            return (shared[0], second) < (shared[1], first)
        }
    }

    private static func name(of path: String) -> String? { path.split(separator: "/").last.map(String.init) }

    /// Returns every folder that contains a file, with "/" at its end.
    private static func folders(of files: [String]) -> [String] {
        var folders: Set<Substring> = []
        for file in files {
            var folder = file[...]
            while let slash = folder.lastIndex(of: "/"), folders.insert(folder[...slash]).inserted {
                folder = folder[..<slash]
            }
        }
        return folders.map(String.init).sorted()
    }
}
