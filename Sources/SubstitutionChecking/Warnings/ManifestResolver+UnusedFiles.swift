import Foundation
import LocalSubstitutionCache

/// Warnings about files that no entry uses.
extension ManifestResolver {
    /// Warns of unused files, one by one or by folder.
    mutating func warnOfUnusedFiles(oneByOne: Bool) {
        // An entry with an error may mean one of the files.
        guard isSound, let all = try? files?.files(below: "./").files else { return }
        // The tool reads these.
        let found = all.filter { $0.name != "substitute.json" && !$0.name.hasSuffix(".schema.json") }
        let used = Set(substitutions.map(\.foundFile.realPath))
        let isUsed = Set(found.filter { used.contains($0.file.realPath) }.flatMap(\.name.folders) + [""])
        let unused = found.filter { !used.contains($0.file.realPath) }.map(\.name)
        // Group the files by the topmost folder in which no file is used. If there is no such folder, group them by the
        // folder that contains the file.
        let groups = Dictionary(grouping: unused) { name in
            let folder = name.folders.first { !isUsed.contains($0) } ?? name.folders.last ?? ""
            return oneByOne || AdviceTable.leftover(name) != nil ? name : folder
        }
        for (folder, names) in groups.sorted(by: { $0.key < $1.key }) {
            let sentence = Self.sentence(ofUnused: names, in: folder, isWhole: !isUsed.contains(folder))
            report(.warning, .unusedFile, 0, sentence)
        }
    }

    private static func sentence(ofUnused names: [String], in folder: String, isWhole: Bool) -> String {
        guard let first = names.first, names.count > 1 else {
            let name = names.first ?? ""
            let rest = AdviceTable.leftover(name).map { ", which \($0)" } ?? "; map it, or remove the file"
            return "no entry uses \(quoted(name))\(rest)"
        }
        if isWhole, !folder.isEmpty {
            return "no entry uses \(quoted(folder)) with its \(names.count) files; map the folder, "
                + "such as \"https://example.com/\(visible(folder))\": \(quoted(folder)), or remove it"
        }
        let others = names.count == 2 ? quoted(names[1]) : "\(names.count - 1) others"
        return "no entry uses \(quoted(first)) and \(others)" + (folder.isEmpty ? "" : " in \(quoted(folder))")
            + "; map them, or remove the files"
    }
}
