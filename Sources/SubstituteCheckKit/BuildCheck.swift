import Foundation
import LocalSubstitutionCache

/// The check during a build, for the plugin `CheckManifest`.
package enum BuildCheck {
    /// Checks a manifest, or fails with a message from the plugin.
    ///
    /// - Parameters:
    ///   - words: Either `--problem` and the message, or three paths. The first path is the manifest's. The file at the
    ///     second path is written if the manifest has no error. The file at the third path is written if the next build
    ///     has to check again. This is necessary after an error or a warning, or if an entry expires on a later day.
    ///   - console: The console that the output is written to.
    /// - Returns: `good` if there is no error, `bad` if there is one, `usage` if `words` has neither form.
    package static func run(_ words: [String], _ console: Console) -> ExitStatus {
        defer { console.flush() }
        if words.count == 2, words[0] == "--problem" {
            console.printError("error: \(visible(words[1]))")
            return .bad
        }
        guard words.count == 3 else {
            console.printError("substitute-check is only for the plugin CheckManifest; run substitute check instead")
            return .usage
        }
        do {
            return try check(words[0], stamp: words[1], again: words[2], console)
        } catch {
            console.printError("substitute check: \((error as? ToolError)?.message ?? error.localizedDescription)")
            return .bad
        }
    }

    private static func check(_ path: String, stamp: String, again: String, _ console: Console) throws -> ExitStatus {
        let check = ManifestCheck(try ManifestLocation(console).find(path), on: console.now())
        try CheckReport([CheckReport.Result(check: check, issues: check.issues)], console).print(as: .text)
        if !check.issues.isEmpty || check.hasDayToCome { try console.write(UUID().uuidString, to: again) }
        guard check.issues.allSatisfy({ $0.severity == .warning }) else { return .bad }
        try console.write("// The manifest has no errors.\n", to: stamp)
        return .good
    }
}
