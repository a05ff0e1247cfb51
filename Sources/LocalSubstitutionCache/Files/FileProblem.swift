import Foundation

/// The reason why a path in the manifest cannot be used.
package enum FileProblem: Error, Equatable {
    case missing(suggestion: String?)
    /// The case of a letter differs from the name on disk; the value is the path on disk.
    case wrongCase(String)
    case isFolder
    case isFile
    case isLink
    case isLinkToFolder
    /// A symbolic link whose target does not exist.
    case dangling
    case replaced
    case notRegular
    case unreadable(String)
    case outside
    /// Symbolic links form a loop.
    case endless
    case tooDeep
    case exceeds(LoadBudget.Limit)

    /// Creates the problem for the `errno` of a call that opens or reads a file.
    package init(errno code: Int32) {
        switch code {
        case ENOENT, ENOTDIR: self = .missing(suggestion: nil)
        case ELOOP: self = .endless
        default: self = .unreadable(String(cString: strerror(code)))
        }
    }

    /// Returns a sentence that explains the problem with `path` to the designer who wrote it.
    package func reason(for path: String) -> String {
        let subject = quoted(path)
        return switch self {
        case .missing(let suggestion):
            if let suggestion, suggestion == path.trimmingCharacters(in: .whitespaces) {
                "\(subject) has a space at its beginning or end; write \(quoted(suggestion))"
            } else {
                "\(subject) does not exist; "
                    + (suggestion.map { "did you mean \(quoted($0))?" } ?? "add it, or correct the name")
            }
        case .wrongCase(let actual):
            "\(subject) is \(quoted(actual)) on disk; write it in the same case, or it works on a Mac and fails on a phone"
        case .isFolder:
            "\(subject) is a folder; add \"/\" at its end to map everything in it, or name a file"
        case .isFile:
            "\(subject) is a file; remove the \"/\" at its end, and the one at the end of its URL"
        case .isLink:
            "\(subject) is a symbolic link; name the file that it leads to"
        case .isLinkToFolder:
            "\(subject) is a symbolic link to a folder, which the entry of a folder does not follow; put the folder itself "
                + "there, or remove the link and map its folder with another entry"
        case .dangling:
            "\(subject) is a symbolic link to something that does not exist; put the file itself there, or remove the link"
        case .replaced:
            "\(subject), or a folder on its path, was replaced while it was being read; load the manifest again"
        case .notRegular:
            "\(subject) is neither a file nor a folder"
        case .unreadable(let reason):
            "\(subject) cannot be read: \(reason)"
        case .outside:
            "\(subject) is outside the manifest's folder, behind a symbolic link; put the file itself into the folder"
        case .endless:
            "\(subject) leads through symbolic links that lead to each other; put the file itself there, or remove the links"
        case .tooDeep:
            "\(subject) is nested more than \(ManifestFolder.maximumDepth) folders deep; move it up"
        case .exceeds(let limit):
            limit.reason(for: path)
        }
    }
}
