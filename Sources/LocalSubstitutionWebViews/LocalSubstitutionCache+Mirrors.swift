public import Foundation
public import LocalSubstitutionCache
import SubstitutionRules

extension LocalSubstitutionCache {
    /// Returns the mirror of a page: the URL from which a web view loads the page with the app's files.
    ///
    /// The page itself and its references, relative or absolute, are answered by the app's files if the manifest maps
    /// them. The page's origin is that of the mirror and not the site's, so the page has no cookies, and its storage is
    /// separate. Call `serveMirrors(from:)` on the configuration of the web view, and later load the mirror:
    ///
    /// ```swift
    /// webView.load(URLRequest(url: cache.mirror(of: page)))
    /// ```
    ///
    /// - Parameter page: An http or https URL, mapped or not.
    /// - Returns: `substitution-https://host/path` for `https://host/path`; the same URL for every other scheme.
    public func mirror(of page: URL) -> URL { MirrorURL.mirror(of: page) ?? page }

    /// Returns the original URL of a mirror, for the app's own decisions about navigation.
    ///
    /// - Parameter mirror: A URL from ``mirror(of:)``, as a web view reports it.
    /// - Returns: The http or https URL; the same URL if it is no mirror.
    public func original(of mirror: URL) -> URL { MirrorURL.original(of: mirror) ?? mirror }
}
