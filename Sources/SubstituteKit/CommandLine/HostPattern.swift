import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Hosts as the patterns of extensions know them: one that they do not know makes a browser refuse the whole
/// extension.
enum HostPattern {
    /// `host:port` without its port, which patterns of Firefox do not know.
    static func host(of authority: String) -> String {
        let port = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        return String(authority[..<(port ?? authority.endIndex)])
    }

    /// Reads a host, with `*.` before it for all of its hosts.
    static func read(_ text: String) throws(UsageError) -> String {
        let text = text.lowercased()
        let isWide = text.hasPrefix("*.")
        let name = isWide ? String(text.dropFirst(2)) : text
        // An address has no hosts below it.
        guard isHost(name), !isWide || name.last?.isLetter == true else {
            throw UsageError("\(quoted(text)) is not a host; write it as example.com or *.example.com")
        }
        return text
    }

    /// Whether a text in small letters is a name (RFC 1123 §2.1, with the underscore that browsers take, too) or an
    /// address.
    static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") { return text.hasSuffix("]") && isAddress(text.dropFirst().dropLast(), AF_INET6) }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy(isLabel), let last = labels.last else { return false }
        // What ends in a number is read as an address (URL Standard §3.5).
        let isNumber = last.allSatisfy(\.isNumber) || last.hasPrefix("0x")
        return !isNumber || isAddress(text[...], AF_INET)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    /// Whether an address is written as browsers write it.
    private static func isAddress(_ text: Substring, _ family: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_pton(family, String(text), &bytes) == 1,
            inet_ntop(family, bytes, &written, socklen_t(written.count)) != nil
        else { return false }
        return written.prefix { $0 != 0 }.elementsEqual(text.utf8.map { CChar(bitPattern: $0) })
    }
}
