package import Foundation
import LocalSubstitutionCache

/// The origin of a web page, or of a page's mirror: scheme, host and port (RFC 6454 §4).
package struct WebOrigin: Hashable, Sendable {
    /// True for the origin of a mirror.
    package let isMirror: Bool
    /// The origin without the mirror's prefix: `https://host:port` in normal form, without the scheme's default port.
    package let site: String

    /// Parses a URL or an origin; nil for `null`, and for a scheme that is not http, https or a mirror's.
    package init?(_ text: String) {
        let prefix = text.prefix(MirrorURL.prefix.count)
        isMirror = prefix.lowercased() == MirrorURL.prefix
        // Parse only the text before the path, because paths on the web may be malformed.
        let original = isMirror ? text.dropFirst(prefix.count) : text[...]
        let start = original.range(of: "://")?.upperBound ?? original.endIndex
        let end = original[start...].firstIndex { #"/?#\"#.contains($0) } ?? original.endIndex
        guard let identity = try? URLIdentity(String(original[..<end])) else { return nil }
        site = String(identity.base.dropLast(identity.path.count))
    }

    package init?(_ url: URL?) {
        guard let url else { return nil }
        self.init(url.absoluteString)
    }

    /// The origin as the value of the `Origin` header field (RFC 6454 §7).
    package var text: String { (isMirror ? MirrorURL.prefix : "") + site }

    package var isSecure: Bool { site.hasPrefix("https:") }

    /// The authority `host:port`, without the scheme's default port.
    package var authority: String { String(site.drop { $0 != "/" }.dropFirst(2)) }

    /// True if the host is a domain name: neither an IP address nor this machine (`localhost`).
    package var hasName: Bool {
        let host = authority.hasPrefix("[") ? "" : authority.prefix { $0 != ":" }
        let isAddress = host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        return !isAddress && host != "localhost" && !host.hasSuffix(".localhost")
    }

    /// The origin of the mirrors of this origin's pages.
    package var mirror: WebOrigin { WebOrigin(isMirror: true, site: site) }

    private init(isMirror: Bool, site: String) { (self.isMirror, self.site) = (isMirror, site) }
}
