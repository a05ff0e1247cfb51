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

/// The amounts of memory and time that one load of a manifest may still spend.
///
/// A short manifest can name much: several keys may map one large folder, and the response of each of its files repeats
/// the header fields of the entry. Everything that a manifest multiplies is spent from the budget before it is created.
package final class LoadBudget {
    /// A limit on something that a manifest multiplies; its raw value is the maximum.
    package enum Limit: Int, Sendable {
        /// The URLs; each file of a folder counts, and a `//` key counts twice.
        case urls = 200_000
        /// The memory for the texts of all URLs, each with the header fields of its response.
        case bytes = 150_000_000
        /// The names that are visited in folders.
        case names = 1_000_000
        /// The bytes of files that are read and not mapped, if a folder did not come with the app.
        case copies = 100_000_000

        /// Returns the clause about the path with which the manifest exceeds the limit.
        func cause(of path: String) -> String {
            let held = "all of which an app would hold in memory"
            return switch self {
            case .urls: "with \(path) the manifest maps more than \(rawValue) URLs, \(held)"
            case .bytes:
                "with \(path) the manifest's URLs, each with its own header fields, take more than "
                    + "\(rawValue / 1_000_000) MB, \(held)"
            case .copies: "with \(path) the files not mapped have more than \(rawValue / 1_000_000) MB, \(held)"
            case .names: "\(path) and the folders of the entries before it hold more than \(rawValue) files"
            }
        }
    }

    private var rest: [Limit: Int]

    /// Creates the budget for one load; tests pass smaller amounts.
    package init(_ amounts: [Limit: Int] = [:]) { rest = amounts }

    /// Spends an amount.
    ///
    /// - Throws: ``FileProblem/exceeds(_:)`` now and on all later calls, if more is spent than the limit allows.
    package func spend(_ amount: Int, of limit: Limit) throws(FileProblem) {
        let left = rest[limit] ?? limit.rawValue
        rest[limit] = amount <= left ? left - amount : -1
        if amount > left { throw .exceeds(limit) }
    }
}
