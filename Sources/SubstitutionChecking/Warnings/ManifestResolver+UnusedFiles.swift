import Foundation
import LocalSubstitutionCache

/// Warnings about files that no entry uses.
extension ManifestResolver {
    /// Warns of unused files, one by one or by folder.
    ///
    /// If there are errors, at most one warning is added.
    mutating func warnOfUnusedFiles(oneByOne: Bool) {
        let errors = (manifest.findings + findings).filter { $0.severity == .error }
        // If there are errors, list unused files only if one of the errors is about a file. The list then helps to find
        // the file that the entry was meant to name.
        guard errors.isEmpty || errors.contains(where: { Self.aboutFiles.contains($0.code) }) else { return }
        guard let all = try? files?.files(below: "./").files else { return }
        // The tool reads these.
        let found = all.filter { $0.name != "substitute.json" && !$0.name.hasSuffix(".schema.json") }
        // An entry whose URL is wrong still uses its file.
        let named = manifest.entries.filter { $0.pattern == nil && !$0.namesFolder }.compactMap(\.file?.value)
        let used = Set(
            substitutions.map(\.foundFile.realPath) + named.compactMap { try? files?.file($0).realPath }
        )
        let unused = found.filter { !used.contains($0.file.realPath) }.map(\.name)
        guard errors.isEmpty else { return warnOfUnusedFiles(unused, of: found.map(\.name), beside: errors) }
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

    // MARK: - Beside errors

    /// The errors about a missing file or a wrong path; the entry may mean an unused file.
    private static let aboutFiles: Set<ManifestIssue.Code> = [.missingFile, .badPath]
    /// The errors that keep the tool from knowing which files the entries use.
    private static let unread: Set<ManifestIssue.Code> = [
        .syntax, .encoding, .nesting, .wrongKind, .missingField, .tooManyURLs, .tooLong,
    ]

    /// Warns of the unused files that an entry with an error may mean.
    ///
    /// There is no warning if the message of each such error already proposes an existing file.
    private mutating func warnOfUnusedFiles(_ unused: [String], of all: [String], beside errors: [Finding]) {
        guard !errors.contains(where: { Self.unread.contains($0.code) }) else { return }
        let messages = errors.filter { Self.aboutFiles.contains($0.code) }.prefix(100).map(\.message)
        /// The parts of each message between quotation marks; some of them are names of files.
        let quotedParts = messages.map { Set($0.components(separatedBy: "\"")) }
        let places = Set(all + all.flatMap { Self.folders(of: $0).dropFirst() })
        guard quotedParts.contains(where: { $0.isDisjoint(with: places) }) else { return }
        let proposed = quotedParts.reduce(into: Set()) { $0.formUnion($1) }
        let names = unused.filter { name in
            Leftover(name) == nil && proposed.isDisjoint(with: [name] + Self.folders(of: name).dropFirst())
        }
        guard !names.isEmpty else { return }
        let shown = names.prefix(3).map { quoted($0) }.joined(separator: ", ")
        let others = names.count > 3 ? " and \(names.count - 3) more" : ""
        let one = names.count == 1 ? "it" : "one of them"
        report(.warning, .unusedFile, 0, "no entry uses \(shown)\(others); perhaps an entry with an error means \(one)")
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
