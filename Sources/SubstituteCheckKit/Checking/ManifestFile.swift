package import Foundation

/// A manifest that a command is about.
package struct ManifestFile: Sendable {
    /// What messages call it.
    package let name: String
    package let url: URL
    /// Where it was looked for.
    let location: ManifestLocation

    /// The folder of its files.
    package var folder: URL { url.deletingLastPathComponent() }

    /// What may have been meant when there is no manifest.
    var hint: String? { location.hint(for: name) }
}
