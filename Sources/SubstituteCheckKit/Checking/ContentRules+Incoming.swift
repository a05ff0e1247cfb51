package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

/// The rules for a body that a server has sent, before it becomes a file.
extension ContentRules {
    /// Explains why a body is not the file that its URL names.
    ///
    /// Servers send a sign-in page or an error with status 200 in place of a file. So the body has to fit the type that
    /// the extension of `path` shows, and the type that the server sent. `check` warns about the same files. Formats
    /// such as PNG are an exception: servers often send one image format under the type of another, and browsers show
    /// the image.
    ///
    /// - Parameters:
    ///   - body: The whole body.
    ///   - path: The path of the file.
    ///   - sent: The type that the server sent; nil if it sent none.
    /// - Returns: A clause that begins with "it"; nil if there is no objection.
    package static func refusal(of body: Data, named path: String, sent: MediaType?) -> String? {
        let named = MediaType(fileName: path)
        var types = [named, sent ?? named].compactMap(\.self)
        if let sent, let named {
            let isItself =
                FileFormat(head: Array(body.prefix(FileFormat.headLength))).map {
                    FileFormat.expected(of: sent)?.contains($0) ?? false
                } ?? false
            if isItself || named.isHTML || named.essence == "text/markdown" { types = [sent] }
            // Old servers send JSON as a script.
            if sent.isJavaScript && named.isJSON { types = [named] }
        }
        return types.firstResult { type in
            refusal(of: FileSample(body, named: path, as: type), named: type == named, isPage: sent?.isHTML ?? false)
        }
    }

    /// Explains why a body may not replace a file: its bytes are of a kind that neither the file nor its name has.
    ///
    /// - Returns: A clause that begins with "it"; nil if there is no objection.
    package static func objection(to body: Data, replacing old: Data, named path: String) -> String? {
        guard let format = FileFormat(head: Array(body.prefix(FileFormat.headLength))),
            let expected = MediaType(fileName: path).flatMap(FileFormat.expected), !expected.contains(format),
            FileFormat(head: Array(old.prefix(FileFormat.headLength))) != format
        else { return nil }
        return "it is \(format.article) now, not \(FileFormat.list(expected, \.article))"
    }

    private static func refusal(of file: FileSample, named isNamed: Bool, isPage: Bool) -> String? {
        let (type, essence, isBinary) = (file.type, file.type.essence, FileFormat.isBinary(file.head))
        if file.format == .lfsPointer { return "it is a Git LFS pointer" }
        if !type.isUnknown, file.isStrayPage { return "it is a web page, not \(essence)" }
        guard file.expected != nil || type.isText || file.isPlaylist else { return nil }
        if file.format == .gzip, file.expected?.contains(.gzip) != true { return "it is still compressed" }
        if let expected = file.expected {
            if file.head.isEmpty { return "it is empty" }
            let isPossible = file.format != nil || isBinary || isUnclear(file.head, among: expected)
            return isPossible ? nil : "it is text, not \(essence)"
        }
        if file.isWide || file.head.isEmpty { return nil }
        if isBinary { return "it is not text" }
        if let tag = file.firstTag, !type.isHTML, !type.isXML, type.essence != "text/markdown",
            file.isCode ? !["style", "script"].contains(tag.lowercased()) : isPage || type.isJSON
        {
            return "it begins with \(quoted("<\(tag)")), so it is a web page, not \(essence)"
        }
        let start = rows.lazy.filter { $0.code == "wrong-start" }.compactMap { $0.finding(in: file) }.first
        if let start { return "it \(start.predicate)" }
        // Services send any text as JSON, so only a name that ends in .json or .xml decides.
        let isOther = type.isXML ? file.beginning.first != "<" : type.isJSON && !file.beginning.starts(with: jsonStart)
        return isNamed && isOther ? "it is text, not \(essence)" : nil
    }

    /// The beginning of JSON; servers also send it with comments, in a call (JSONP), and behind `)]}'`.
    nonisolated(unsafe) private static let jsonStart =
        /$|[\[{"\-0-9]|\)\]\}|\/[\/*]|(true|false|null|NaN)\b|(while|for)\s*\(|[A-Za-z_$][\w$.\[\]]*\s*\(/
}

extension FileSample {
    fileprivate var isPlaylist: Bool { type.canonical.essence == "application/vnd.apple.mpegurl" }
}
