import Foundation

/// The reason why a path in the manifest cannot be used.
package enum FileProblem: Error, Hashable {
    case missing
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
        case ENOENT, ENOTDIR: self = .missing
        case ELOOP: self = .endless
        default: self = .unreadable(String(cString: strerror(code)))
        }
    }

    /// Returns the clause that says what is wrong with `path`.
    package func cause(of path: String) -> String {
        let subject = quoted(path)
        return switch self {
        case .missing: "\(subject) does not exist"
        case .wrongCase(let actual): "\(subject) is \(quoted(actual)) on disk"
        case .isFolder: "\(subject) is a folder"
        case .isFile: "\(subject) is a file"
        case .isLink: "\(subject) is a symbolic link"
        case .isLinkToFolder:
            "\(subject) is a symbolic link to a folder, which the entry of a folder does not follow"
        case .dangling: "\(subject) is a symbolic link to something that does not exist"
        case .replaced: "\(subject), or a folder on its path, was replaced while it was being read"
        case .notRegular: "\(subject) is neither a file nor a folder"
        case .unreadable(let reason): "\(subject) cannot be read: \(reason)"
        case .outside: "\(subject) is outside the manifest's folder, behind a symbolic link"
        case .endless: "\(subject) leads through symbolic links that lead to each other"
        case .tooDeep: "\(subject) is nested more than \(ManifestFolder.maximumDepth) folders deep"
        case .exceeds(let limit): limit.cause(of: subject)
        }
    }
}
