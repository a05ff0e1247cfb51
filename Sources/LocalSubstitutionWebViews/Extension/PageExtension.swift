import Foundation
package import LocalSubstitutionCache
import SubstitutionRules

/// The web extension that leads what real pages of an app's web views ask for to the schemes of mirrors.
///
/// It holds no files and no scripts: two texts, made from a table, which WebKit compiles.
struct PageExtension {
    /// Paths below the extension's folder, and what lies there.
    let files: [String: Data]
    /// The entries that are left to the network.
    let omissions: [Ruleset.Omission]

    /// The number of rules that WebKit takes (`ContentExtensionCompiler.cpp`, `maxRuleCount`).
    static let maximumRules = 150_000

    /// Makes the extension.
    ///
    /// - Parameters:
    ///   - substitutions: What is mapped, without what has expired.
    ///   - name: What messages call the manifest.
    ///   - maximum: How many rules there may be.
    /// - Throws: ``ManifestError`` when there are more rules than WebKit takes.
    init(_ substitutions: [Substitution], name: String, maximum: Int = maximumRules) throws(ManifestError) {
        // The scheme's server answers with every type and field.
        let ruleset = Ruleset(substitutions) { _ in nil }
        omissions = ruleset.omissions
        let filters = [PageProbe.filter] + ruleset.rules.map(\.filter)
        guard filters.count <= maximum else {
            let most = ruleset.costliest(ruleset.rules).prefix(1).map { "; most are needed by \(quoted($0.url))" }
            throw ManifestError([
                ManifestIssue(
                    severity: .error,
                    code: .tooManyRules,
                    message: "its URLs need \(filters.count) rules, and WebKit takes \(maximum)\(most.joined())",
                    file: name,
                    line: ruleset.costliest(ruleset.rules).first?.line ?? 1,
                    column: 1
                )
            ])
        }
        let rules = filters.enumerated().map { DeclarativeRule(toMirrorOf: $1, $0 + 1) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding texts and numbers cannot fail.
        files = [
            "rules.json": (try? encoder.encode(rules)) ?? Data("[]".utf8), "manifest.json": Data(Self.manifest.utf8),
        ]
    }

    private static let manifest = """
        {
          "manifest_version": 3,
          "name": "Substitutions",
          "description": "Shows files of this app instead of what servers send.",
          "version": "1.0",
          "permissions": ["declarativeNetRequestWithHostAccess"],
          "host_permissions": ["*://*/*"],
          "declarative_net_request": {
            "rule_resources": [{ "id": "substitutions", "enabled": true, "path": "rules.json" }]
          }
        }

        """

    /// Writes the extension into the app's folder of caches, as ``write(below:)`` does.
    func write() throws -> URL {
        let folders = FileManager.default
        return try write(
            below: folders.url(for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        )
    }

    /// Writes the extension into a folder of its own below `parent`, unless it lies there already.
    ///
    /// The folder's name tells the rules, so an app that starts again with the same manifest writes nothing. What
    /// others wrote is left alone; the system empties a folder of caches by itself.
    ///
    /// - Parameter parent: A folder of caches, a file URL.
    /// - Returns: The extension's folder.
    /// - Throws: Foundation's error when it cannot be written, with the path.
    func write(below parent: URL) throws -> URL {
        var hash = FNV1a()
        for (_, data) in files.sorted(by: { $0.key < $1.key }) { hash.combine(data) }
        let folder = parent.appendingPathComponent("LocalSubstitutionCache/Rules-\(hash)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, data) in files {
            let file = folder.appendingPathComponent(name)
            if (try? Data(contentsOf: file)) != data { try data.write(to: file, options: .atomic) }
        }
        return folder
    }
}

extension ManifestIssue.Code {
    /// More URLs than an engine takes rules for.
    package static let tooManyRules = Self(rawValue: "too-many-rules")
}
