package import Foundation
import LocalSubstitutionCache

/// Scheme, host and port of a page (RFC 6454 §4), or of the mirror of one.
package struct WebOrigin: Hashable, Sendable {
    /// Whether it is that of a mirror.
    package let isMirror: Bool
    /// `https://host:port` in normal form, without the scheme's own port.
    package let site: String

    /// Reads the origin of a URL, or an origin itself; nil for `null` and for every scheme that is not of the web.
    package init?(_ text: String) {
        let prefix = text.prefix(MirrorURL.prefix.count)
        isMirror = prefix.lowercased() == MirrorURL.prefix
        // Paths of the web need not be well formed.
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

    /// As the header field `Origin` has it (RFC 6454 §7).
    package var text: String { (isMirror ? MirrorURL.prefix : "") + site }

    package var isSecure: Bool { site.hasPrefix("https:") }

    /// `host:port`, without the scheme's own port.
    package var authority: String { String(site.drop { $0 != "/" }.dropFirst(2)) }

    /// True where the host is a name of the web: no IP address, and not this machine.
    package var hasName: Bool {
        let host = authority.hasPrefix("[") ? "" : authority.prefix { $0 != ":" }
        let isAddress = host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        return !isAddress && host != "localhost" && !host.hasSuffix(".localhost")
    }

    /// The origin of the mirror of this one.
    package var mirror: WebOrigin { WebOrigin(isMirror: true, site: site) }

    private init(isMirror: Bool, site: String) { (self.isMirror, self.site) = (isMirror, site) }
}
