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
        let remedy = meant.map { "did you mean \(quoted($0))?" } ?? remedy
        return cause(of: path) + (remedy.map { "; \($0)" } ?? "")
    }

    private var remedy: String? {
        switch self {
        case .missing: "add it, or correct the name"
        case .wrongCase: "write it in the same case, or it works on a Mac and fails on a phone"
        case .isFolder: "add \"/\" at its end to map everything in it, or name a file"
        case .isFile: "remove the \"/\" at its end, and the one at the end of its URL"
        case .isLink: "name the file that it leads to"
        case .isLinkToFolder:
            "put the folder itself there, or remove the link and map its folder with another entry"
        case .dangling: "put the file itself there, or remove the link"
        case .replaced: "load the manifest again"
        case .notRegular, .unreadable: nil
        case .outside: "put the file itself into the folder"
        case .endless: "put the file itself there, or remove the links"
        case .tooDeep: "move it up"
        case .exceeds(.urls): "remove entries, or map smaller folders"
        case .exceeds(.bytes): "remove header fields, shorten the URLs, or map smaller folders"
        case .exceeds(.copies), .exceeds(.names): "map smaller folders"
        }
    }
}
