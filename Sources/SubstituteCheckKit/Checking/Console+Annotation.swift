import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

extension Console {
    /// Writes a workflow command that reports an issue; GitHub shows the issue beside its line.
    ///
    /// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    ///
    /// - Parameters:
    ///   - severity: `error`, `warning` or `notice`.
    ///   - message: A sentence.
    ///   - title: One or a few words.
    ///   - place: The file with a line and a column in it; nil if the command is about no file.
    ///   - isOwn: True if the sentence is about the user's own manifest and files.
    package func printAnnotation(
        _ severity: String,
        _ message: String,
        title: String,
        at place: (file: String, line: Int, column: Int)? = nil,
        isOwn: Bool = false
    ) {
        let properties = place.map {
            "file=\(Self.property(SecretMask.shown(visible($0.file), isOwn: isOwn))),line=\($0.line),col=\($0.column),"
        }
        // In the command, the colons before the sentence would make its beginning look like a password.
        let message = Self.data(SecretMask.shown(message, isOwn: isOwn))
        printMasked("::\(severity) \(properties ?? "")title=\(Self.property(title))::\(message)")
    }

    private static func data(_ text: String) -> String {
        text.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "\r", with: "%0D")
            .replacingOccurrences(of: "\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacingOccurrences(of: ":", with: "%3A").replacingOccurrences(of: ",", with: "%2C")
    }
}
