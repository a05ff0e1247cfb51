/// A search for a file or folder whose name in the manifest is right, but whose folder is wrong.
enum Namesake {
    /// Finds a path with the same last component as `path`, in any letter case.
    ///
    /// If there is no such path, and `path` is the path of a file, the search ignores additions to file names (see
    /// ``CopyName``).
    ///
    /// - Parameters:
    ///   - path: The path as it was written; a path that ends in "/" names a folder.
    ///   - files: The paths of all files.
    /// - Returns: The path; nil if there is none. If several are found, the one that shares the longest suffix with
    ///   `path` is returned, because the mistake is in the folders before the suffix. Of several, the shortest is.
    static func path(of path: String, among files: [String]) -> String? {
        let isFolder = path.hasSuffix("/")
        guard let name = name(of: path) else { return nil }
        let others = isFolder ? folders(of: files) : files
        func named(_ isMeant: (String) -> Bool) -> [String] {
            others.filter { Self.name(of: $0).map(isMeant) ?? false }
        }
        var paths = named { $0.lowercased() == name.lowercased() }
        if paths.isEmpty, !isFolder, !name.contains(".") {
            paths = named { $0.lowercased().hasPrefix(name.lowercased() + ".") }
        }
        if paths.isEmpty, !isFolder { paths = named { CopyName.match(for: name, among: [$0]) != nil } }
        return paths.max { first, second in
            let shared = [first, second].map { suffixLength(of: $0, and: path) }
            return (shared[0], second.count, second) < (shared[1], first.count, first)
        }
    }

    /// Returns the number of characters at the ends of two paths that are equal; the slash before a path counts, too.
    private static func suffixLength(of first: String, and second: String) -> Int {
        zip("/\(first)".reversed(), "/\(second)".reversed()).prefix { $0 == $1 }.count
    }

    private static func name(of path: String) -> String? { path.split(separator: "/").last.map(String.init) }

    /// Returns the paths of all folders that contain a file, each with "/" at its end.
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
