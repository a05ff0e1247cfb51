import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The servers from which resources may be loaded, on any port.
struct HostSelection {
    /// The patterns: `host`, or `*.host` for a host and all its subdomains.
    private let patterns: [String]

    /// Returns an option that names hosts.
    static func option(_ name: String) -> Option<HostSelection> {
        Option(repeated: name, value: "host", HostSelection.init)
    }

    init(_ texts: [String]) throws { patterns = try texts.map(HostPattern.read) }

    var isEmpty: Bool { patterns.isEmpty }

    /// True if the server of a URL is selected.
    func contains(_ key: URLPattern) -> Bool {
        let host = HostPattern.host(of: key.address.authority)
        return patterns.contains {
            $0.hasPrefix("*.") ? host.hasSuffix($0.dropFirst()) || host == $0.dropFirst(2) : host == $0
        }
    }
}

extension URLPattern {
    /// True for https; false for http.
    var isSecure: Bool { targetURL.lowercased().hasPrefix("https:") }
}
