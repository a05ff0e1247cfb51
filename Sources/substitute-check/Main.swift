import Foundation
import LocalSubstitutionCache

/// Checks a manifest during a build: it fails if an app would refuse the manifest, with the app's own errors.
///
/// The plugin `CheckManifest` runs it with two words: either `--problem` and a message, or the paths of the manifest
/// and of a file to write if there is no error. It links only the app's own library, as every app's build compiles it.
@main
enum Main {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 2 else {
            fail("substitute-check is only for the plugin CheckManifest; run substitute check instead", 2)
        }
        if words[0] == "--problem" { fail("error: \(visible(words[1]))") }
        let file = URL(fileURLWithPath: words[0])
        do throws(ManifestError) {
            let text = try SubstitutionManifest.text(of: file, name: words[0])
            let manifest = SubstitutionManifest(text, name: words[0], url: file)
            _ = try SubstitutionTable(manifest, folder: file.deletingLastPathComponent(), reading: .mapped)
        } catch {
            let remedy = "substitute check (or swift package substitute check) also says what to write instead"
            fail("\(error)\n\(visible(words[0])):1:1: note: \(remedy)")
        }
        do {
            try Data("// The manifest has no errors.\n".utf8).write(to: URL(fileURLWithPath: words[1]))
        } catch {
            fail("error: \(error.localizedDescription)")
        }
    }

    private static func fail(_ message: String, _ status: Int32 = 1) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}
