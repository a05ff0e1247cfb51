public import Foundation
public import LocalSubstitutionCache
import SubstitutionRules

extension SubstitutionCache {
    /// Returns the mirror of a page: the URL from which a web view loads the page with the app's files.
    ///
    /// If the manifest maps the URL of the page, the app's file answers. The same applies to every relative or absolute
    /// reference in the page. The page has the mirror's origin and not the site's, so it has none of the site's
    /// cookies, and its storage is separate. Call `serveMirrors(from:)` on the configuration of the web view, and later
    /// load the mirror:
    ///
    /// ```swift
    /// webView.load(URLRequest(url: cache.mirror(of: page)))
    /// ```
    ///
    /// - Parameter page: An http or https URL, mapped or not.
    /// - Returns: `substitution-https://host/path` for `https://host/path`; `page` itself for every other scheme.
    public func mirror(of page: URL) -> URL { MirrorURL.mirror(of: page) ?? page }

    /// Returns the original URL of a mirror, for the app's own decisions about navigation.
    ///
    /// - Parameter mirror: A URL from ``mirror(of:)``, as a web view reports it.
    /// - Returns: The http or https URL; `mirror` itself if it is not a mirror.
    public func original(of mirror: URL) -> URL { MirrorURL.original(of: mirror) ?? mirror }
}
