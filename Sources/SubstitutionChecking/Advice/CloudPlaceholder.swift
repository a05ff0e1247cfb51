import Foundation
import LocalSubstitutionCache

/// The placeholders that macOS keeps for files that are only in iCloud: `.logo.png.icloud` for `logo.png`.
enum CloudPlaceholder {
    /// Returns the message about a missing file that is only in iCloud, with the remedy.
    ///
    /// Nil if the file has no placeholder.
    static func problem(ofMissing path: String, in folder: URL) -> String? {
        let file = folder.appendingPathComponent(path)
        let placeholder = file.deletingLastPathComponent().appendingPathComponent(".\(file.lastPathComponent).icloud")
        guard FileManager.default.fileExists(atPath: placeholder.path) else { return nil }
        return "\(quoted(path)) is only in iCloud; in the Finder, choose Download Now for it"
    }
}
