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
    package func printAnnotation(
        _ severity: String,
        _ message: String,
        title: String,
        at place: (file: String, line: Int, column: Int)? = nil
    ) {
        let properties = place.map {
            "file=\(Self.property(visible($0.file))),line=\($0.line),col=\($0.column),"
        }
        print("::\(severity) \(properties ?? "")title=\(Self.property(title))::\(Self.data(message))")
    }

    private static func data(_ text: String) -> String {
        text.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "\r", with: "%0D")
            .replacingOccurrences(of: "\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacingOccurrences(of: ":", with: "%3A").replacingOccurrences(of: ",", with: "%2C")
    }
}
