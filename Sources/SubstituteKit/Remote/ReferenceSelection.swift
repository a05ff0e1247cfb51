import Foundation
import LocalSubstitutionCache

/// The rules that decide which references of pages and stylesheets are loaded.
///
/// A selection also records the servers of skipped references.
struct ReferenceSelection {
    /// The servers that the user named; the server of the page or stylesheet is always allowed.
    let hosts: HostSelection
    private var skipped: Set<String> = []

    init(_ hosts: HostSelection) { self.hosts = hosts }

    /// Returns the key of a reference to load; nil if the reference is not loaded.
    ///
    /// A reference is loaded if `hosts` contains its server. It is also loaded if its host and port are those of the
    /// resource's URL, before or after redirects. If an http resource refers to an https URL, the two default ports
    /// count as equal. If an https resource refers to an http URL, the reference is never loaded.
    mutating func key(for address: String, in resource: Resource) -> URLPattern? {
        let key: URLPattern
        do {
            key = try URLPattern(requested: address)
        } catch .userInfo {
            skip(URL(string: address)?.host ?? "", " with a user name or password")
            return nil
        } catch {
            return nil
        }
        let own = [resource.key, try? URLPattern(requested: resource.source.absoluteString)].compactMap(\.self)
        if !key.isSecure, own.contains(where: \.isSecure) {
            skipped.insert(
                "skipped  references from https: to http://\(visible(key.address.authority)); browsers do not load them"
            )
            return nil
        }
        if own.contains(where: { Self.isSameServer($0, key) }) || hosts.contains(key) { return key }
        let host = HostPattern.host(of: key.address.authority)
        skip(key.address.authority, "; --also-host \(visible(host)) loads them")
        return nil
    }

    private mutating func skip(_ host: String, _ reason: String) {
        skipped.insert("skipped  references to \(visible(host))\(reason)")
    }

    private static func isSameServer(_ own: URLPattern, _ other: URLPattern) -> Bool {
        let (first, second) = (own.address.authority, other.address.authority)
        // An authority omits its default port, so an http URL and an https URL can have the same authority.
        return first == second
            && (own.isSecure == other.isSecure || other.isSecure && HostPattern.host(of: first) == first)
    }

    /// One line of output for each server and reason.
    var lines: [String] { skipped.sorted() }
}
