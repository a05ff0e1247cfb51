import Foundation
import SubstituteCheckKit

/// The servers that only this machine, or a machine in its own network, can reach.
///
/// A name that a public name server resolves to a private address is not recognised, because Foundation resolves names
/// itself, and again for each connection.
enum PrivateNetwork {
    /// Returns true if a URL's host is a private address, or a name that is reserved for private networks.
    static func contains(_ url: URL) -> Bool {
        let host = (url.host ?? "").lowercased().prefix { $0 != "%" }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : String(host)
        var address = in_addr()
        // Like a browser, the system's resolver accepts `0x7f.1` and `2130706433` for 127.0.0.1.
        if inet_aton(name, &address) != 0 { return isPrivate(withUnsafeBytes(of: address, Array.init)) }
        var long = in6_addr()
        if inet_pton(AF_INET6, name.trimmingCharacters(in: ["[", "]"]), &long) == 1 {
            return isPrivate(withUnsafeBytes(of: long, Array.init))
        }
        // RFC 6761 §6.3, RFC 6762 §3, RFC 8375 §3; ICANN has reserved "internal". A name without a dot is looked up in
        // the machine's own domain.
        let names = ["localhost", "local", "home.arpa", "internal"]
        return !name.contains(".") || names.contains { name.hasSuffix(".\($0)") }
    }

    /// Returns true for the bytes of an address that is not reachable from everywhere (RFC 6890 §2.2).
    private static func isPrivate(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 {
            return switch (bytes[0], bytes[1]) {
            case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19):
                true
            case (192, 0): bytes[2] == 0
            default: bytes[0] >= 224
            }
        }
        // RFC 4291 §2.5.5 and RFC 6052 §2.1: an IPv4 address in the last four bytes. RFC 3056 §2: after the first two.
        let prefixes: [[UInt8]] = [
            Array(repeating: 0, count: 12), Array(repeating: 0, count: 10) + [0xFF, 0xFF],
            [0, 0x64, 0xFF, 0x9B] + Array(repeating: 0, count: 8),
        ]
        if prefixes.contains(where: bytes.starts) { return isPrivate(Array(bytes[12...])) }
        if bytes.starts(with: [0x20, 0x02]) { return isPrivate(Array(bytes[2..<6])) }
        // Unique local (RFC 4193 §3.1), link-local and site-local (RFC 4291 §2.4), and multicast addresses.
        return bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFE && bytes[1] >= 0x80 || bytes[0] == 0xFF
    }
}
