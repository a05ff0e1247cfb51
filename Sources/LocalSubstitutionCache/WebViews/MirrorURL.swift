public import Foundation

/// The schemes under which an engine asks this library for what lies at http and https.
///
/// `substitution-https://host/path` stands for `https://host/path`. Host, port, path and query stay, so that relative
/// references lead to mirrors, and two sites have two origins. It is called a mirror of that URL.
enum MirrorURL {
    static let prefix = "substitution-"
    static let schemes = ["substitution-http", "substitution-https"]

    /// The mirror of an http or https URL; nil for any other.
    ///
    /// Engines do not normalise the host and the port of a scheme of an app, and compare them as text.
    static func mirror(of url: URL) -> URL? {
        let text = url.absoluteString
        guard let origin = WebOrigin(text), !origin.isMirror, let start = text.range(of: "://") else { return nil }
        return URL(string: origin.mirror.text + text[start.upperBound...].drop { !"/?#".contains($0) })
    }

    /// What a mirror stands for; nil for a URL that is none.
    static func original(of url: URL) -> URL? {
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else { return nil }
        return URL(string: String(url.absoluteString.dropFirst(prefix.count)))
    }
}

extension LocalSubstitutionCache {
    /// Where a web view finds a page with the app's files, on a scheme of this library.
    ///
    /// The page's own files, relative references and absolute ones that the manifest names come from the bundle; its
    /// origin is that of the mirror and not the site's, so it has no cookies and a storage of its own. For a web view
    /// whose configuration `useSubstitutions(_:)` was called on:
    ///
    /// ```swift
    /// webView.load(URLRequest(url: cache.mirror(of: page)))
    /// ```
    ///
    /// - Parameter page: A page of http or https, mapped or not.
    /// - Returns: `substitution-https://host/path` for `https://host/path`; the same URL for every other scheme.
    public func mirror(of page: URL) -> URL { MirrorURL.mirror(of: page) ?? page }

    /// The page that a mirror stands for, for an app's own decisions about navigation.
    ///
    /// - Parameter mirror: A URL of ``mirror(of:)``, as a web view tells it.
    /// - Returns: The http or https URL; the same URL if it is no mirror.
    public func original(of mirror: URL) -> URL { MirrorURL.original(of: mirror) ?? mirror }
}
