public import Foundation

/// The errors for which a manifest was refused.
///
/// A cache throws these errors when it is created, and in ``LocalSubstitutionCache/reload()``.
public struct ManifestError: Error, Equatable, CustomStringConvertible, LocalizedError {
    /// Every error found, in the order of the file.
    ///
    /// The list is never empty and holds no warnings. If the text is not JSON, the first syntax error is the only
    /// issue: nothing else is known of such a text.
    public let issues: [ManifestIssue]

    package init(_ issues: [ManifestIssue]) {
        self.issues = issues
    }

    /// The maximum number of issues in ``description``, because no developer reads more, and logs are limited.
    static let maximumDescribed = 100

    /// The issues, one per line in the form of ``ManifestIssue/description``.
    ///
    /// If there are more than 100, only the first 100 are listed, and a last line says how many are left out.
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
    /// Creates an error with one issue: the manifest could not be read at all.
    init(unreadable path: String, because reason: String) {
        self.init(path, .unreadableManifest, reason)
    }

    /// Creates an error with one issue about the manifest as a whole.
    package init(_ path: String, _ code: ManifestIssue.Code, _ reason: String) {
        self.init([
            ManifestIssue(severity: .error, code: code, message: reason, file: path, line: 1, column: 1)
        ])
    }
}
