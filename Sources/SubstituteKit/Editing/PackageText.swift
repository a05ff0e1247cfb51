import Foundation

/// The text of a Package.swift.
///
/// A target is found only if its name and its resources are string literals, because the text is not evaluated.
struct PackageText {
    private let text: String

    /// Reads the Package.swift of a folder; if it cannot be read, the text is empty.
    init(in folder: URL) {
        let file = folder.appendingPathComponent("Package.swift")
        self.init((try? String(contentsOf: file, encoding: .utf8)) ?? "")
    }

    init(_ text: String) {
        self.text = text.components(separatedBy: "\n")
            .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }.joined(separator: "\n")
    }

    /// Returns whether the target lists `path` as a resource with the rule `.copy`.
    func ships(_ path: String, in target: String) -> Bool {
        targets(named: target).contains { $0.contains(".copy(\"\(path)\")") }
    }

    /// Returns the text in the parentheses of each `.target(name: "…", …)`, `.executableTarget(…)` and the like.
    ///
    /// Another target's dependency on this target may be written in the same way. The text of such a dependency is also
    /// returned.
    private func targets(named name: String) -> [Substring] {
        var found: [Substring] = []
        var start = text.startIndex
        while let opening = text.range(of: "arget(", range: start..<text.endIndex)?.upperBound {
            start = opening
            guard text[opening...].drop(while: \.isWhitespace).hasPrefix("name: \"\(name)\"") else { continue }
            var depth = 1
            found.append(
                text[opening...].prefix { character in
                    depth += character == "(" ? 1 : character == ")" ? -1 : 0
                    return depth > 0
                }
            )
        }
        return found
    }
}
