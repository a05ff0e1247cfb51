import Foundation
import LocalSubstitutionCache

/// The mistakes in a path that is not a plain path below the manifest's folder.
enum WrongPath {
    /// Returns a sentence with the cause and the remedy; nil if the path is plain.
    static func problem(of path: String) -> String? {
        if path.isEmpty { return "the file's name is empty; write one, such as \"img/logo.png\"" }
        if path == "./" { return nil }
        if path.utf8.contains(where: \.isControl) {
            return "a backslash before a letter means something else in JSON, here a control character; "
                + advice(plain(withoutEscapes(path)))
        }
        let name = quoted(path)
        let mayBeURL = path.contains(":") || path.hasPrefix("//")
        let isURL = (try? URLPattern(path)) != nil || path.lowercased().hasPrefix("file:") || hasUserInformation(path)
        if mayBeURL, isURL {
            return "\(name) is a URL; put the file itself into the manifest's folder, and write its name here"
        }
        if isAbsoluteLocalPath(path) {
            return
                "\(name) is a path on one computer; copy the file into the manifest's folder, and write its path from there"
        }
        if path.contains("\\") {
            return "\(name) has a backslash; \(advice(plain(path.replacingOccurrences(of: "\\", with: "/"))))"
        }
        if path.hasPrefix("/") { return "\(name) begins with \"/\"; \(advice(plain(path)))" }
        var segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(
            Substring.init
        )
        if segments.last?.isEmpty == true { segments.removeLast() }
        if segments.count > ManifestFolder.maximumDepth + 1 { return FileProblem.tooDeep.reason(for: path) }
        guard
            let mark = [("..", ".."), (".", "./"), ("", "//")].first(where: { segments.contains(Substring($0.0)) })?.1
        else {
            return nil
        }
        if let plain = plain(path) { return "\(name) has a \"\(mark)\" too many; \(advice(plain))" }
        let rest = path.components(separatedBy: "../").last ?? ""
        return
            "\(name) leaves the manifest's folder with \"..\"; put the file into the folder, and write its path from there"
            + (rest.isEmpty || rest == ".." ? "" : ", such as \(quoted(rest))")
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
