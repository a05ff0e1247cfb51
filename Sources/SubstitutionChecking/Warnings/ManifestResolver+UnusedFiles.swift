import Foundation
import LocalSubstitutionCache

/// Warnings about files that no entry uses.
extension ManifestResolver {
    /// Warns of unused files, one by one or by folder.
    mutating func warnOfUnusedFiles(oneByOne: Bool) {
        // An entry with an error may mean one of the files.
        guard isSound else { return }
        guard let all = try? files?.files(below: "./").files else { return }
        // The tool reads these.
        let found = all.filter { $0.name != "substitute.json" && !$0.name.hasSuffix(".schema.json") }
        let used = Set(substitutions.map(\.foundFile.realPath))
        let unused = found.filter { !used.contains($0.file.realPath) }.map(\.name)
        guard !oneByOne else {
            for name in unused {
                report(.warning, .unusedFile, 0, Self.sentence(ofUnused: [name], in: "", isWhole: false))
            }
            return
        }
        let leftovers = unused.filter { Leftover($0) != nil }
        if !leftovers.isEmpty { report(.warning, .unusedFile, 0, Self.sentence(ofLeftovers: leftovers)) }
        let isUsed = Set(found.filter { used.contains($0.file.realPath) }.flatMap { Self.folders(of: $0.name) })
        // Group the files by the topmost folder in which no file is used. If there is no such folder, group them by the
        // folder that contains the file.
        let groups = Dictionary(grouping: unused.filter { Leftover($0) == nil }) { name in
            let folders = Self.folders(of: name)
            return folders.first { !isUsed.contains($0) && !$0.isEmpty } ?? folders.last ?? ""
        }
        for (folder, names) in groups.sorted(by: { $0.key < $1.key }) {
            report(
                .warning,
                .unusedFile,
                0,
                Self.sentence(ofUnused: names, in: folder, isWhole: !isUsed.contains(folder))
            )
        }
    }

    // MARK: - Sentences

    private static func sentence(ofLeftovers names: [String]) -> String {
        guard let first = names.first, let leftover = Leftover(first), names.count > 1 else {
            return sentence(ofUnused: names, in: "", isWhole: false)
        }
        let others = names.count == 2 ? quoted(names[1]) : "\(names.count - 1) others"
        return "no entry uses \(quoted(first)) and \(others): the first \(leftover.cause); delete them"
    }

    private static func sentence(ofUnused names: [String], in folder: String, isWhole: Bool) -> String {
        guard let first = names.first, names.count > 1 else {
            if let name = names.first, let leftover = Leftover(name) {
                return "no entry uses \(quoted(name)), which \(leftover.cause); \(leftover.remedy)"
            }
            return "no entry uses \(quoted(names.first ?? "")); map it, or remove the file"
        }
        if isWhole, !folder.isEmpty {
            return "no entry uses \(quoted(folder)) with its \(names.count) files; map the folder, "
                + "such as \"https://example.com/\(visible(folder))\": \(quoted(folder)), or remove it"
        }
        let others = names.count == 2 ? quoted(names[1]) : "\(names.count - 1) others"
        return "no entry uses \(quoted(first)) and \(others)" + (folder.isEmpty ? "" : " in \(quoted(folder))")
            + "; map them, or remove the files"
    }

    /// Returns the folders that contain the file `name`, outermost first.
    ///
    /// The manifest's own folder is the empty string.
    private static func folders(of name: String) -> [String] {
        [""] + name.indices.filter { name[$0] == "/" }.map { String(name[...$0]) }
    }
}
