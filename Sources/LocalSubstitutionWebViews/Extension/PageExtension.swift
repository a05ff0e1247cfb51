import Foundation
package import LocalSubstitutionCache
import SubstitutionRules

/// The web extension with which an app's web views redirect real pages' requests to mirrors.
///
/// A real page has its own http or https origin. The mirror of `https://host/path` is `substitution-https://host/path`,
/// and the app answers requests for mirrors. The extension consists of two texts: a manifest and rules. Both are
/// generated from the app's substitutions, and WebKit compiles the rules. The extension holds no scripts, and none of
/// the app's files.
struct PageExtension {
    /// The contents of the extension's files, keyed by path below the extension's folder.
    let files: [String: Data]
    /// The substituted URLs that the rules leave to the network.
    let omissions: [Ruleset.Omission]

    /// The maximum number of rules that WebKit accepts (`ContentExtensionCompiler.cpp`, `maxRuleCount`).
    static let maximumRules = 150_000

    /// Creates the extension.
    ///
    /// - Parameters:
    ///   - substitutions: The manifest's substitutions, without those that have expired.
    ///   - name: The name of the manifest, for messages.
    ///   - maximum: The maximum number of rules.
    /// - Throws: ``ManifestError`` if there are more rules than `maximum`.
    init(_ substitutions: [Substitution], name: String, maximum: Int = maximumRules) throws(ManifestError) {
        // The closure refuses no substitution: `SchemeServer` can answer with any media type and header field that a
        // manifest sets.
        let ruleset = Ruleset(substitutions) { _ in nil }
        omissions = ruleset.omissions
        let filters = [PageProbe.filter] + ruleset.rules.map(\.filter)
        guard filters.count <= maximum else {
            let entry = ruleset.costliest(ruleset.rules).first?.entry
            let most = entry.map { "; most are needed by \(quoted($0.namedURL))" } ?? ""
            throw ManifestError([
                ManifestIssue(
                    severity: .error,
                    code: .tooManyRules,
                    message: "its URLs need \(ruleset.count + 1) rules, but WebKit accepts \(maximum)\(most)",
                    file: name,
                    line: entry?.line ?? 1,
                    column: entry?.column ?? 1
                )
            ])
        }
        let rules = filters.enumerated().map { DeclarativeRule(toMirrorOf: $1, $0 + 1) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings and numbers cannot fail.
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

    /// Writes the extension into the app's caches folder; see ``write(below:)``.
    func write() throws -> URL {
        let folders = FileManager.default
        return try write(
            below: folders.url(for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        )
    }

    /// Writes the extension into a separate folder below `parent`, unless the folder already holds the extension.
    ///
    /// The folder's name contains a hash of the files. So an app that starts again with the same manifest writes
    /// nothing. The folders of previous manifests stay: the system itself empties caches folders.
    ///
    /// - Parameter parent: A caches folder, as a file URL.
    /// - Returns: The extension's folder.
    /// - Throws: Foundation's error, with the path, if a file cannot be written.
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
    /// The manifest's URLs need more rules than an engine accepts.
    package static let tooManyRules = Self(rawValue: "too-many-rules")
}
