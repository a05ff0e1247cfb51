import Foundation
import LocalSubstitutionCache

extension ManifestResolver {
    /// The maximum number of guesses at what was meant by the names of missing files.
    private static let maximumGuesses = 20

    /// Adds the remedies to the errors about files.
    mutating func addRemedies() {
        var entries: [Int: ManifestEntry] = [:]
        for entry in manifest.entries { if let file = entry.file { entries[file.offset] = entry } }
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
            let meant = problem == .missing ? files?.path(meantBy: path, &guesses) : nil
            finding.message = problem.reason(for: path, meant: meant)
            return finding.code == .missingFile
                ? Advice.finding(aboutMissing: file, of: entry, in: folder) ?? finding : finding
        }
    }
}
