import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The servers from which resources may be loaded.
struct HostSelection {
    /// The patterns: `host`, or `*.host` for a host and all its subdomains; and the port, or nil for every port.
    private let patterns: [(host: String, port: Int?)]

    /// Returns an option that names hosts.
    static func option(_ name: String) -> Option<HostSelection> {
        Option(repeated: name, value: "host", HostSelection.init)
    }

    /// Reads hosts, with or without a port.
    init(_ texts: [String]) throws(UsageError) {
        patterns = try texts.map { text throws(UsageError) in
            if let url = URLComponents(string: text), url.scheme != nil, let host = url.host, !host.isEmpty {
                let port = url.port.map { ":\($0)" } ?? ""
                throw UsageError("\(quoted(text)) is a URL; write only its host, \(quoted(host + port))")
            }
            let host = HostPattern.host(of: text)
            guard host.utf8.count < text.utf8.count else { return (try HostPattern.read(text), nil) }
            guard let port = UInt16(text.dropFirst(host.count + 1)), port > 0 else {
                throw UsageError("\(quoted(text)) is not a host and its port; write it as example.com:8080")
            }
            return (try HostPattern.read(host), Int(port))
        }
    }

    var isEmpty: Bool { patterns.isEmpty }

    /// True if the server of a URL is selected.
    func contains(_ key: URLPattern) -> Bool {
        let authority = key.address.authority
        let host = HostPattern.host(of: authority)
        return patterns.contains { pattern in
            let isHost =
                pattern.host.hasPrefix("*.")
                ? host.hasSuffix(pattern.host.dropFirst()) || host == pattern.host.dropFirst(2) : host == pattern.host
            return isHost && (pattern.port == nil || pattern.port == key.port)
        }
    }
}

extension URLPattern {
    /// The port in the URL; if the URL contains no port, the default port of its scheme.
    var port: Int {
        let authority = address.authority
        let host = HostPattern.host(of: authority)
        return Int(authority.dropFirst(host.count + 1)) ?? (isSecure ? 443 : 80)
    }

    /// True for https; false for http.
    var isSecure: Bool { targetURL.lowercased().hasPrefix("https:") }
}
