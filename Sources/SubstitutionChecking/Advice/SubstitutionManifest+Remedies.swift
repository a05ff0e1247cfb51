package import Foundation
package import LocalSubstitutionCache

extension SubstitutionManifest {
    /// Reads a manifest for its designer: continues after each mistake, and adds the remedies to the errors.
    ///
    /// `url` is the file that the text came from, if any.
    package init(checking text: Data, name: String, url: URL?) {
        let document = RepairingJSONParser.parse(text)
        self.init(text, name: name, url: url, document)
        if findings.count > document.errors.count {
            var remedies = ManifestRemedies(document)
            remedies.add(to: &self)
        }
        // A reader may skip this mark, but a writer must not add it (RFC 8259 §8.1).
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            let message = "the file begins with an invisible byte-order mark; save it as UTF-8 without one"
            findings.append(Finding(offset: 0, severity: .warning, code: .encoding, message: message))
        }
    }

    /// The same manifest, read again with remedies.
    package var checked: SubstitutionManifest { SubstitutionManifest(checking: text, name: source.name, url: url) }

    /// Returns the errors of the manifest and its files, with remedies.
    package func errors(in folder: URL) -> [ManifestIssue] {
        source.issues(findings + resolver(in: folder).findings).filter { $0.severity == .error }
    }

    /// Returns the repairs of names that have letters in another case on disk; they leave no choice.
    package func exactRepairs(in folder: URL) -> [JSONRepair] {
        resolver(in: folder).findings.compactMap { finding in
            guard case .wrongCase(let actual) = finding.problem, let path = finding.path else { return nil }
            let range = finding.offset..<finding.offset + jsonString(path).utf8.count
            // A name with escapes is left to its author, and so is one inside a mapped folder.
            guard text.dropFirst(range.lowerBound).starts(with: jsonString(path).utf8) else { return nil }
            let error = JSONSyntaxError(offset: finding.offset, kind: .syntax, message: finding.message)
            return JSONRepair(error: error, range: range, replacement: jsonString(actual))
        }
    }

    /// Returns the table of the manifest, as an app creates it; the errors have remedies.
    package func table(in folder: URL, reading: ReadingMode = .mapped) throws(ManifestError) -> SubstitutionTable {
        do {
            return try SubstitutionTable(self, folder: folder, reading: reading)
        } catch {
            let errors = errors(in: folder)
            throw errors.isEmpty ? error : ManifestError(errors)
        }
    }

    /// Returns what was found of the files, with remedies for the errors.
    func resolver(in folder: URL) -> ManifestResolver {
        var resolver = ManifestResolver(self, folder: folder)
        resolver.resolve()
        resolver.addRemedies()
        return resolver
    }
}
