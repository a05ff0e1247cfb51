/// An issue whose place is still an offset.
struct Finding: Hashable, Sendable {
    let offset: Int
    let severity: ManifestIssue.Severity
    let code: ManifestIssue.Code
    let message: String
}

extension SourceText {
    /// The findings as issues, each once, in the order of the text.
    func issues(_ findings: [Finding]) -> [ManifestIssue] {
        var seen: Set<Finding> = []
        let unique = findings.filter { seen.insert($0).inserted }
        let sorted = unique.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        return sorted.map { _, finding in
            let place = place(of: finding.offset)
            return ManifestIssue(
                severity: finding.severity,
                code: finding.code,
                message: finding.message,
                file: name,
                line: place.line,
                column: place.column
            )
        }
    }
}
