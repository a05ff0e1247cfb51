public import Foundation

/// A manifest that was refused, with every error of it.
public struct ManifestError: Error, Equatable, CustomStringConvertible, LocalizedError {
    /// Every error found, in the order of the file.
    ///
    /// Never empty, and without warnings. Where the text is not JSON, it is the first mistake alone: nothing else of
    /// such a text is known. ``LocalSubstitutionCache/reload()`` throws the same.
    public let issues: [ManifestIssue]

    package init(_ issues: [ManifestIssue]) {
        self.issues = issues
    }

    /// The number of issues in ``description``: a log does not hold more, and nobody reads them.
    static let maximumDescribed = 100

    /// One issue a line, in the form of ``ManifestIssue/description``: the first 100, and a line with the number of
    /// the others.
    public var description: String {
        var lines = issues.prefix(Self.maximumDescribed).map(\.description)
        let others = issues.count - lines.count
        if others > 0 {
            lines.append("and \(others) more; ManifestError.issues has all, and substitute check prints them")
        }
        return lines.joined(separator: "\n")
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ManifestError {
    /// The one issue of a manifest that could not be read at all.
    init(unreadable path: String, because reason: String) {
        self.init(path, .unreadableManifest, reason)
    }

    /// The one issue of a manifest whose changes cannot be told.
    package init(unwatched path: String, because reason: String) {
        self.init(path, .notWatched, reason)
    }

    private init(_ path: String, _ code: ManifestIssue.Code, _ reason: String) {
        self.init([
            ManifestIssue(
                severity: .error,
                code: code,
                message: reason,
                file: path,
                line: 1,
                column: 1
            )
        ])
    }
}
