import Foundation
import LocalSubstitutionCache

/// The mistakes in a path that is not a plain path below the manifest's folder.
enum WrongPath {
    /// Returns a sentence with the cause and the remedy; nil if the path is plain.
    static func problem(of path: String) -> String? {
        let bytes = path.utf8
        if bytes.isEmpty {
            return "the file's name is empty; write one, such as \"img/logo.png\""
        }
        if path == "./" { return nil }
        if bytes.contains(where: \.isControl) {
            return "a backslash before a letter means something else in JSON, here a control character; "
                + advice(plain(withoutEscapes(path)))
        }
        let mayBeURL = bytes.contains(UInt8(ascii: ":")) || bytes.starts(with: "//".utf8)
        if mayBeURL,
            (try? URLPattern(path)) != nil || path.lowercased().hasPrefix("file:") || hasUserInformation(path)
        {
            return
                "\(quoted(path)) is a URL; put the file itself into the manifest's folder, and write its name here"
        }
        if isAbsoluteLocalPath(path) {
            return
                "\(quoted(path)) is a path on one computer; copy the file into the manifest's folder, and write its path from there"
        }
        if bytes.contains(UInt8(ascii: "\\")) {
            return "\(quoted(path)) has a backslash; \(advice(plain(path.replacingOccurrences(of: "\\", with: "/"))))"
        }
        if bytes.first == UInt8(ascii: "/") {
            return "\(quoted(path)) begins with \"/\"; \(advice(plain(path)))"
        }
        var segments = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        if segments.last?.isEmpty == true { segments.removeLast() }
        if segments.count > ManifestFolder.maximumDepth + 1 { return FileProblem.tooDeep.reason(for: path) }
        if segments.contains(where: { $0 == ".." || $0 == "." || $0.isEmpty }) {
            guard let plain = plain(path) else {
                let rest = path.components(separatedBy: "../").last ?? ""
                return
                    "\(quoted(path)) leaves the manifest's folder with \"..\"; put the file into the folder, and write its "
                    + "path from there" + (rest.isEmpty || rest == ".." ? "" : ", such as \(quoted(rest))")
            }
            let what = segments.contains("..") ? ".." : segments.contains(".") ? "./" : "//"
            return "\(quoted(path)) has a \"\(what)\" too many; \(advice(plain))"
        }
        return nil
    }

    /// True for a path that begins like an absolute path on a user's computer.
    private static func isAbsoluteLocalPath(_ path: String) -> Bool {
        let roots = ["/Users/", "/home/", "/Volumes/", "/tmp/", "/var/", "/private/", "~/"]
        let hasDrive = path.utf8.first?.isASCIILetter == true && path.dropFirst().hasPrefix(":")
        return hasDrive || roots.contains(where: path.hasPrefix)
    }

    /// Returns the path that the designer meant by a path with backslashes, which the JSON parser reads as escapes.
    ///
    /// For example, the parser reads the `\n` in `img\new.png` as a newline.
    private static func withoutEscapes(_ path: String) -> String {
        let letters: [Unicode.Scalar: String] = ["\n": "/n", "\t": "/t", "\r": "/r", "\u{8}": "/b", "\u{C}": "/f"]
        return path.unicodeScalars.map { letters[$0] ?? ($0.value < 0x20 || $0.value == 0x7F ? "" : String($0)) }
            .joined()
    }

    private static func advice(_ plain: String?) -> String {
        plain.map { "write \(quoted($0))" } ?? "write the file's path from the manifest's folder"
    }

    /// Returns `path` with empty, `.` and `..` segments resolved; nil if the path leaves the manifest's folder.
    private static func plain(_ path: String) -> String? {
        var plain: [Substring] = []
        for segment in path.split(separator: "/") where segment != "." {
            if segment != ".." {
                plain.append(segment)
            } else if plain.popLast() == nil {
                return nil
            }
        }
        if plain.isEmpty { return "./" }
        return plain.joined(separator: "/") + (path.hasSuffix("/") ? "/" : "")
    }
}
