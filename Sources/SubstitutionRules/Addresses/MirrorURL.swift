package import Foundation

/// The URL schemes under which a web engine requests http and https URLs from this library.
///
/// `substitution-https://host/path` is called the mirror of `https://host/path`. A mirror keeps the host, port, path
/// and query. So a relative reference in a mirror refers to a mirror, and the mirrors of different origins have
/// different origins.
package enum MirrorURL {
    package static let prefix = "substitution-"
    package static let schemes = ["substitution-http", "substitution-https"]

    /// Returns the mirror of an http or https URL; nil for any other URL.
    ///
    /// The mirror's host and port are in normal form, because engines compare them as text under a custom scheme.
    package static func mirror(of url: URL) -> URL? {
        let text = url.absoluteString
        guard let origin = WebOrigin(text), !origin.isMirror, let start = text.range(of: "://") else { return nil }
        return URL(string: origin.mirror.text + text[start.upperBound...].drop { !"/?#".contains($0) })
    }

    /// Returns the original URL of a mirror; nil if the URL is not a mirror.
    package static func original(of url: URL) -> URL? {
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else { return nil }
        return URL(string: String(url.absoluteString.dropFirst(prefix.count)))
    }
}
