public import Foundation

/// A URL from a request, as an app's messages show it.
///
/// Only the author of a server knows which part of a URL is a secret. So a message shows the scheme, the host, the
/// path, and the names of the query's parameters.
public struct RequestedURL: Sendable, Hashable, CustomStringConvertible {
    /// The whole URL.
    public let url: URL

    /// Creates a value for a message about a URL.
    public init(_ url: URL) { self.url = url }

    /// The URL without user information, values of parameters and fragment, such as `https://example.com/a?v&token`.
    public var description: String {
        let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
        let address = text.prefix { $0 != UInt8(ascii: "?") }
        let query = text.dropFirst(address.count).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let names = query.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) }
        return visible(String(decoding: address, as: UTF8.self) + names.joined(separator: "&"))
    }
}
