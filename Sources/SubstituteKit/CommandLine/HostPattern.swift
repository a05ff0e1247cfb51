import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Hosts in the form that the match patterns of browser extensions allow.
///
/// If a single pattern has an invalid host, the browser refuses the whole extension.
enum HostPattern {
    /// Returns the host of `host:port`.
    ///
    /// In Firefox, a match pattern cannot contain a port.
    static func host(of authority: String) -> String {
        let port = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        return String(authority[..<(port ?? authority.endIndex)])
    }

    /// Parses `host` or `*.host`; the second form also covers all subdomains of the host.
    static func read(_ text: String) throws(UsageError) -> String {
        let text = text.lowercased()
        let isWide = text.hasPrefix("*.")
        let name = isWide ? String(text.dropFirst(2)) : text
        // An IP address has no subdomains.
        guard isHost(name), !isWide || name.last?.isLetter == true else {
            throw UsageError("\(quoted(text)) is not a host; write it as example.com or *.example.com")
        }
        return text
    }

    /// True for an IP address or a lowercase host name.
    ///
    /// A host name follows RFC 1123 §2.1. It may also contain underscores, because browsers accept them.
    static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") { return text.hasSuffix("]") && isAddress(text.dropFirst().dropLast(), AF_INET6) }
        guard text.utf8.count <= 253, text.wholeMatch(of: name) != nil,
            let last = text.split(separator: ".").last
        else { return false }
        // A host whose last label is a number is parsed as an IPv4 address (URL Standard §3.5).
        let isNumber = last.allSatisfy(\.isNumber) || last.hasPrefix("0x")
        return !isNumber || isAddress(text[...], AF_INET)
    }

    nonisolated(unsafe) private static let name = /(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.(?!$)|$))+/

    /// True for an IP address in the form in which browsers write it.
    private static func isAddress(_ text: Substring, _ family: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_pton(family, String(text), &bytes) == 1,
            inet_ntop(family, bytes, &written, socklen_t(written.count)) != nil
        else { return false }
        return written.prefix { $0 != 0 }.elementsEqual(text.utf8.map { CChar(bitPattern: $0) })
    }
}
