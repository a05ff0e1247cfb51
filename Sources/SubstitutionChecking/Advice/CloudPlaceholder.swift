import Foundation
import LocalSubstitutionCache

/// The files that macOS leaves in place of those that are only in iCloud: `.logo.png.icloud` for `logo.png`.
enum CloudPlaceholder {
    /// The remedy for a missing file that has a placeholder beside it; nil for all others.
    static func problem(ofMissing path: String, in folder: URL) -> String? {
        let file = folder.appendingPathComponent(path)
        let placeholder = file.deletingLastPathComponent().appendingPathComponent(".\(file.lastPathComponent).icloud")
        guard FileManager.default.fileExists(atPath: placeholder.path) else { return nil }
        return "\(quoted(path)) is only in iCloud; in the Finder, choose Download Now for it"
    }
}
