package import Foundation

/// The schemes under which an engine asks this library for what lies at http and https.
///
/// `substitution-https://host/path` stands for `https://host/path`. Host, port, path and query stay, so that relative
/// references lead to mirrors, and two sites have two origins. It is called a mirror of that URL.
package enum MirrorURL {
    package static let prefix = "substitution-"
    package static let schemes = ["substitution-http", "substitution-https"]

    /// The mirror of an http or https URL; nil for any other.
    ///
    /// Engines do not normalise the host and the port of a scheme of an app, and compare them as text.
    package static func mirror(of url: URL) -> URL? {
        let text = url.absoluteString
        guard let origin = WebOrigin(text), !origin.isMirror, let start = text.range(of: "://") else { return nil }
        return URL(string: origin.mirror.text + text[start.upperBound...].drop { !"/?#".contains($0) })
    }

    /// What a mirror stands for; nil for a URL that is none.
    package static func original(of url: URL) -> URL? {
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else { return nil }
        return URL(string: String(url.absoluteString.dropFirst(prefix.count)))
    }
}
