package import Foundation

/// The manifest that a command works on.
package struct ManifestFile: Sendable {
    /// The name of the manifest in messages.
    package let name: String
    package let url: URL
    /// The search that finds manifests; if this manifest does not exist, it suggests another.
    let location: ManifestLocation

    /// The folder that contains the manifest and its files.
    package var folder: URL { url.deletingLastPathComponent() }

    /// A suggestion for the case that there is no manifest; nil if there is none.
    var hint: String? { location.hint(for: name) }
}
