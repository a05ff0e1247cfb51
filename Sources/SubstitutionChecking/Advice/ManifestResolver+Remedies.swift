import Foundation
import LocalSubstitutionCache

extension ManifestResolver {
    /// The maximum number of guesses at what was meant by the names of missing files.
    private static let maximumGuesses = 20

    /// Adds the remedies to the errors about files.
    mutating func addRemedies() {
        var entries: [Int: ManifestEntry] = [:]
        for entry in manifest.entries { if let file = entry.file { entries[file.offset] = entry } }
        // Nobody means an unfinished download or a shortcut in place of the file.
        let isMissing = findings.contains { $0.problem == .missing }
        let names = isMissing ? (try? files?.files(below: "./"))?.files.map(\.name) : nil
        let files = names?.filter { Leftover($0)?.standsForFile != true } ?? []
        var guesses = Self.maximumGuesses
        findings = findings.map { finding in
            var finding = finding
            guard let problem = finding.problem, let path = finding.path else {
                if finding.code == .duplicateKey { finding.message += "; rename one" }
                return finding
            }
            // A folder entry also has the problems of the files in its folder, which have other paths.
            guard let entry = entries[finding.offset], let file = entry.file, file.value == path else {
                finding.message = problem.reason(for: path)
                return finding
            }
            var meant: String?
            if problem == .missing, guesses > 0 {
                guesses -= 1
                meant = NearestFile.path(meantBy: path, among: files)
            }
            finding.message = problem.reason(for: path, meant: meant)
            guard finding.code == .missingFile else { return finding }
            return Advice.finding(aboutMissing: file, of: entry, in: folder, isNear: meant != nil) ?? finding
        }
    }
}
