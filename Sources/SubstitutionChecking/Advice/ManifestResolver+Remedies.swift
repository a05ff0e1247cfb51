import Foundation
import LocalSubstitutionCache

extension ManifestResolver {
    /// The maximum number of guesses at what was meant by the names of missing files.
    private static let maximumGuesses = 20

    /// Adds the remedies to the errors about files.
    mutating func addRemedies() {
        var entries: [Int: ManifestEntry] = [:]
        for entry in manifest.entries { if let file = entry.file { entries[file.offset] = entry } }
        let isMissing = findings.contains { $0.problem == .missing }
        let names = isMissing ? (try? files?.files(below: "./"))?.files.map(\.name) : nil
        // Nobody means an unfinished download or a shortcut in place of the file.
        let nearest = NearestFile(names?.filter { AdviceTable.leftover($0) == nil } ?? [])
        var guesses = Self.maximumGuesses
        findings = findings.map { finding in
            var finding = finding
            guard let problem = finding.problem, let path = finding.path else {
                if finding.code == .duplicateKey { finding.message += "; rename one" }
                return finding
            }
            finding.message = problem.reason(for: path)
            // A folder entry also has the problems of the files in its folder, which have other paths.
            guard problem == .missing, let entry = entries[finding.offset], entry.file?.value == path else {
                return finding
            }
            let key = entry.key
            // A key such as `//comment` may be the URL of a server, whose file exists.
            if let sentence = AdviceTable.current.comments.sentence(about: key.value) {
                return Finding(offset: key.offset, severity: .error, code: .badURL, message: sentence)
            }
            guesses -= 1
            if let sentence = Wildcard.problem(with: path, of: entry) {
                finding.message = sentence
            } else if guesses >= 0 {
                finding.message = problem.reason(for: path, meant: nearest.path(meantBy: path))
            }
            return finding
        }
    }
}
