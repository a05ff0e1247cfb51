package import Foundation

/// The manifest that a command works on.
package struct ManifestFile: Sendable {
    /// The name of the manifest in messages.
    package let name: String
    package let url: URL
    /// The search for manifests, which suggests another manifest if this one does not exist.
    let location: ManifestLocation

    /// The folder that contains the manifest and its files.
    package var folder: URL { url.deletingLastPathComponent() }

    /// A question that suggests another manifest if this one does not exist; nil if there is nothing to suggest.
    var hint: String? { location.hint(for: name) }
}
