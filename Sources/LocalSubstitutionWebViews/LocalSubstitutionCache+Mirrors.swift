public import Foundation
public import LocalSubstitutionCache
import SubstitutionRules

extension LocalSubstitutionCache {
    /// Where a web view finds a page with the app's files, on a scheme of this library.
    ///
    /// The page's own files, relative references and absolute ones that the manifest names come from the bundle; its
    /// origin is that of the mirror and not the site's, so it has no cookies and a storage of its own. For a web view
    /// whose configuration `serveMirrors(from:)` was called on:
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
