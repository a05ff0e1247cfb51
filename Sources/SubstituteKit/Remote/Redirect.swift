import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which redirects are followed.
///
/// Foundation on Linux follows a redirect to a `file:` URL incorrectly: Foundation requests the path of the `file:`
/// URL from the server that sent the redirect.
enum Redirect {
    /// The maximum number of redirects for one load.
    static let maximumCount = 20

    /// Returns the URL to load next; nil if the response is not a redirect.
    ///
    /// - Throws: ``ToolError`` if the target of the redirect must not be loaded.
    static func target(of response: HTTPURLResponse) throws(ToolError) -> URL? {
        // RFC 9110 §15.4: for any other status, a client does not follow `Location` automatically.
        guard [301, 302, 303, 307, 308].contains(response.statusCode) else { return nil }
        guard let location = response.field("Location"), !location.isEmpty else {
            throw ToolError("it is redirected (\(response.statusCode)), and its server does not say where to")
        }
        guard let source = response.url, let target = response.redirectTarget,
            let scheme = target.scheme?.lowercased(), ["http", "https"].contains(scheme), target.host?.isEmpty == false
        else {
            throw ToolError("it is redirected to \(quoted(location)), which is no http: or https: URL with a server")
        }
        if source.scheme?.lowercased() == "https", scheme == "http" {
            throw ToolError("it is redirected to \(quoted(location)), and http: is less safe than https:")
        }
        return plain(target)
    }

    /// Refuses a redirect into a private network, unless the user has named a URL in a private network.
    ///
    /// Otherwise a public server could let the tool read pages of the user's own network.
    static func check(_ target: URL, after first: URL) throws(ToolError) {
        guard PrivateNetwork.contains(first) || !PrivateNetwork.contains(target) else {
            throw ToolError(
                "it is redirected to \(quoted(target.absoluteString)), which lies in a private network; name that URL if "
                    + "it is the right one"
            )
        }
    }

    /// Returns a URL with a lowercase scheme and without user info.
    ///
    /// Foundation on Linux does not recognise a scheme in capitals. It also sends the user name and password of a URL
    /// as credentials.
    static func plain(_ url: URL) -> URL {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        components.scheme = components.scheme?.lowercased()
        (components.user, components.password) = (nil, nil)
        return components.url ?? url
    }
}
