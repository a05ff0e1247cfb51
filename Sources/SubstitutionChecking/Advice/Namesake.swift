/// Files and folders that lie elsewhere under the name that was written.
enum Namesake {
    /// Finds what ends in the same name as `path`, in any letter case, or for a file in a copy's name.
    ///
    /// - Parameters:
    ///   - path: What was written; one that ends in "/" is a folder's.
    ///   - files: The paths of all files.
    /// - Returns: The path; of several the one that shares the longest end with what was written, as the folders before
    ///   it are what is wrong.
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

    /// Every folder that a file lies in, with "/" at its end.
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
