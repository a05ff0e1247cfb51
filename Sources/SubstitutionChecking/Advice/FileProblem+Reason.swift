import Foundation
package import LocalSubstitutionCache

extension FileProblem {
    /// Returns a sentence that explains the problem with `path` to the designer who wrote it.
    ///
    /// `meant` is the path that was probably meant by a path that does not exist.
    package func reason(for path: String, meant: String? = nil) -> String {
        if self == .missing, let meant, meant == path.trimmingCharacters(in: .whitespaces) {
            return "\(quoted(path)) has a space at its beginning or end; write \(quoted(meant))"
        }
        // Without the path, whose text decides nothing.
        let cause = cause(of: "")
        let remedy =
            meant.map { "did you mean \(quoted($0))?" }
            ?? AdviceTable.current.files.first { $0.match.occurs(in: cause) }?.says
        return self.cause(of: path) + (remedy.map { "; \($0)" } ?? "")
    }
}
